// npm run bench (tools/bench.js builds and installs first): measures, adds the results to build/bench and prints them.
import os from "node:os";
import { chooseCases } from "./cases.ts";
import { type Engine, startEngine } from "./engines.ts";
import { entryBytes } from "./entry-size.ts";
import type { Result } from "./measure.ts";
import { type EngineName, HELP, type Options, parseOptions } from "./options.ts";
import { writeReport } from "./report.ts";
import { judge, judged, passes, tally, verdictTable } from "./requirements.ts";
import { merge, type Results, readResults, writeResults } from "./results.ts";
import type { Job, Report } from "./run.ts";
import type { First, Lengths } from "./special.ts";
import { gflops, resultTable, shareOfLimit, short } from "./table.ts";

const machine = os.cpus()[0]?.model ?? "unknown";
const say = (text: string) => process.stderr.write(`${text}\n`);

function progress(result: Result): void {
  say(result.case);
  for (const row of result.rows) {
    const share = (100 * shareOfLimit(result, row)).toFixed(0).padStart(3);
    const times = `${short(row.ms).padStart(8)} ms (best ${short(row.best)})`.padEnd(28);
    say(`  ${row.who.padEnd(30)} ${times} ${short(gflops(result, row)).padStart(6)} GFLOP/s ${share} %`);
  }
  for (const { who, why } of result.failures) say(`  ${who.padEnd(30)} left out: ${why}`);
}

/** Results of "node" are kept under the name that this version has. */
const idOf = (name: EngineName): string => (name === "node" ? `node${process.versions.node.split(".")[0]}` : name);

/** Kept as it comes: a run that is stopped has not been for nothing. */
function keep(fresh: Partial<Results>): void {
  const empty: Results = { machine, engines: {}, results: [] };
  writeResults(merge(readResults(), { ...empty, ...fresh, entryBytes: entryBytes() }));
}

async function runCases(engine: Engine, id: string, options: Options): Promise<void> {
  const named = options.cases.filter((each) => each !== "first" && each !== "lengths");
  if (named.length === 0 && options.cases.length > 0) return;
  const cases = chooseCases(named.length > 0 ? named : ["tiny", "short", "middle", "long", "decode", "core"]);
  if (cases.length === 0) throw new Error(`no case is named ${named.join(", ")}`);
  const fresh: Result[] = [];
  await engine.run({ engine: id, cases, quick: options.quick, who: options.who }, (report) => {
    if (!("result" in report)) return;
    progress(report.result);
    fresh.push(report.result);
    keep({ engines: { [id]: engine.description }, results: [report.result] });
  });
  process.stdout.write(`\n${engine.description}, ${machine}, one thread. Medians; FLOPs of what the mask shows.\n\n`);
  process.stdout.write(resultTable(fresh));
}

async function runSpecial(engine: Engine, id: string, options: Options): Promise<void> {
  const job: Job = { engine: id, cases: [], quick: options.quick, who: [] };
  const sample = async (kind: "first" | "lengths", variant: "simd" | "relaxed"): Promise<Report> => {
    let got: Report | undefined;
    await engine.run({ ...job, special: { kind, variant } }, (report) => {
      got = report;
    });
    if (!got) throw new Error(`${kind}: nothing came back`);
    return got;
  };
  if (options.cases.includes("first")) {
    const first: First[] = [];
    // The best of some: a fresh process meets a cold disk and a busy machine, neither of which is measured here.
    for (const variant of ["relaxed", "simd"] as const) {
      const samples: First[] = [];
      for (let i = 0; i < (options.quick ? 2 : 4); ++i)
        samples.push(((await sample("first", variant)) as { first: First }).first);
      const least = (key: "loadMs" | "layerMs" | "firstMs" | "steadyMs") =>
        Math.min(...samples.map((each) => each[key]));
      first.push({
        variant,
        ...{
          loadMs: least("loadMs"),
          layerMs: least("layerMs"),
          firstMs: least("firstMs"),
          steadyMs: least("steadyMs"),
        },
      });
      say(JSON.stringify(first.at(-1)));
    }
    keep({ engines: { [id]: engine.description }, first: { [id]: first } });
  }
  if (options.cases.includes("lengths")) {
    const { lengths } = (await sample("lengths", "relaxed")) as { lengths: Lengths };
    for (const row of lengths.rows) {
      say(
        `T ${row.T}: ${short(row.ms)} ms, ${short(row.flops / row.ms / 1e6)} GFLOP/s, heap +${row.growth}, error ${row.error}`,
      );
    }
    keep({ engines: { [id]: engine.description }, lengths: { [id]: [lengths] } });
  }
}

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2));
  if (!options.recorded) {
    for (const name of options.engines) {
      const engine = await startEngine(name);
      say(`\n${engine.description}`);
      await runCases(engine, idOf(name), options);
      await runSpecial(engine, idOf(name), options);
    }
  }
  if (options.report) writeReport(readResults());
  if (!options.check) return 0;
  const results = readResults();
  const engines = options.engines[0] === "node" ? Object.keys(results.engines) : options.engines;
  const verdicts = judged(judge(results, engines));
  const short = verdicts.filter((verdict) => !passes(verdict));
  process.stdout.write(`\n${verdictTable(short)}`);
  process.stdout.write(`\n${tally(verdicts)}\n`);
  return short.length === 0 ? 0 : 1;
}

try {
  if (process.argv.includes("--help")) process.stdout.write(HELP);
  else process.exitCode = await main();
} catch (error) {
  say(`bench: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
