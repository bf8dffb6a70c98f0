// npm run bench: medians of whole layers on this machine, as a table and as build/bench/results.json. It judges nothing.
import { mkdirSync, writeFileSync } from "node:fs";
import os from "node:os";
import { fileURLToPath } from "node:url";
import { cost, HeadscopeError, load, type MultiHeadAttention } from "headscope";
import { plainAttention } from "./plain.ts";

interface Row {
  case: string;
  who: string;
  medianMs: number;
  runs: number;
  gflops: number;
}

const SHAPES = [{ D: 8, H: 2, T: 4 }, ...[16, 64, 128, 256, 512].map((T) => ({ D: 768, H: 12, T }))];

/** Numbers that look like activations; the same in every run. */
function random(length: number, scale: number): Float32Array {
  let state = 12345;
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state / 2 ** 31 - 1) * scale;
  });
}

/**
 * The median time of a call: at least five samples and half a second of them (three for what is slow), after as much
 * again to let the engine optimize. Short calls are timed in groups, since the clock has steps.
 */
function measure(call: () => void): { medianMs: number; runs: number } {
  const time = (group: number) => {
    const begin = performance.now();
    for (let i = 0; i < group; ++i) call();
    return (performance.now() - begin) / group;
  };
  const first = time(1);
  const group = Math.max(1, Math.ceil(1 / Math.max(first, 1e-4)));
  const budget = 500;
  for (const end = performance.now() + Math.min(budget, first * 20); performance.now() < end; ) time(group);
  const samples: number[] = [];
  const least = first > 300 ? 3 : 5;
  for (const end = performance.now() + budget; samples.length < least || performance.now() < end; )
    samples.push(time(group));
  samples.sort((a, b) => a - b);
  return { medianMs: samples[samples.length >> 1] as number, runs: samples.length * group };
}

const rows: Row[] = [];
function record(name: string, who: string, flops: number, call: () => void): void {
  const { medianMs, runs } = measure(call);
  rows.push({ case: name, who, medianMs, runs, gflops: flops / medianMs / 1e6 });
  process.stderr.write(`${name}, ${who}: ${medianMs.toPrecision(3)} ms\n`);
}

for (const variant of ["relaxed", "simd"] as const) {
  let hs: Awaited<ReturnType<typeof load>>;
  try {
    hs = await load({ variant });
  } catch (error) {
    if (!(error instanceof HeadscopeError)) throw error;
    process.stderr.write(`${variant} is left out: ${error.message}\n`);
    continue;
  }
  for (const { D, H, T } of SHAPES) {
    const config = { dModel: D, numHeads: H };
    const square = random(D * D, 1 / Math.sqrt(D));
    using layer: MultiHeadAttention = hs.multiHeadAttention(config, {
      ...{ layout: "in-out", wq: square, wk: square, wv: square, wo: square },
    });
    const x = { data: random(T * D, 1), shape: [1, T, D] };
    const out = new Float32Array(T * D);
    const flops = Number(cost.flops({ ...config, T }).total);
    record(`D=${D} H=${H} T=${T}, output only`, variant, flops, () => layer.forward(x, { want: [], out }));
    record(`D=${D} H=${H} T=${T}, with weights`, variant, flops, () => layer.forward(x, { want: ["weights"], out }));
  }
}
for (const { D, H, T } of SHAPES) {
  const config = { dModel: D, numHeads: H };
  const square = random(D * D, 1 / Math.sqrt(D));
  const weights = { wq: square, wk: square, wv: square, wo: square };
  const x = random(T * D, 1);
  const flops = Number(cost.flops({ ...config, T }).total);
  record(`D=${D} H=${H} T=${T}, output only`, "plain JS", flops, () => plainAttention(x, T, config, weights));
}

const machine = { cpu: os.cpus()[0]?.model ?? "unknown", node: process.versions.node, v8: process.versions.v8 };
const names = [...new Set(rows.map((row) => row.case))];
const who = [...new Set(rows.map((row) => row.who))];
const short = (x: number) => (x >= 100 ? x.toFixed(0) : x.toPrecision(3));
const cell = (name: string, each: string) => {
  const row = rows.find((one) => one.case === name && one.who === each);
  return row ? `${short(row.medianMs)} ms (${short(row.gflops)} GFLOP/s)` : "—";
};
const table = [
  `Median of one call, one thread, Node.js ${machine.node}, ${machine.cpu}. FLOPs counted dense.`,
  "",
  `| | ${who.join(" | ")} |`,
  `|---|${who.map(() => "---:|").join("")}`,
  ...names.map((name) => `| ${name} | ${who.map((each) => cell(name, each)).join(" | ")} |`),
  "",
].join("\n");

const folder = fileURLToPath(new URL("../../build/bench/", import.meta.url));
mkdirSync(folder, { recursive: true });
writeFileSync(`${folder}results.json`, `${JSON.stringify({ machine, rows }, null, 2)}\n`);
writeFileSync(`${folder}results.md`, table);
process.stdout.write(`\n${table}`);
