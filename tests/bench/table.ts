import { CASES } from "./cases.ts";
import type { Result, Row } from "./measure.ts";
import { leastMs } from "./memory.ts";

const OURS = ["relaxed", "simd"];

/** Three digits that mean something; times below a millisecond as such. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return "—";
  if (Math.abs(value) >= 100) return value.toFixed(0);
  return value.toPrecision(3);
}

export const gflops = (result: Result, row: Row): number => result.flops / row.ms / 1e6;

/** Of the relaxed limit where the engine has one: that is what wasm can do. */
export function shareOfLimit(result: Result, row: Row): number {
  return gflops(result, row) / (result.limit.relaxed ?? result.limit.simd ?? Number.NaN);
}

/** What the build `who` of a program at the limit would take: registers, and the memory that the case asks for. */
export function limitMs(result: Result, who: string): number | undefined {
  const c = CASES.find(({ id }) => id === result.case);
  const limit = who === "simd" ? result.limit.simd : (result.limit.relaxed ?? result.limit.simd);
  if (!c || limit === undefined) return undefined;
  return leastMs(c, result.flops / limit / 1e6, result.memoryMs);
}

export function findRow(result: Result | undefined, who: string): Row | undefined {
  return result?.rows.find((row) => row.who === who);
}

/** The best of those whose name begins so: ORT is given the layer in more than one way, and the best way counts. */
export function bestRow(
  result: Result | undefined,
  prefix: string,
  keep = (_: string): boolean => true,
): Row | undefined {
  const rows = result?.rows.filter((row) => row.who.startsWith(prefix) && keep(row.who)) ?? [];
  return rows.reduce<Row | undefined>((best, row) => (best && best.ms <= row.ms ? best : row), undefined);
}

/** One line for each case: time, GFLOP/s, share of the limit, and how many times as long every peer takes. */
export function resultTable(results: readonly Result[]): string {
  const order = new Map(CASES.map((each, i) => [each.id, i]));
  const sorted = [...results].sort((a, b) => (order.get(a.case) ?? 0) - (order.get(b.case) ?? 0));
  const names = [...new Set(sorted.flatMap((result) => result.rows.map((row) => row.who)))];
  const ours = names.filter((who) => OURS.includes(who));
  const peers = names.filter((who) => !OURS.includes(who));
  const own = (result: Result, who: string) => {
    const row = findRow(result, who);
    if (!row) return "—";
    const share = (100 * shareOfLimit(result, row)).toFixed(0);
    return `${short(row.ms)} ms, ${short(gflops(result, row))} GFLOP/s, ${share} %${row.disturbed ? " ⚠" : ""}`;
  };
  const peer = (result: Result, who: string) => {
    const row = findRow(result, who);
    if (!row) return "—";
    const ratios = ours.map((each) => {
      const mine = findRow(result, each);
      return mine ? `${short(row.ms / mine.ms)}×` : "—";
    });
    return `${short(row.ms)} ms (${ratios.join(", ")})`;
  };
  const limit = (result: Result) =>
    `${short(result.limit.relaxed ?? Number.NaN)} / ${short(result.limit.simd ?? Number.NaN)}`;
  return [
    `| case | limit relaxed / simd | ${[...ours, ...peers].join(" | ")} |`,
    `|---|---:|${names.map(() => "---:|").join("")}`,
    ...sorted.map((result) => {
      const cells = [...ours.map((who) => own(result, who)), ...peers.map((who) => peer(result, who))];
      return `| ${result.case} | ${limit(result)} | ${cells.join(" | ")} |`;
    }),
    "",
  ].join("\n");
}
