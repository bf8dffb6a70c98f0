import { displayWidth, padEnd, padStart } from "./width.js";

export interface Column {
  readonly title: string;
  /** Numbers stand under each other by their last digit. */
  readonly right?: boolean;
}

/** Lines of a table whose columns stand under each other, wide characters included. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const widths = columns.map(({ title }, i) =>
    rows.reduce((width, row) => Math.max(width, displayWidth(row[i] ?? "")), displayWidth(title)),
  );
  const line = (cells: readonly string[]): string =>
    columns
      .map(({ right }, i) => (right ? padStart : padEnd)(cells[i] ?? "", widths[i] as number))
      .join("  ")
      .trimEnd();
  return [line(columns.map(({ title }) => title)), ...rows.map(line)];
}
