/** How the table of numbers is sorted. The codes are those of links (table-code.ts). */

export interface TableSort {
  readonly column: string;
  readonly down: boolean;
}

export function parseSort(code: string): TableSort {
  const down = code.endsWith("-");
  return { column: down ? code.slice(0, -1) : code, down };
}

/** Numbers start with the largest, texts with the first letter; a second click turns round. */
export function nextSort(code: string, column: string): string {
  const { column: now, down } = parseSort(code);
  if (now === column) return down ? column : `${column}-`;
  return column === "q" || column === "t" ? column : `${column}-`;
}

/** Rows in their new order. What has no value (NaN: hidden) comes last either way; ties keep the order of the text. */
export function sortRows(count: number, { down }: TableSort, value: (row: number) => number | string): number[] {
  const values = Array.from({ length: count }, (_, row) => value(row));
  const compare = (a: number, b: number): number => {
    const [one, other] = [values[a] as number | string, values[b] as number | string];
    if (typeof one === "string" || typeof other === "string") return String(one).localeCompare(String(other));
    if (Number.isNaN(one) || Number.isNaN(other)) return 0;
    return one - other;
  };
  const missing = (row: number) => (Number.isNaN(values[row]) ? 1 : 0);
  return Array.from({ length: count }, (_, row) => row).sort(
    (a, b) => missing(a) - missing(b) || (down ? compare(b, a) : compare(a, b)) || a - b,
  );
}
