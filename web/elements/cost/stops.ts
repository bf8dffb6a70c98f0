/** Sliders over sizes: a slider's places are the sizes that models have, so that it reaches 12,288 and 12 alike. */

/** 1, 2, 3, 4, 6, 8, 12, 16, 24 …: powers of two and the halves between. */
export function stops(smallest: number, largest: number): number[] {
  const found = new Set<number>();
  for (let n = 1; n <= largest; n *= 2) {
    for (const size of [n, n * 1.5]) {
      if (Number.isInteger(size) && size >= smallest && size <= largest) found.add(size);
    }
  }
  found.add(smallest);
  found.add(largest);
  return [...found].sort((a, b) => a - b);
}

/** Place of the stop that is nearest to a size by ratio. */
export function nearestStop(all: readonly number[], size: number): number {
  let best = 0;
  for (const [i, stop] of all.entries()) {
    if (Math.abs(Math.log(stop / size)) < Math.abs(Math.log((all[best] as number) / size))) best = i;
  }
  return best;
}

/** Where a number of bytes stands on a logarithmic bar from 1 KiB to 1 TiB, 0 to 1. */
export function logPlace(bytes: bigint): number {
  const place = Math.log2(Math.max(1, Number(bytes)));
  return Math.min(1, Math.max(0, (place - 10) / 30));
}
