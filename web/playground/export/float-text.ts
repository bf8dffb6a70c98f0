/** The shortest decimal that gives the same float32 again: 0.43, where the double behind it reads 0.43000000715255737. */
export function floatText(value: number): string {
  // 9 digits tell any two float32 apart.
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return String(short);
  }
  return String(Number(value.toPrecision(9)));
}

/** For JSON, which has no word for what is not a number. */
export function floatJson(value: number): string {
  return Number.isFinite(value) ? floatText(value) : "null";
}
