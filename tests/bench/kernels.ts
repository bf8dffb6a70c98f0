// npm run bench -- --kernels: the loops of src/ one by one, each beside what the machine can do. Both builds run in one
// process and every row of a round is timed before the next round begins, so that a slow moment hits all of them alike.
//   --rounds 9     samples of each row, of which the median counts
//   --only stored  the rows whose name matches
//   --no-build     what build/ holds already
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import os from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { cmakeBuild } from "../../tools/lib/cmake.js";
import { withLock } from "../../tools/lib/lock.js";
import { toolchain } from "../../tools/lib/setup.js";
import { FLOPS_PER_TURN, limitModule } from "./limit.ts";

type Variant = "relaxed" | "simd";
type Kernels = Record<string, (...args: number[]) => number> & { memory: WebAssembly.Memory };

/** What a row is measured against: multiply-adds in registers, reading memory, or only the clock. */
type Limit = "multiply-add" | "bandwidth" | "clock";

interface Row {
  readonly group: string;
  readonly name: string;
  readonly variant: Variant;
  readonly limit: Limit;
  /** FLOPs, bytes or elements of one call. */
  readonly work: number;
  readonly run: () => unknown;
  /** The row that this one is compared with. */
  readonly beside: string | undefined;
  /** Once a round, so that what the other rows read has pushed its memory out of the caches. */
  readonly cold: boolean;
  calls: number;
  readonly samples: number[];
}

interface Result {
  readonly group: string;
  readonly name: string;
  readonly variant: Variant;
  readonly microseconds: number;
  readonly gflops?: number;
  readonly gigabytes?: number;
  readonly cycles?: number;
  /** Of the limit, 0 … 1. */
  readonly share?: number;
  /** The time of the row beside it, divided by this one's. */
  readonly ratio?: number;
}

const { values: options } = parseArgs({
  options: {
    kernels: { type: "boolean" }, // how npm run bench comes here
    rounds: { type: "string", default: "9" },
    only: { type: "string", default: "" },
    "no-build": { type: "boolean", default: false },
  },
});
const ROUNDS = Number(options.rounds);
const ONLY = new RegExp(options.only);
const LEAST_MS = 3;
const WARM_MS = 20;

/** Numbers as in a GGUF file; where each block's halves lie, and its bytes. */
const TYPES = {
  f32: { type: 0, bytes: 4, halves: [] },
  f16: { type: 1, bytes: 2, halves: [0] },
  bf16: { type: 30, bytes: 2, halves: [] },
  q4_0: { type: 2, bytes: 18, halves: [0] },
  q4_1: { type: 3, bytes: 20, halves: [0, 2] },
  q5_0: { type: 6, bytes: 22, halves: [0] },
  q5_1: { type: 7, bytes: 24, halves: [0, 2] },
  q8_0: { type: 8, bytes: 34, halves: [0] },
  q2_k: { type: 10, bytes: 84, halves: [80, 82] },
  q3_k: { type: 11, bytes: 110, halves: [108] },
  q4_k: { type: 12, bytes: 144, halves: [0, 2] },
  q5_k: { type: 13, bytes: 176, halves: [0, 2] },
  q6_k: { type: 14, bytes: 210, halves: [208] },
} as const;
type TypeName = keyof typeof TYPES;

let state = 12345;
const nextRandom = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 31 - 1;
};

class Bench {
  readonly rows: Row[] = [];
  readonly #k: Kernels;
  readonly #variant: Variant;
  /** The limit of a build, by the chains that whole layers are measured against. */
  readonly chain: (turns: number) => number;

  constructor(kernels: Kernels, variant: Variant) {
    this.#k = kernels;
    this.#variant = variant;
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(limitModule(variant)));
    this.chain = exports.run as (turns: number) => number;
  }

  bytes(length: number): number {
    const at = this.#k["allocate"]?.(length) ?? 0;
    if (at === 0) throw new Error(`${length} bytes were refused.`);
    return at >>> 0;
  }

  filled(length: number, value: (i: number) => number): number {
    const at = this.bytes(length * 4);
    const to = new Float32Array(this.#k.memory.buffer, at, length);
    for (let i = 0; i < length; ++i) to[i] = value(i);
    return at;
  }

  floats(length: number, scale = 1): number {
    return this.filled(length, () => nextRandom() * scale);
  }

  pointers(list: readonly number[]): number {
    const at = this.bytes(list.length * 4);
    new Uint32Array(this.#k.memory.buffer, at, list.length).set(list);
    return at;
  }

  /** The largest error of exp over [−87.3, 0], in units in the last place: every 61st float. */
  exponentialError(): number {
    const chunk = 2 ** 18;
    const [from, to] = [this.bytes(4 * chunk), this.bytes(4 * chunk)];
    const bits = new Uint32Array(1);
    const rounded = new Float32Array(bits.buffer);
    let worst = 0;
    rounded[0] = -87.3;
    const last = bits[0] as number;
    for (let next = 0x80000000; next <= last; next += 61 * chunk) {
      new Uint32Array(this.#k.memory.buffer, from, chunk).forEach((_, i, all) => {
        all[i] = Math.min(next + 61 * i, last);
      });
      this.call("exponential", from, chunk, to);
      const inputs = new Float32Array(this.#k.memory.buffer, from, chunk);
      const outputs = new Float32Array(this.#k.memory.buffer, to, chunk);
      for (let i = 0; i < chunk; ++i) {
        const exact = Math.exp(inputs[i] as number);
        rounded[0] = exact;
        // The spacing of floats below 2^e is 2^(e − 24); the exponent's bits say e.
        const ulp = 2 ** (((bits[0] as number) >>> 23) - 150);
        worst = Math.max(worst, Math.abs((outputs[i] as number) - exact) / ulp);
      }
    }
    this.call("release", from);
    this.call("release", to);
    return worst;
  }

  /** `values` stored weights of a type, with scales of about 0.01. */
  stored(name: TypeName, values: number): number {
    const { type, bytes, halves } = TYPES[name];
    const length = this.call("row_bytes", type, values);
    if (name === "f32") return this.floats(values, 0.03);
    const at = this.bytes(length);
    const to = new Uint8Array(this.#k.memory.buffer, at, length);
    for (let i = 0; i < length; ++i) to[i] = (nextRandom() + 1) * 127.99;
    for (let block = 0; block < length; block += bytes) {
      for (const half of halves) to[block + half + 1] = 0x20 | ((to[block + half + 1] ?? 0) & 3);
      if (name === "bf16") to[block + 1] = 0x3c;
    }
    return at;
  }

  call(kernel: string, ...args: number[]): number {
    const run = this.#k[kernel];
    if (!run) throw new Error(`There is no kernel ${kernel}.`);
    return run(...args);
  }

  add(group: string, name: string, limit: Limit, work: number, run: () => unknown, more: Partial<Row> = {}): void {
    const { beside, cold = false } = more;
    if (group !== "limit" && !ONLY.test(`${group}: ${name}`)) return;
    this.rows.push({ group, name, variant: this.#variant, limit, work, run, beside, cold, calls: 1, samples: [] });
  }
}

const limits = { chains: "multiply-add chains", clock: "clock", cache: "read, 16 KB", memory: "read, 64 MB" };

function addLimits(bench: Bench): void {
  const small = bench.floats(4096);
  const large = bench.floats(2 ** 24);
  const steps = 20000;
  const turns = 500;
  bench.add("limit", limits.chains, "multiply-add", turns * FLOPS_PER_TURN, () => bench.chain(turns));
  bench.add("limit", limits.clock, "clock", 2 * steps, () => bench.call("cycle_chain", steps, 1, 0x9e3779b9));
  bench.add("limit", limits.cache, "bandwidth", 16384, () => bench.call("read_floats", small, 4096));
  bench.add("limit", limits.memory, "bandwidth", 2 ** 26, () => bench.call("read_floats", large, 2 ** 24));
}

function addProducts(bench: Bench): void {
  const a = bench.floats(512 * 3072);
  const b = bench.floats(3072 * 3072, 0.02);
  const c = bench.floats(512 * 3072);
  const product = (group: string, rows: number, depth: number, columns: number) =>
    bench.add(group, `${rows} × ${depth} × ${columns}`, "multiply-add", 2 * rows * depth * columns, () =>
      bench.call("product", rows, depth, columns, a, b, 0, c),
    );
  for (const rows of [1, 2, 3, 4, 5, 6, 8, 16, 64, 128, 512]) product("product, by rows", rows, 768, 768);
  for (const columns of [4, 8, 64, 65, 3072]) product("product, by width", 128, 768, columns);
  for (const depth of [16, 64, 256, 3072]) product("product, by depth", 128, depth, 768);
  for (const [depth, columns] of [
    [64, 128],
    [768, 768],
    [768, 3072],
    [3072, 768],
  ] as const) {
    const bytes = 4 * depth * columns;
    bench.add("one row", `${depth} × ${columns}`, "bandwidth", bytes, () =>
      bench.call("product", 1, depth, columns, a, b, 0, c),
    );
  }
}

function addRows(bench: Bench): void {
  const n = 1024 * 768;
  const x = bench.floats(n, 3);
  const y = bench.floats(n);
  const negative = bench.filled(1024, (i) => -i / 12);
  const weight = bench.floats(3072);
  const clock = (group: string, name: string, elements: number, run: () => unknown) =>
    bench.add(group, name, "clock", elements, run);
  clock("exp", "1,024 elements", 1024, () => bench.call("exponential", negative, 1024, y));
  for (const width of [16, 128, 1024]) {
    const rows = 16384 / width;
    clock("softmax", `rows of ${width}`, 16384, () => bench.call("softmax", rows, width, x, y));
  }
  clock("norm", "layer norm, 16 × 768", 16 * 768, () => bench.call("norm", 0, 16, 768, x, weight, weight, y));
  clock("norm", "RMS norm, 16 × 768", 16 * 768, () => bench.call("norm", 1, 16, 768, x, weight, weight, y));
  ["gelu (tanh)", "gelu (erf)", "silu", "relu"].forEach((name, kind) => {
    clock("activation", name, 4096, () => bench.call("activation", kind, 4096, x, y));
  });
  clock("residual", "add, 3,072", 3072, () => bench.call("add", y, weight, 3072));
}

function addStored(bench: Bench): void {
  const [depth, columns, copies] = [768, 3072, 8];
  const x = bench.floats(128 * depth);
  const y = bench.floats(128 * columns);
  const scratch = bench.bytes(4 * 2 ** 21);
  const linears = (name: TypeName | "packed") => {
    const at = bench.stored(name === "packed" ? "f32" : name, depth * columns);
    const made = Array.from({ length: copies }, () =>
      name === "packed"
        ? bench.call("linear_packed", depth, columns, at)
        : bench.call("linear_stored", 1, TYPES[name].type, depth, columns, at),
    );
    bench.call("release", at);
    return made;
  };
  for (const name of ["packed", ...Object.keys(TYPES)] as (TypeName | "packed")[]) {
    const weights = linears(name);
    const apply = (linear: number, rows: number, numerics = 0) =>
      bench.call("linear_apply", linear, rows, x, y, numerics, scratch);
    const [first = 0] = weights;
    const bytes =
      copies * (name === "packed" ? 4 * depth * columns : bench.call("row_bytes", TYPES[name].type, depth * columns));
    bench.add(
      "stored, one row, from memory",
      name,
      "bandwidth",
      bytes,
      () => {
        for (const each of weights) apply(each, 1);
      },
      {
        beside: "packed",
        cold: true,
      },
    );
    for (const rows of [1, 2, 4, 16, 64]) {
      bench.add(`stored, ${rows} rows`, name, "multiply-add", 2 * rows * depth * columns, () => apply(first, rows), {
        beside: "packed",
      });
    }
    if (name === "packed" || name === "f32") continue;
    const one = bench.stored(name, 3072);
    bench.add("decode", name, "clock", 3072, () => bench.call("decode", TYPES[name].type, one, 3072, y));
  }
}

function addBlocks(bench: Bench): void {
  const [width, inner, heads, rows] = [768, 3072, 12, 128];
  const x = bench.floats(rows * width);
  const output = bench.floats(rows * width);
  const hidden = bench.floats(rows * width);
  const norm = bench.floats(width);
  const shapes: [number, number][] = [...Array(4).fill([width, width]), [width, inner], [inner, width]];
  for (const name of ["packed", ...Object.keys(TYPES)] as (TypeName | "packed")[]) {
    const parts = shapes.map(([depth, columns]) => {
      const at = bench.stored(name === "packed" ? "f32" : name, depth * columns);
      return name === "packed"
        ? bench.call("linear_packed", depth, columns, at)
        : bench.call("linear_stored", 1, TYPES[name].type, depth, columns, at);
    });
    const list = bench.pointers(parts);
    const block = bench.call("block_create", width, heads, list, norm, norm);
    for (const t of [1, rows]) {
      const flops = 2 * t * shapes.reduce((sum, [depth, columns]) => sum + depth * columns, 0) + 4 * t * t * width;
      bench.add(
        `GPT-2 block, ${t} rows`,
        name,
        "multiply-add",
        flops,
        () => {
          if (bench.call("block_forward", block, t, x, output, hidden) !== 0) throw new Error("A block failed.");
        },
        { beside: "packed" },
      );
    }
  }
}

async function measure(rows: readonly Row[]): Promise<void> {
  const time = (row: Row) => {
    const begin = performance.now();
    for (let i = 0; i < row.calls; ++i) row.run();
    return (performance.now() - begin) / row.calls;
  };
  // The engine's best compiler works beside this thread, and later than one would think: every kernel is asked for often,
  // then the compiler gets its time.
  for (const row of rows) {
    const end = performance.now() + WARM_MS;
    for (let i = 0; i < 20 || performance.now() < end; ++i) row.run();
  }
  await new Promise((resolve) => setTimeout(resolve, 1000));
  for (const row of rows) {
    time(row);
    // As many calls as a sample needs: clocks have steps.
    if (!row.cold) row.calls = Math.max(1, Math.ceil(LEAST_MS / Math.max(time(row), 1e-4)));
  }
  for (let round = 0; round < ROUNDS; ++round) {
    for (const row of rows) row.samples.push(time(row));
  }
}

const median = (samples: readonly number[]) => [...samples].sort((a, b) => a - b)[samples.length >> 1] as number;

function results(rows: readonly Row[]): Result[] {
  const found = (variant: Variant, group: string, name: string) =>
    rows.find((row) => row.variant === variant && row.group === group && row.name === name);
  return rows.map((row): Result => {
    const ms = median(row.samples);
    const limit = (name: string) => {
      const other = found(row.variant, "limit", name);
      return other ? other.work / median(other.samples) : Number.NaN;
    };
    const rate = row.work / ms;
    const other = row.beside === undefined ? undefined : found(row.variant, row.group, row.beside);
    return {
      ...{ group: row.group, name: row.name, variant: row.variant, microseconds: ms * 1000 },
      ...(row.limit === "multiply-add" && { gflops: rate / 1e6, share: rate / limit(limits.chains) }),
      ...(row.limit === "bandwidth" && {
        gigabytes: rate / 1e6,
        share: rate / limit(row.cold || row.name === limits.memory ? limits.memory : limits.cache),
      }),
      ...(row.limit === "clock" && { cycles: limit(limits.clock) / rate }),
      ...(other && { ratio: median(other.samples) / ms }),
    };
  });
}

function table(list: readonly Result[], notes: readonly string[]): string {
  const variants = [...new Set(list.map(({ variant }) => variant))];
  const short = (x: number) => (x >= 100 ? x.toFixed(0) : x.toPrecision(3));
  const cell = (result: Result | undefined) => {
    if (!result) return "—";
    const { gflops, gigabytes, cycles, share, ratio, microseconds } = result;
    const parts = [`${short(microseconds)} µs`];
    if (gflops !== undefined) parts.push(`${short(gflops)} GFLOP/s`);
    if (gigabytes !== undefined) parts.push(`${short(gigabytes)} GB/s`);
    if (cycles !== undefined) parts.push(`${short(cycles)} cycles`);
    if (share !== undefined) parts.push(`${(share * 100).toFixed(0)} %`);
    if (ratio !== undefined) parts.push(`${ratio.toFixed(2)}× packed`);
    return parts.join(", ");
  };
  const lines = [...new Set(list.map(({ group, name }) => `${group}: ${name}`))].map((line) => {
    const cells = variants.map((variant) =>
      cell(list.find((each) => each.variant === variant && `${each.group}: ${each.name}` === line)),
    );
    return `| ${line} | ${cells.join(" | ")} |`;
  });
  return [
    ...notes,
    "",
    `| | ${variants.join(" | ")} |`,
    `|---|${variants.map(() => "---|").join("")}`,
    ...lines,
    "",
  ].join("\n");
}

async function build(): Promise<void> {
  await withLock(async () => {
    const env = await toolchain(["wasm"]);
    for (const variant of ["relaxed", "simd"]) await cmakeBuild(`wasm-${variant as Variant}`, env, ["kernels"]);
  });
}

const root = fileURLToPath(new URL("../../", import.meta.url));
if (!options["no-build"]) await build();
const rows: Row[] = [];
const notes: string[] = [];
for (const variant of ["relaxed", "simd"] as const) {
  const bytes = readFileSync(`${root}build/wasm-${variant}/kernels.wasm`);
  if (!WebAssembly.validate(bytes)) {
    process.stderr.write(`${variant} is left out: this engine does not know its instructions.\n`);
    continue;
  }
  const { instance } = await WebAssembly.instantiate(bytes, {
    env: { emscripten_notify_memory_growth: () => {} },
    wasi_snapshot_preview1: { proc_exit: () => {}, fd_close: () => 0, fd_write: () => 0, fd_seek: () => 0 },
  });
  const kernels = instance.exports as Kernels;
  kernels["_initialize"]?.();
  const bench = new Bench(kernels, variant);
  addLimits(bench);
  addProducts(bench);
  addRows(bench);
  addStored(bench);
  addBlocks(bench);
  rows.push(...bench.rows);
  notes.push(`- ${variant}: exp is within ${bench.exponentialError().toFixed(3)} ULP on [−87.3, 0].`);
}
await measure(rows);

const machine = { cpu: os.cpus()[0]?.model ?? "unknown", node: process.versions.node, v8: process.versions.v8 };
const all = results(rows);
const text = table(all, [
  `Medians of ${ROUNDS} interleaved rounds, one thread, Node.js ${machine.node}, ${machine.cpu}. Percentages are of`,
  "multiply-adds in registers, or of reading; cycles are for one element.",
  "",
  ...notes,
]);
const folder = `${root}build/bench/`;
mkdirSync(folder, { recursive: true });
writeFileSync(`${folder}kernels.json`, `${JSON.stringify({ machine, results: all }, null, 2)}\n`);
writeFileSync(`${folder}kernels.md`, text);
process.stdout.write(text);
