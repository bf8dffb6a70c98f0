import type { ByteSource, ReadOptions } from "./byte-source.js";

/** Bytes from `begin` to `end`. */
export interface Range {
  readonly begin: number;
  readonly end: number;
}

/** Ranges that are no farther apart are read in one go: the padding between tensors, and less than a request costs. */
const LARGEST_GAP = 4096;
/** Requests that are under way at once. */
const PARALLEL = 4;

/** Reads several ranges, neighbours together, and answers in their order. */
export async function readRanges(
  source: ByteSource,
  ranges: readonly Range[],
  options: ReadOptions,
): Promise<Uint8Array[]> {
  const groups = coalesce(ranges);
  const results: Uint8Array[] = ranges.map(() => new Uint8Array(0));
  let next = 0;
  async function work(): Promise<void> {
    for (let group = groups[next++]; group !== undefined; group = groups[next++]) {
      const bytes = await source.read(group.begin, group.end, options);
      for (const index of group.members) {
        const { begin, end } = ranges[index] as Range;
        results[index] = bytes.subarray(begin - group.begin, end - group.begin);
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(PARALLEL, groups.length) }, work));
  return results;
}

interface Group {
  readonly begin: number;
  end: number;
  readonly members: number[];
}

function coalesce(ranges: readonly Range[]): Group[] {
  const order = ranges.map((_, index) => index).filter((index) => rangeAt(index).end > rangeAt(index).begin);
  order.sort((a, b) => rangeAt(a).begin - rangeAt(b).begin);
  function rangeAt(index: number): Range {
    return ranges[index] as Range;
  }
  const groups: Group[] = [];
  for (const index of order) {
    const { begin, end } = rangeAt(index);
    const last = groups.at(-1);
    if (last !== undefined && begin - last.end <= LARGEST_GAP) {
      last.end = Math.max(last.end, end);
      last.members.push(index);
    } else {
      groups.push({ begin, end, members: [index] });
    }
  }
  return groups;
}
