/** How numbers are written. A weight is never shown as 0.0000: too small to print is "<0.0001", hidden is "—". */

export const HIDDEN = "—";

export function formatWeight(weight: number, hidden = false): string {
  if (hidden) return HIDDEN;
  if (Number.isNaN(weight)) return "NaN";
  // No weight of a softmax, but what a file may hold: shown as it is.
  if (!Number.isFinite(weight)) return weight < 0 ? "−∞" : "∞";
  if (Math.abs(weight) < 0.00005) return "<0.0001";
  return weight.toFixed(4).replace("-", "−");
}

/** Inside a cell of the matrix, where three digits (or two) must do; "·" stands for less than they can show. */
export function formatCell(weight: number, digits: 2 | 3 | 4): string {
  if (digits === 4 || !Number.isFinite(weight)) return formatWeight(weight);
  if (Math.abs(weight) < 0.5 * 10 ** -digits) return "·";
  if (weight < 0 || weight >= 9.995) return shortNumber(weight);
  if (digits === 3) return weight.toFixed(3);
  // In a narrow cell the leading zero goes: ".43", and "1" for what rounds to it.
  return weight >= 0.995 ? weight.toFixed(1).replace(".0", "") : weight.toFixed(2).slice(1);
}

/** What is no weight, in the room of one. */
function shortNumber(value: number): string {
  const text =
    Math.abs(value) < 9.95 ? value.toFixed(1) : Math.abs(value) < 999.5 ? value.toFixed(0) : value.toExponential(0);
  return text.replace("e+", "e").replace(/-/g, "−");
}

export function formatShare(share: number): string {
  return share.toFixed(2);
}

export function formatSigned(value: number): string {
  return value.toFixed(6).replace("-", "−");
}

/** 1048576 → "1,048,576". Works on bigint, so that four bills of a large model stay exact. */
export function formatInteger(value: number | bigint): string {
  return value.toString().replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

export function formatBytes(value: number | bigint): string {
  const bytes = Number(value);
  if (bytes < 10_000) return `${formatInteger(value)} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KiB`;
  if (bytes < 1024 ** 3) return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
  return `${(bytes / 1024 ** 3).toFixed(2)} GiB`;
}

export function formatCount(value: number | bigint): string {
  const n = Number(value);
  if (n < 10_000) return formatInteger(value);
  if (n < 1e6) return `${(n / 1e3).toFixed(1)} k`;
  if (n < 1e9) return `${(n / 1e6).toFixed(1)} M`;
  return `${(n / 1e9).toFixed(2)} G`;
}

export function formatMilliseconds(ms: number): string {
  if (ms < 0.1) return "<0.1 ms";
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`;
}

export function formatShape(shape: readonly number[]): string {
  return `[${shape.join(", ")}]`;
}
