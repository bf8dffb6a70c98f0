// Mutated good files through the readers. Each round ends in a file whose every word is true, or in a HeadscopeError;
// soon, and with no more memory than the file accounts for.
//
//   npm run fuzz                       100,000 rounds
//   npm run fuzz -- ROUNDS SEED
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { tensorType } from "../../bindings/models/tensor-types.js";
import { BLOCK_FORMATS } from "../support/dequantize-reference.js";
import { product, Random } from "../support/random.js";
import { HeadscopeError, open, type TensorReader } from "./open-source.js";
import { Bytes, f32Bytes, GGUF_VALUE, strings, text, u32, writeGguf, writeSafetensors } from "./write-files.js";

export interface Outcome {
  rounds: number;
  read: number;
  refused: number;
  /** Messages of refusals without their numbers and names: how many different checks were met. */
  messages: number;
  slowest: number;
  memoryKB: number;
}

const q = (name: string, blocks: number): Uint8Array => {
  const random = new Random(blocks);
  return Uint8Array.from({ length: blocks * (BLOCK_FORMATS[name]?.bytes ?? 0) }, () => random.below(256));
};

function goodFiles(): Uint8Array[] {
  const kinds = Object.entries(GGUF_VALUE).filter(([name]) => name !== "string" && name !== "array");
  const widths: Record<string, number> = { u8: 1, i8: 1, bool: 1, u16: 2, i16: 2, u64: 8, i64: 8, f64: 8 };
  const scalars = kinds.map(
    ([name, type]) =>
      [`k.${name}`, (to: Bytes) => to.u32(type).raw(new Uint8Array(widths[name] ?? 4).fill(1))] as const,
  );
  const arrays = kinds.map(
    ([name, type]) =>
      [
        `a.${name}`,
        (to: Bytes) =>
          to
            .u32(GGUF_VALUE.array)
            .u32(type)
            .u64(3)
            .raw(new Uint8Array(3 * (widths[name] ?? 4)).fill(1)),
      ] as const,
  );
  const nested = (to: Bytes) =>
    to.u32(GGUF_VALUE.array).u32(GGUF_VALUE.array).u64(1).u32(GGUF_VALUE.u8).u64(2).u8(1).u8(2);
  const tensors = [
    { name: "token_embd.weight", ne: [32, 4], type: 8, data: q("Q8_0", 4) },
    { name: "blk.0.attn_norm.weight", ne: [3], type: 0, data: f32Bytes([1, 2, 3]) },
    { name: "blk.0.attn_q.weight", ne: [256, 2], type: 14, data: q("Q6_K", 2) },
    { name: "blk.0.ffn_up.weight", ne: [32, 2, 1, 3], type: 2, data: q("Q4_0", 6) },
    { name: "s", ne: [], type: 30, data: q("BF16", 1) },
  ];
  const alignment = ["general.alignment", u32(16)] as const;
  return [
    writeGguf({ keys: [...scalars, ...arrays, ["nested", nested], ["tokens", strings(["a", "Ġb", ""])]], tensors }),
    writeGguf({ version: 2, alignment: 16, keys: [["general.architecture", text("gpt2")], alignment], tensors }),
    writeGguf({ tensors: tensors.slice(0, 1) }),
    writeSafetensors(
      {
        "h.0.attn.c_attn.weight": { dtype: "F32", shape: [2, 3], data: f32Bytes([1, 2, 3, 4, 5, 6]) },
        "h.0.attn.bias": { dtype: "U8", shape: [1, 1, 3], data: new Uint8Array(3) },
        "é\\": { dtype: "F16", shape: [4], data: new Uint8Array(8).fill(60) },
        __proto__2: { dtype: "I64", shape: [], data: new Uint8Array(8) },
      },
      { format: "pt", 'a"b': "c\nd" },
    ),
    writeSafetensors({ w: { dtype: "BF16", shape: [0, 5], data: new Uint8Array(0) } }),
  ];
}

const NUMBERS = [
  0n,
  1n,
  2n,
  255n,
  2n ** 16n,
  2n ** 31n - 1n,
  2n ** 31n,
  2n ** 32n - 1n,
  2n ** 32n,
  2n ** 53n,
  2n ** 63n - 1n,
  2n ** 63n,
  2n ** 64n - 1n,
];
const WORDS = [
  "[",
  "]",
  "{",
  "}",
  ",",
  ":",
  '"',
  "\\",
  "\\u0000",
  "-",
  "1e9",
  "0.5",
  "null",
  "true",
  " ",
  "18446744073709551615",
  "4294967296",
  "__metadata__",
  "dtype",
  "\ud83e",
  "é",
];

type Mutation = (file: Uint8Array, random: Random, files: readonly Uint8Array[]) => Uint8Array;

const concat = (...pieces: Uint8Array[]): Uint8Array => Uint8Array.from(Buffer.concat(pieces));

/** Somewhere in the file, more often in its header than in its data. */
const place = (file: Uint8Array, random: Random): number =>
  random.below(Math.max(1, random.uniform() < 0.7 ? Math.min(file.length, 600) : file.length));

const MUTATIONS: readonly Mutation[] = [
  // a bit
  (file, random) => {
    const at = place(file, random);
    const out = file.slice();
    out[at] = (out[at] ?? 0) ^ (1 << random.below(8));
    return out;
  },
  // a byte
  (file, random) => {
    const out = file.slice();
    out[place(file, random)] = random.below(256);
    return out;
  },
  // a number of four or eight bytes
  (file, random) => {
    const number = NUMBERS[random.below(NUMBERS.length)] ?? 0n;
    const piece = Buffer.alloc(8);
    piece.writeBigUInt64LE(number);
    const at = place(file, random);
    const width = random.below(2) === 0 ? 4 : 8;
    return concat(file.subarray(0, at), piece.subarray(0, width), file.subarray(at + width));
  },
  // an end that is missing, or too much
  (file, random) => file.slice(0, random.below(file.length + 1)),
  (file, random) => concat(file, new Uint8Array(random.below(100))),
  // a piece that is missing, or there twice
  (file, random) => {
    const at = place(file, random);
    return concat(file.subarray(0, at), file.subarray(at + 1 + random.below(40)));
  },
  (file, random) => {
    const at = place(file, random);
    const end = at + 1 + random.below(100);
    return concat(file.subarray(0, end), file.subarray(at));
  },
  // the rest of another file
  (file, random, files) => {
    const other = files[random.below(files.length)] ?? file;
    return concat(file.subarray(0, place(file, random)), other.subarray(place(other, random)));
  },
  // a word inside the JSON, the length corrected, so that the parser gets to see it
  (file, random) => {
    if (file.length < 12) return file;
    const length = Buffer.from(file).readUInt32LE(0);
    if (length > file.length - 8) return file;
    const header = file.subarray(8, 8 + length);
    const at = random.below(length + 1);
    const word = Buffer.from(WORDS[random.below(WORDS.length)] ?? "", "utf8");
    const changed = concat(header.subarray(0, at), word, header.subarray(Math.min(length, at + random.below(3))));
    return concat(new Bytes().u64(changed.length).done(), changed, file.subarray(8 + length));
  },
];

/** Bytes that a value keeps, as V8 stores it. */
function footprint(value: unknown): number {
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (typeof value === "string") return 2 * value.length;
  return Array.isArray(value) ? value.reduce((sum: number, item) => sum + 8 + footprint(item), 0) : 8;
}

/** Everything that an opened file says has to be true of the bytes. */
async function verify(opened: TensorReader, size: number): Promise<void> {
  let memory = 0;
  for (const [key, value] of opened.metadata) memory += 2 * key.length + footprint(value);
  assert.ok(memory <= 8 * size, `metadata of ${memory} bytes from a file of ${size}`);
  let end = 0;
  for (const [name, { shape, ne, dtype, offset, bytes }] of [...opened.tensors].sort(
    ([, a], [, b]) => a.offset - b.offset || a.bytes - b.bytes,
  )) {
    const label = `${name} ${dtype} [${shape}]`;
    assert.ok(Number.isSafeInteger(offset) && offset >= 0 && (bytes === 0 || offset + bytes <= size), label);
    assert.ok(bytes === 0 || offset >= end, `${label} overlaps`);
    if (bytes > 0) end = offset + bytes;
    assert.deepEqual([...shape].reverse(), ne.slice(0, shape.length), label);
    const type = tensorType(dtype);
    if (type !== undefined) assert.equal((product(shape) / type.blockValues) * type.blockBytes, bytes, label);
    try {
      const tensor = await opened.read(name);
      assert.equal(tensor.data.length, product(shape), label);
      assert.deepEqual(tensor.shape, shape, label);
    } catch (error) {
      assert.ok(error instanceof HeadscopeError && error.code === "unsupported", `${label}: ${error}`);
    }
  }
}

/** The same rounds for the same seed. */
export async function fuzz(rounds: number, seed: number, report: (done: Outcome) => void = () => {}): Promise<Outcome> {
  const files = goodFiles();
  for (const file of files) await verify(await open(file), file.length);
  const random = new Random(seed);
  const messages = new Set<string>();
  const base = process.resourceUsage().maxRSS;
  const outcome: Outcome = { rounds: 0, read: 0, refused: 0, messages: 0, slowest: 0, memoryKB: 0 };
  while (outcome.rounds < rounds) {
    let file = files[random.below(files.length)] ?? new Uint8Array(0);
    for (let i = random.below(3); i >= 0; --i) {
      file = (MUTATIONS[random.below(MUTATIONS.length)] as Mutation)(file, random, files);
    }
    const begin = process.cpuUsage(); // not the clock: the machine may be busy with other things
    try {
      const formats = ["auto", "auto", "gguf", "safetensors"] as const;
      const source = random.below(4) === 0 ? new Blob([Uint8Array.from(file)]) : file;
      const opened = await open(source, { format: formats[random.below(formats.length)] });
      await verify(opened, file.length);
      outcome.read += 1;
    } catch (error) {
      if (!(error instanceof HeadscopeError) || !/^(format|unsupported)$/.test(error.code)) {
        const input = Buffer.from(file).toString("base64");
        throw new Error(`round ${outcome.rounds} of seed ${seed}: ${error}\ninput: ${input}`, { cause: error });
      }
      outcome.refused += 1;
      messages.add(error.message.replace(/"(\\.|[^"\\])*"|\d+|\[.*?\]/g, ""));
    }
    const { user, system } = process.cpuUsage(begin);
    const took = (user + system) / 1000;
    outcome.slowest = Math.max(outcome.slowest, took);
    assert.ok(took < 1000, `round ${outcome.rounds} of seed ${seed} took ${took} ms`);
    outcome.rounds += 1;
    if (outcome.rounds % 10_000 === 0) report({ ...outcome, messages: messages.size });
  }
  outcome.messages = messages.size;
  outcome.memoryKB = process.resourceUsage().maxRSS - base;
  return outcome;
}

async function main(): Promise<void> {
  const [rounds = 100_000, seed = 1] = process.argv.slice(2).map(Number);
  const print = (done: Outcome) =>
    console.log(`${done.rounds} rounds: ${done.read} read, ${done.refused} refused in ${done.messages} ways`);
  const outcome = await fuzz(rounds, seed, print);
  console.log(
    `slowest round ${outcome.slowest.toFixed(1)} ms, memory grew by ${(outcome.memoryKB / 1024).toFixed(0)} MB`,
  );
  assert.ok(outcome.memoryKB < 300_000, "the readers take too much memory");
  console.log(`${rounds} passed, 0 failed`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main();
