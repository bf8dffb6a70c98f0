import { type Case, flops } from "./cases.ts";
import type { Contender, Prepared } from "./contender.ts";
import { errorOf, expect } from "./expected.ts";
import type { Machine } from "./machine.ts";
import { memoryWork } from "./memory.ts";
import { makeProblem, type ProjectPast } from "./problem.ts";
import { median, quantile, rotated } from "./statistics.ts";

/** One contender in one case. */
export interface Row {
  readonly who: string;
  /** Median time of a call, and the middle half of the rounds. */
  readonly ms: number;
  readonly low: number;
  readonly high: number;
  readonly best: number;
  readonly calls: number;
  /** Whether the machine had other work in most rounds, so that those had to count too. */
  readonly disturbed: boolean;
  /** Against float64: of the output relative to its largest number, of the weights as they are. */
  readonly error: { readonly output: number; readonly weights: number };
}

/** One case in one engine: everything in it was measured in turns in one process, so it may be compared. */
export interface Result {
  readonly engine: string;
  readonly case: string;
  readonly flops: number;
  readonly rounds: number;
  /** GFLOP/s of multiply-adds in registers, medians of the same rounds. */
  readonly limit: { readonly relaxed?: number; readonly simd?: number };
  /** Median time of what memory alone asks for (memory.ts), where that is worth a look. */
  readonly memoryMs?: number;
  readonly rows: readonly Row[];
  /** Who could not do it, or not right, and why. */
  readonly failures: readonly { readonly who: string; readonly why: string }[];
}

export interface Effort {
  readonly rounds: number;
  /** Least milliseconds of a turn and of a contender's warm-up. */
  readonly turn: number;
  readonly warmUp: number;
  /** Milliseconds that a case may wait for a machine without other work. */
  readonly patience: number;
}

export const EFFORT = {
  quick: { rounds: 5, turn: 15, warmUp: 150, patience: 3000 },
  normal: { rounds: 11, turn: 30, warmUp: 400, patience: 10_000 },
} as const satisfies Record<string, Effort>;

/** Longer calls than this need no untimed call in front: weights that fell out of the caches are 1 % of them. */
const LONG_MS = 40;
/** What takes a second is measured in fewer rounds. */
const SLOW_MS = 600;

interface Entry {
  readonly contender: Contender;
  readonly prepared: Prepared;
  readonly error: Row["error"];
  group: number;
  callMs: number;
  readonly samples: { readonly ms: number; readonly quiet: boolean }[];
}

async function time(run: () => unknown, calls: number): Promise<number> {
  const begin = performance.now();
  for (let i = 0; i < calls; ++i) {
    const answer = run();
    if (answer instanceof Promise) await answer;
  }
  return (performance.now() - begin) / calls;
}

/** Checks, warms up and then times contenders in turns. A turn is as many calls as fill it, after one that is not timed. */
export async function measureCase(
  engine: string,
  c: Case,
  contenders: readonly Contender[],
  machine: Machine,
  projectPast: ProjectPast,
  effort: Effort,
): Promise<Result> {
  const problem = makeProblem(c, projectPast);
  const expected = expect(problem);
  const failures: { who: string; why: string }[] = [];
  const entries: Entry[] = [];
  for (const contender of contenders) {
    if (!contender.takes(c)) continue;
    try {
      const prepared = await contender.prepare(problem);
      const error = errorOf(problem, expected, await prepared.run());
      if (!(error.output <= contender.tolerance && error.weights <= contender.tolerance)) {
        failures.push({ who: contender.name, why: `wrong by ${error.output} (weights ${error.weights})` });
        await prepared.dispose();
        continue;
      }
      entries.push({ contender, prepared, error, group: 1, callMs: 0, samples: [] });
    } catch (error) {
      failures.push({ who: contender.name, why: String(error instanceof Error ? error.message : error).slice(0, 200) });
    }
  }
  for (const entry of entries) {
    entry.callMs = await time(entry.prepared.run, 1);
    const end = performance.now() + effort.warmUp;
    do {
      const calls = Math.max(1, Math.min(1000, Math.round(5 / entry.callMs)));
      entry.callMs = await time(entry.prepared.run, calls);
    } while (performance.now() < end);
    entry.group = Math.max(1, Math.ceil(effort.turn / entry.callMs));
  }
  const memory = await memoryWork(c);
  const memorySamples: number[] = [];
  // Until the engine has done its best for it.
  for (const end = performance.now() + effort.warmUp; memory && performance.now() < end; ) memory();
  machine.startCase(effort.patience);
  const rounds = (entry: Entry) => (entry.callMs > SLOW_MS ? Math.min(3, effort.rounds) : effort.rounds);
  const lacking = (entry: Entry) => entry.samples.filter((one) => one.quiet).length < rounds(entry);
  for (let round = 0; round < 3 * effort.rounds && entries.some(lacking); ++round) {
    for (const entry of rotated(entries, round)) {
      if (!lacking(entry) || entry.samples.length >= 3 * rounds(entry)) continue;
      const before = await machine.quiet();
      if (entry.callMs < LONG_MS) await time(entry.prepared.run, 1);
      const ms = await time(entry.prepared.run, entry.group);
      entry.samples.push({ ms, quiet: before && machine.isQuiet() });
    }
    if (memory) memorySamples.push(await timeMemory(memory, effort));
  }
  for (const entry of entries) await entry.prepared.dispose();
  return {
    engine,
    case: c.id,
    flops: flops(c),
    rounds: effort.rounds,
    limit: machine.limits(),
    ...(memorySamples.length > 0 && { memoryMs: median(memorySamples) }),
    rows: entries.map((entry) => rowOf(entry, rounds(entry))),
    failures,
  };
}

/** As a turn of a contender: after one call that is not timed. */
async function timeMemory(work: () => unknown, effort: Effort): Promise<number> {
  const once = await time(work, 1);
  return time(work, Math.max(1, Math.ceil(effort.turn / 3 / Math.max(once, 0.01))));
}

function rowOf({ contender, error, samples, group }: Entry, rounds: number): Row {
  const quiet = samples.filter((one) => one.quiet);
  const disturbed = quiet.length < rounds / 2;
  const counted = (disturbed ? samples : quiet).map((one) => one.ms);
  return {
    ...{ who: contender.name, ms: median(counted), low: quantile(counted, 0.25), high: quantile(counted, 0.75) },
    ...{ best: Math.min(...counted), calls: counted.length * group, disturbed, error },
  };
}
