import type { Result } from "./measure.ts";
import type { Results } from "./results.ts";
import { bestRow, findRow, limitMs, shareOfLimit, short } from "./table.ts";

/** One line of the table of what has to be reached: a number that has to be at least (or at most) so much. */
export interface Verdict {
  readonly what: string;
  readonly engine: string;
  /** undefined: not measured. */
  readonly value: number | undefined;
  /** undefined: nothing was asked for, and the number is there beside others. */
  readonly bound: number | undefined;
  readonly atMost: boolean;
  readonly unit: string;
  /** What a program at the limit of the build would reach: a peer near the limit cannot be beaten by more. */
  readonly ceiling?: number | undefined;
}

export const passes = ({ value, bound, atMost }: Verdict): boolean =>
  bound === undefined || (value !== undefined && (atMost ? value <= bound : value >= bound));

/** What has a bound. */
export const judged = (verdicts: readonly Verdict[]): Verdict[] => verdicts.filter(({ bound }) => bound !== undefined);

/** Missed, and asked for more than a program at the limit would reach on this machine. */
export const outOfReach = (verdict: Verdict): boolean =>
  !passes(verdict) &&
  !verdict.atMost &&
  verdict.bound !== undefined &&
  verdict.ceiling !== undefined &&
  verdict.ceiling < verdict.bound;

/** How many bounds are kept, in words. */
export function tally(verdicts: readonly Verdict[]): string {
  const all = judged(verdicts);
  const kept = all.filter(passes).length;
  const beyond = all.filter(outOfReach).length;
  const others = beyond === 0 ? "" : `; ${beyond} ask for more than a program at the limit would reach on this machine`;
  return `${kept} of ${all.length} bounds are kept${others}`;
}

const NEW = ["node24", "node26", "chromium"];

/** Every row of the table, for every engine it speaks of. */
export function judge(results: Results, engines: readonly string[]): Verdict[] {
  const verdicts: Verdict[] = [];
  const find = (engine: string, id: string): Result | undefined =>
    results.results.find((result) => result.engine === engine && result.case === id);
  const chosen = (names: readonly string[]) => names.filter((engine) => engines.includes(engine));
  const put = (
    what: string,
    engine: string,
    value: number | undefined,
    bound: number | undefined,
    unit = "×",
    atMost = false,
    ceiling?: number,
  ) => verdicts.push({ what, engine, value, bound, atMost, unit, ceiling });
  /** How many times as long the best row of that name takes. */
  const ratio = (result: Result | undefined, who: string, peer: string, keep?: (name: string) => boolean) => {
    const mine = findRow(result, who);
    const other = bestRow(result, peer, keep);
    return mine && other ? other.ms / mine.ms : undefined;
  };
  /** A ratio beside what it would be at the limit. */
  const putRatio = (
    what: string,
    engine: string,
    result: Result | undefined,
    who: string,
    peer: string,
    bound: number | undefined,
    keep?: (name: string) => boolean,
  ) => {
    const other = bestRow(result, peer, keep);
    const least = result && limitMs(result, who);
    const ceiling = other && least ? other.ms / least : undefined;
    put(what, engine, ratio(result, who, peer, keep), bound, "×", false, ceiling);
  };
  const share = (result: Result | undefined, who: string) => {
    const row = findRow(result, who);
    return result && row ? 100 * shareOfLimit(result, row) : undefined;
  };
  const withoutConstants = (name: string) => !name.includes("constant");

  for (const engine of chosen(NEW)) {
    for (const T of [64, 128, 256, 512]) {
      const result = find(engine, `D768 T${T}`);
      put(`relaxed, T ${T}`, engine, share(result, "relaxed"), 86, "% of the limit");
      putRatio(`relaxed, T ${T}, ORT`, engine, result, "relaxed", "ORT", 1.75);
      const { relaxed, simd } = result?.limit ?? {};
      const ceiling = relaxed && simd ? (100 * simd) / relaxed : undefined;
      put(`simd, T ${T}`, engine, share(result, "simd"), 77, "% of the limit", false, ceiling);
      putRatio(`simd, T ${T}, ORT`, engine, result, "simd", "ORT", 1.5);
    }
  }
  for (const T of [64, 128, 256, 512]) {
    for (const engine of chosen(["node20", "firefox"])) {
      putRatio(`simd, T ${T}, ORT`, engine, find(engine, `D768 T${T}`), "simd", "ORT", 1.4);
    }
    for (const engine of chosen(["firefox"])) {
      putRatio(`relaxed, T ${T}, ORT`, engine, find(engine, `D768 T${T}`), "relaxed", "ORT", 1.4);
    }
  }
  for (const engine of chosen(NEW)) {
    const long = find(engine, "D768 T1024 weights");
    putRatio("relaxed, T 1024 with weights, ORT", engine, long, "relaxed", "ORT", 2.0);
    const again = (id: string) => find(engine, `D768 T1024 ${id} reused`);
    putRatio(
      "relaxed, T 1024 with weights into used arrays, ORT",
      engine,
      again("weights"),
      "relaxed",
      "ORT",
      undefined,
    );
    for (const [T, bound] of [
      [512, 2.0],
      [1024, 2.4],
    ] as const) {
      const causal = find(engine, `D768 T${T} causal weights`);
      putRatio(`relaxed, T ${T} causal with weights, ORT`, engine, causal, "relaxed", "ORT", bound);
    }
    putRatio(
      "relaxed, T 1024 causal with weights into used arrays, ORT",
      engine,
      again("causal weights"),
      "relaxed",
      "ORT",
      undefined,
    );
    putRatio("relaxed, T 16, ORT", engine, find(engine, "D768 T16"), "relaxed", "ORT", 1.55);
    const tiny = find(engine, "D8 T4 weights");
    const tinyMs = findRow(tiny, "relaxed")?.ms;
    put("relaxed, D 8 T 4 with weights", engine, tinyMs === undefined ? undefined : 1000 * tinyMs, 2, "µs", true);
    put("relaxed, D 8 T 4 with weights, ORT", engine, ratio(tiny, "relaxed", "ORT"), 10);
    put("relaxed, D 8 T 4 with weights, plain JS", engine, ratio(tiny, "relaxed", "plain JS"), 1);
    for (const [cached, io, constants] of [
      [128, 3.5, 1.6],
      [1024, 6, 1.7],
    ] as const) {
      const decode = find(engine, `D768 decode${cached}`);
      const best = bestOfOurs(decode) ?? "none of ours";
      putRatio(`decode, ${cached} cached, ORT`, engine, decode, best, "ORT", io, withoutConstants);
      const constant = (name: string) => name.includes("constant");
      putRatio(`decode, ${cached} cached, ORT constants`, engine, decode, best, "ORT", constants, constant);
    }
    const grouped = (G: number) => {
      const result = find(engine, `D128 H32:${G} decode4096`);
      return findRow(result, bestOfOurs(result) ?? "")?.ms;
    };
    const [full, four, one] = [grouped(32), grouped(8), grouped(1)];
    put("GQA 32:8 decode, MHA", engine, full && four ? full / four : undefined, 3);
    put("MQA decode, MHA", engine, full && one ? full / one : undefined, 3);
    const middle = find(engine, "D768 T128");
    putRatio("T 128, tfjs-wasm", engine, middle, "relaxed", "tfjs-wasm", 3.2);
    putRatio("T 128, tfjs-wasm, heads as one batch", engine, middle, "relaxed", "tfjs-wasm, one batch", 3.2);
    putRatio("T 128, plain JS", engine, middle, "relaxed", "plain JS", 30);
    if (engine === "chromium") putRatio("T 128, jax-js", engine, middle, "relaxed", "jax-js", 3);
  }
  for (const engine of chosen(NEW)) {
    const lengths = results.lengths?.[engine]?.find((each) => each.variant === "relaxed");
    const [short512, , , longest] = lengths?.rows ?? [];
    put(
      "T 16384 output only: heap growth",
      engine,
      longest && longest.growth / longest.tensors,
      4,
      "× of q, k, v, output",
      true,
    );
    const speed = (row: typeof longest) => row && row.flops / row.ms;
    const [fast, slow] = [speed(short512), speed(longest)];
    put("T 16384 output only: speed of T 512", engine, fast && slow ? (100 * slow) / fast : undefined, 90, "%");
    const firsts = results.first?.[engine] ?? [];
    const ofFirst = firsts.map((each) => each.firstMs / each.steadyMs);
    put("first call", engine, ofFirst.length > 0 ? Math.max(...ofFirst) : undefined, 3, "× steady", true);
    if (engine === "chromium") {
      const loads = firsts.map((each) => each.loadMs);
      put("load", engine, loads.length > 0 ? Math.max(...loads) : undefined, 15, "ms", true);
    }
  }
  for (const engine of engines) {
    const ours = results.results
      .filter((result) => result.engine === engine)
      .flatMap((result) => result.rows.filter((row) => row.who === "relaxed" || row.who === "simd"));
    const worst = ours.length > 0 ? Math.max(...ours.map((row) => row.error.output)) : undefined;
    put("largest error of an output", engine, worst && worst * 1e6, 4, "· 10⁻⁶ of its largest number", true);
  }
  put("default entry, gzip", "any", results.entryBytes && results.entryBytes / 1000, 60, "KB", true);
  return verdicts;
}

function bestOfOurs(result: Result | undefined): string | undefined {
  return result?.rows
    .filter((row) => row.who === "relaxed" || row.who === "simd")
    .sort((a, b) => a.ms - b.ms)
    .at(0)?.who;
}

/** Markdown: what was asked for, what came, per engine. */
export function verdictTable(verdicts: readonly Verdict[]): string {
  const engines = [...new Set(verdicts.map((each) => each.engine))];
  const whats = [...new Set(verdicts.map((each) => `${each.what}|${each.bound}|${each.unit}`))];
  const cell = (key: string, engine: string) => {
    const one = verdicts.find((each) => `${each.what}|${each.bound}|${each.unit}` === key && each.engine === engine);
    if (!one) return "";
    if (one.value === undefined) return "not measured";
    if (passes(one)) return short(one.value);
    const possible = one.ceiling === undefined ? "" : ` of ${short(one.ceiling)}`;
    return `**${short(one.value)}**${possible}`;
  };
  return [
    `| | asked for | ${engines.join(" | ")} |`,
    `|---|---:|${engines.map(() => "---:|").join("")}`,
    ...whats.map((key) => {
      const one = verdicts.find((each) => `${each.what}|${each.bound}|${each.unit}` === key) as Verdict;
      const bound = one.bound === undefined ? "—" : `${one.atMost ? "≤" : "≥"} ${one.bound} ${one.unit}`;
      return `| ${one.what} | ${bound} | ${engines.map((engine) => cell(key, engine)).join(" | ")} |`;
    }),
    "",
  ].join("\n");
}
