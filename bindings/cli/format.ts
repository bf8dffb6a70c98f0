/** How numbers are written on the terminal. */

export const NONE = "—";

/** A weight is never shown as 0.0000: too small to print is "<0.0001", hidden is "—". */
export function formatWeight(weight: number, visible: boolean): string {
  if (!visible) return NONE;
  if (Number.isNaN(weight)) return "NaN";
  return weight < 0.00005 ? "<0.0001" : weight.toFixed(4);
}

/** As llama-eval-callback prints numbers. */
export function formatValue(value: number): string {
  return Number.isFinite(value) ? value.toFixed(4) : String(value);
}

export function formatSum(value: number): string {
  return Number.isFinite(value) ? value.toFixed(6) : String(value);
}

export function formatDifference(value: number): string {
  return `${value < 0 ? "-" : "+"}${Math.abs(value).toFixed(6)}`;
}

export function formatInteger(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

export function formatBytes(bytes: number): string {
  if (bytes < 10_000) return `${formatInteger(bytes)} B`;
  if (bytes < 2 ** 20) return `${(bytes / 2 ** 10).toFixed(1)} KiB`;
  if (bytes < 2 ** 30) return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
  return `${(bytes / 2 ** 30).toFixed(2)} GiB`;
}

export function formatShape(shape: readonly number[]): string {
  return `[${shape.join(", ")}]`;
}

/** {64, 12, 2, 1} as ggml prints it. */
export function formatNe(ne: readonly number[]): string {
  return `{${ne.join(", ")}}`;
}
