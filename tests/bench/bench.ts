// npm run bench (tools/bench.js builds and installs first): measures, adds the results to build/bench and prints them.
import { writeFileSync } from "node:fs";
import os from "node:os";
import { chooseCases } from "./cases.ts";
import { startEngine } from "./engines.ts";
import type { Result } from "./measure.ts";
import { HELP, parseOptions } from "./options.ts";
import { FOLDER, merge, readResults, writeResults } from "./results.ts";
import { gflops, resultTable, shareOfLimit, short } from "./table.ts";

function progress(result: Result): void {
  process.stderr.write(`${result.case}\n`);
  for (const row of result.rows) {
    const share = (100 * shareOfLimit(result, row)).toFixed(0);
    const times = `${short(row.ms).padStart(8)} ms (best ${short(row.best)})`.padEnd(28);
    process.stderr.write(
      `  ${row.who.padEnd(30)} ${times} ${short(gflops(result, row)).padStart(6)} GFLOP/s ${share.padStart(3)} %\n`,
    );
  }
  for (const { who, why } of result.failures) process.stderr.write(`  ${who.padEnd(30)} left out: ${why}\n`);
}

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  const cases = chooseCases(options.cases.length > 0 ? options.cases : ["tiny", "short", "middle", "long", "decode"]);
  if (cases.length === 0) throw new Error(`no case is named ${options.cases.join(", ")}`);
  const machine = os.cpus()[0]?.model ?? "unknown";
  const measured: Result[] = [];
  for (const name of options.engines) {
    const engine = await startEngine(name);
    // Results of "node" are kept under the name that this version has.
    const id = name === "node" ? `node${process.versions.node.split(".")[0]}` : name;
    process.stderr.write(`\n${engine.description}\n`);
    const fresh: Result[] = [];
    await engine.run({ engine: id, cases, quick: options.quick, who: options.who }, (result) => {
      progress(result);
      fresh.push(result);
      // Kept as it comes: a run that is stopped has not been for nothing.
      writeResults(merge(readResults(), { machine, engines: { [id]: engine.description }, results: [result] }));
    });
    measured.push(...fresh);
    process.stdout.write(`\n${engine.description}, ${machine}, one thread. Medians; FLOPs of what the mask shows.\n\n`);
    process.stdout.write(resultTable(fresh));
  }
  writeFileSync(`${FOLDER}last.md`, resultTable(measured));
}

try {
  if (process.argv.includes("--help")) process.stdout.write(HELP);
  else await main();
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
