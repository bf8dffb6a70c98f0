/** Amounts as they are read at a glance: two digits and a unit. The exact number stands in the details. */

const PREFIXES = ["", "k", "M", "G", "T", "P"] as const;

/** `formatAmount(41472, "FLOP")` → "41 kFLOP", `formatAmount(9216, "B")` → "9.2 KB"; powers of 1000. */
export function formatAmount(value: number, unit: string): string {
  let scaled = value;
  let step = 0;
  // 999.5 would be written "1000".
  while (scaled >= 999.5 && step < PREFIXES.length - 1) {
    scaled /= 1000;
    step++;
  }
  const digits = step > 0 && scaled < 9.95 ? 1 : 0;
  const prefix = step === 1 && unit === "B" ? "K" : PREFIXES[step];
  return `${scaled.toFixed(digits)} ${prefix}${unit}`;
}
