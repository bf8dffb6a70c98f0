// Fault F10 and the block formats: the module's decoder against the definitions, the definitions against ggml's own words.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { openTensors } from "headscope/models";
import { assertSameBits } from "../support/compare.js";
import { BLOCK_FORMATS, dequantizeReference } from "../support/dequantize-reference.js";
import { fromFloat16 } from "../support/float16.js";
import { Random } from "../support/random.js";
import { eachVariant } from "../variants.js";
import { writeGguf, writeSafetensors } from "./write-files.js";

const TYPE_NUMBERS = {
  F16: 1,
  BF16: 30,
  Q8_0: 8,
  Q4_0: 2,
  Q4_1: 3,
  Q5_0: 6,
  Q5_1: 7,
  Q2_K: 10,
  Q3_K: 11,
  Q4_K: 12,
  Q5_K: 13,
  Q6_K: 14,
};
type TypeName = keyof typeof TYPE_NUMBERS;
const NAMES = Object.keys(TYPE_NUMBERS) as TypeName[];

const stored = JSON.parse(readFileSync(new URL("blocks.json", import.meta.url), "utf8")) as Record<
  TypeName,
  { blocks: string; values: string }
>;
const bytesOf = (base64: string) => Uint8Array.from(Buffer.from(base64, "base64"));

function format(name: string) {
  return BLOCK_FORMATS[name] ?? assert.fail(name);
}

function elementsOf(name: string, bytes: Uint8Array): number {
  return (bytes.length / format(name).bytes) * format(name).values;
}

/** A GGUF with one tensor of rows of one block. */
function fileOf(name: TypeName, data: Uint8Array): Uint8Array<ArrayBuffer> {
  const { values, bytes } = format(name);
  return writeGguf({ tensors: [{ name: "w", ne: [values, data.length / bytes], type: TYPE_NUMBERS[name], data }] });
}

function randomBlocks(name: string, seed: number, blocks: number): Uint8Array {
  const random = new Random(seed);
  return Uint8Array.from({ length: blocks * format(name).bytes }, () => random.below(256));
}

test("the reference decoder is what ggml's Python package makes of random blocks, bit for bit", () => {
  for (const name of NAMES) {
    const blocks = bytesOf(stored[name].blocks);
    const expected = new Float32Array(bytesOf(stored[name].values).buffer);
    assertSameBits(dequantizeReference(name, blocks, elementsOf(name, blocks)), expected, name);
  }
});

eachVariant("every type is decoded exactly, whatever its bits", async (hs) => {
  for (const [i, name] of NAMES.entries()) {
    const blocks = randomBlocks(name, i, 300);
    const file = await openTensors(hs, fileOf(name, blocks));
    assert.equal(file.tensors.get("w")?.dtype, name);
    const { data } = await file.read("w");
    assertSameBits(data, dequantizeReference(name, blocks, elementsOf(name, blocks)), name);
  }
});

eachVariant("F10: all 65,536 halves and all 65,536 brain floats are exact", async (hs) => {
  const bits = Uint16Array.from({ length: 65_536 }, (_, i) => i);
  const data = new Uint8Array(bits.buffer);
  const file = await openTensors(
    hs,
    writeSafetensors({
      half: { dtype: "F16", shape: [65_536], data },
      brain: { dtype: "BF16", shape: [65_536], data },
    }),
  );
  assertSameBits((await file.read("half")).data, Float32Array.from(bits, fromFloat16), "F16");
  const brain = Float32Array.from(bits, (b) => new Float32Array(Uint32Array.of(b * 65_536).buffer)[0] as number);
  assertSameBits((await file.read("brain")).data, brain, "BF16");
  // The four that converters get wrong: subnormals, the largest, minus zero, infinity.
  const { data: few } = await file.read("half", { rows: [1, 2] });
  assert.equal(few[0], 2 ** -24);
});

eachVariant("rows of every type are those of the whole tensor", async (hs) => {
  for (const name of NAMES) {
    const file = await openTensors(hs, fileOf(name, randomBlocks(name, 77, 40)));
    const { data } = await file.read("w");
    const { values } = format(name);
    const part = await file.read("w", { rows: [7, 20] });
    assert.deepEqual(part.shape, [13, values]);
    assertSameBits(part.data, data.slice(7 * values, 20 * values), name);
  }
});

eachVariant("a tensor larger than one piece of the decoder, and the heap that it takes", async (hs) => {
  const blocks = randomBlocks("Q8_0", 5, 40_000); // 1,280,000 values in 1.4 MB
  const file = await openTensors(hs, fileOf("Q8_0", blocks));
  await file.read("w", { rows: [0, 1] });
  const before = hs.memory().heapBytes;
  const { data } = await file.read("w");
  assertSameBits(data, dequantizeReference("Q8_0", blocks, 1_280_000), "Q8_0");
  await file.read("w");
  // The result has 5 MB: the heap holds a piece of it at a time.
  assert.ok(hs.memory().heapBytes - before <= 4 * 2 ** 20, `${hs.memory().heapBytes - before} bytes`);
  assert.equal(hs.memory().liveObjects, 0);
});

eachVariant("what is no running module is refused", async () => {
  for (const hs of [undefined, null, {}, 1]) {
    await assert.rejects(openTensors(hs as never, new Uint8Array(0)), /hs: expected what load\(\) of the same package/);
  }
});
