import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ENGINES } from "./options.ts";
import { plotSvg } from "./plot.ts";
import { judge, passes, verdictTable } from "./requirements.ts";
import type { Results } from "./results.ts";
import { resultTable, short } from "./table.ts";

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

/** Tables and plots of tests/bench/README.md, from what was measured. */
export function writeReport(results: Results): void {
  const engines = ENGINES.filter((engine) => results.engines[engine]);
  const ofEngine = (engine: string) => results.results.filter((result) => result.engine === engine);
  let text = readFileSync(README, "utf8");

  const verdicts = judge(results, engines);
  const kept = `${verdicts.filter(passes).length} of ${verdicts.length} bounds are kept; what is not is bold.`;
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
}
