/** The value at a share of the sorted samples, between neighbours by a straight line. */
export function quantile(samples: readonly number[], share: number): number {
  if (samples.length === 0) return Number.NaN;
  const sorted = [...samples].sort((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const low = Math.floor(at);
  const first = sorted[low] as number;
  const second = sorted[Math.min(low + 1, sorted.length - 1)] as number;
  return first + (second - first) * (at - low);
}

export const median = (samples: readonly number[]): number => quantile(samples, 0.5);

/** The list from its n-th element on, then what comes before it: every contender starts a round as often as the others. */
export function rotated<T>(list: readonly T[], n: number): T[] {
  const first = list.length === 0 ? 0 : n % list.length;
  return [...list.slice(first), ...list.slice(0, first)];
}
