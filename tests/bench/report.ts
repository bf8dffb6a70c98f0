import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ENGINES } from "./options.ts";
import { plotSvg } from "./plot.ts";
import { judge, tally, verdictTable } from "./requirements.ts";
import type { Results } from "./results.ts";
import { bestRow, findRow, resultTable, short } from "./table.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const README = here("README.md");

/** The text between <!-- name --> and <!-- /name -->, replaced. */
export function replaceSection(text: string, name: string, content: string): string {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const from = text.indexOf(open);
  const to = text.indexOf(close);
  if (from < 0 || to < from) throw new Error(`there is no section ${name}`);
  return `${text.slice(0, from + open.length)}\n${content.trim()}\n${text.slice(to)}`;
}

/** The few lines of the project's README: time of the better build here, and how many times as long ORT takes. */
function summary(results: Results): string {
  const columns = [
    ["chromium", "relaxed"],
    ["node24", "relaxed"],
    ["firefox", "relaxed"],
    ["node20", "simd"],
  ] as const;
  const rows = [
    ["64 tokens", "D768 T64"],
    ["128", "D768 T128"],
    ["512", "D768 T512"],
    ["1,024, causal, all weights", "D768 T1024 causal weights"],
    ["one more behind 1,024 cached", "D768 decode1024"],
    ["4 (D = 8, 2 heads), all weights", "D8 T4 weights"],
  ] as const;
  const shown = columns.filter(([engine]) => results.engines[engine]);
  const cell = (id: string, engine: string, variant: string) => {
    const result = results.results.find((each) => each.case === id && each.engine === engine);
    const mine = findRow(result, variant);
    const peer = bestRow(result, "ORT", (name) => !name.includes("constant"));
    return mine ? `${short(mine.ms)} ms${peer ? ` (${short(peer.ms / mine.ms)}×)` : ""}` : "";
  };
  return [
    `| | ${shown.map(([engine, variant]) => `${results.engines[engine]}, ${variant}`).join(" | ")} |`,
    `|---|${shown.map(() => "---:|").join("")}`,
    ...rows.map(
      ([name, id]) => `| ${name} | ${shown.map(([engine, variant]) => cell(id, engine, variant)).join(" | ")} |`,
    ),
  ].join("\n");
}

/** Tables and plots of tests/bench/README.md and the lines of the project's, from what was measured. */
export function writeReport(results: Results): void {
  const engines = ENGINES.filter((engine) => results.engines[engine]);
  const ofEngine = (engine: string) => results.results.filter((result) => result.engine === engine);
  let text = readFileSync(README, "utf8");

  const verdicts = judge(results, engines);
  const kept = `${tally(verdicts)}. What is not kept is bold, followed by what is possible.`;
  text = replaceSection(text, "check", `${kept}\n\n${verdictTable(verdicts)}`);

  const drawn = engines.filter((engine) => ofEngine(engine).some((result) => /^D768 T\d+$/.test(result.case)));
  for (const engine of drawn) {
    const title = `Whole layer, D 768, H 12, output only, GFLOP/s: ${results.engines[engine]}`;
    writeFileSync(
      here(`${engine}.svg`),
      plotSvg(title, ofEngine(engine), ["relaxed", "simd", "ORT", "tfjs-wasm", "jax-js", "plain JS"]),
    );
  }
  const plots = drawn.map((engine) => `![GFLOP/s over tokens in ${results.engines[engine]}](${engine}.svg)`);
  text = replaceSection(text, "plots", plots.join("\n\n"));

  const tables = engines.map((engine) => `### ${results.engines[engine]}\n\n${resultTable(ofEngine(engine))}`);
  text = replaceSection(text, "tables", `${results.machine}, one thread.\n\n${tables.join("\n")}`);

  const first = engines.flatMap((engine) =>
    (results.first?.[engine] ?? []).map(
      (each) =>
        `| ${results.engines[engine]}, ${each.variant} | ${short(each.loadMs)} ms | ${short(each.layerMs)} ms | ${short(each.firstMs)} ms | ${short(each.steadyMs)} ms |`,
    ),
  );
  const firstHead = "| | load | pack weights | first call | steady |\n|---|---:|---:|---:|---:|";
  text = replaceSection(text, "first", `${firstHead}\n${first.join("\n")}`);

  const lengths = engines.flatMap((engine) =>
    (results.lengths?.[engine] ?? []).flatMap(({ rows, limit }) =>
      rows.map(
        (row) =>
          `| ${results.engines[engine]}, T ${row.T} | ${short(row.ms)} ms | ${short(row.flops / row.ms / 1e6)} | ${(row.flops / row.ms / 1e4 / (limit.relaxed ?? 1)).toFixed(0)} % | ${short(row.growth / 2 ** 20)} MiB (${short(row.growth / row.tensors)}×) |`,
      ),
    ),
  );
  const lengthsHead =
    "| | time | GFLOP/s | of the limit | heap growth (× q, k, v, output) |\n|---|---:|---:|---:|---:|";
  text = replaceSection(text, "lengths", `${lengthsHead}\n${lengths.join("\n")}`);
  text = replaceSection(text, "entry", results.entryBytes ? `${short(results.entryBytes / 1000)} KB` : "not measured");
  writeFileSync(README, text);
  const project = here("../../README.md");
  writeFileSync(project, replaceSection(readFileSync(project, "utf8"), "speed", summary(results)));
}
