// Byte samples made by others: what is wrong is refused by name, what is right is read right (faults F03, F07 to F11).
import assert from "node:assert/strict";
import { test } from "node:test";
import { readJson, withConformance } from "../conformance/data.js";
import { HeadscopeError, open, type TensorReader } from "./open-source.js";

interface Sample {
  id: string;
  expect: "ok" | "error" | "either";
  about: string;
  data: string;
  check?: Record<string, { shape?: number[]; shape_rowmajor?: number[]; values: number[] }>;
}

const bytesOf = ({ data }: Sample): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(data, "base64"));

/** Opens a sample and reads all its tensors, the way a program that needs them would. */
async function readAll(source: Blob | ArrayBuffer, format: "auto" | "gguf" | "safetensors") {
  const file = await open(source, { format });
  const tensors = new Map<string, { shape: readonly number[]; values: number[] }>();
  for (const name of file.tensors.keys()) {
    const { shape, data } = await file.read(name);
    tensors.set(name, { shape, values: [...data] });
  }
  return { file, tensors };
}

function checkValues(
  sample: Sample,
  file: TensorReader,
  tensors: Awaited<ReturnType<typeof readAll>>["tensors"],
): void {
  for (const [name, { shape, shape_rowmajor, values }] of Object.entries(sample.check ?? {})) {
    const tensor = tensors.get(name);
    assert.ok(tensor, `${sample.id}: no tensor ${name}`);
    assert.deepEqual(tensor.shape, shape ?? shape_rowmajor);
    assert.equal(tensor.values.length, values.length);
    values.forEach((value, i) => {
      assert.ok(Object.is(tensor.values[i], Math.fround(value)), `${sample.id}: ${name}[${i}] is ${tensor.values[i]}`);
    });
    const ne = [...tensor.shape].reverse();
    assert.deepEqual(file.tensors.get(name)?.ne, [...ne, 1, 1, 1, 1].slice(0, Math.max(4, ne.length)));
  }
}

/** What the message of each refused sample has to name. */
const NAMED: Readonly<Record<string, RegExp>> = {
  "gg-either-v1": /GGUF version: expected 2 or 3.*got 1/,
  "gg-either-bigendian": /3, big-endian/,
  "gg-err-empty": /empty file/,
  "gg-err-html": /looks like an HTML page/,
  "gg-err-lfs": /a Git LFS pointer/,
  "gg-err-version0": /version: expected 2 or 3, got 0/,
  "gg-err-n-tensors": /number of tensors: .*more than 2\^53/,
  "gg-err-n-kv": /number of keys: .*more than 2\^53/,
  "gg-err-cut-header": /end of the file/,
  "gg-err-key-size": /key 1 of 1: expected a name of at most .*more than 2\^53/,
  "gg-err-str-size": /key "general.architecture": expected a string of at most .*more than 2\^53/,
  "gg-err-kv-type": /key "a.b": expected a type from 0 to 12, got 13/,
  "gg-err-arr-size": /key "a.b": expected an array of at most/,
  "gg-err-arr-deep": /arrays at most \d+ deep/,
  "gg-err-dup-key": /key "a.b": expected each key once/,
  "gg-err-align-13": /"general.alignment": .*got 13/,
  "gg-err-align-big": /"general.alignment": .*got 2147483648/,
  "gg-err-align-type": /"general.alignment": expected a u32, got i32/,
  "gg-err-n-dims-huge": /tensor "w": expected at most 4 axes, got 4294967295/,
  "gg-err-shape-max": /tensor "w": expected a size below 2\^53/,
  "gg-err-shape-product": /tensor "w": expected it inside the file/,
  "gg-err-type": /tensor "w": expected a known type, got 99/,
  "gg-err-type-removed": /tensor "w": .*Q4_2/,
  "gg-err-unsupported-named": /tensor "blk\.0\.attn_q\.weight": .*got IQ2_XXS/,
  "gg-err-offset": /tensor "w": expected an offset that is a multiple of 32/,
  "gg-err-offset-unaligned": /tensor "w": expected an offset that is a multiple of 32, got 4/,
  "gg-err-dup-tensor": /tensor "w": expected each name once/,
  "st-err-empty-file": /empty file/,
  "st-err-header-cut": /the header: expected 500 more bytes/,
  "st-err-header-huge": /header's length: expected at most/,
  "st-err-not-utf8": /the header: expected JSON in UTF-8/,
  "st-err-array": /JSON: expected an object, got an array/,
  "st-err-data-short": /the data: expected 16 bytes, .*got 14/,
  "st-err-data-extra": /the data: expected 16 bytes, .*got 21/,
  "st-err-overlap": /tensor "b": .*inside another tensor/,
  "st-err-hole": /tensor "b": .*a hole/,
  "st-err-reversed": /tensor "a", data_offsets: expected \[begin, end\], got \[8, 4\]/,
  "st-err-shape-overflow": /tensor "w", shape: expected whole numbers/,
  "st-err-shape-negative": /tensor "w", shape: expected whole numbers .*got -2/,
  "st-err-shape-fraction": /tensor "w", shape: expected whole numbers .*got 1\.5/,
  "st-err-missing-key": /tensor "w", data_offsets: .*got nothing/,
};

async function run(sample: Sample, format: "gguf" | "safetensors"): Promise<void> {
  for (const as of ["auto", format] as const) {
    for (const source of [new Blob([bytesOf(sample)]), bytesOf(sample).buffer]) {
      const begin = process.cpuUsage();
      let result: Awaited<ReturnType<typeof readAll>> | undefined;
      let error: unknown;
      try {
        result = await readAll(source, as);
      } catch (thrown) {
        error = thrown;
      }
      const { user, system } = process.cpuUsage(begin);
      assert.ok(user + system < 1e6, `${sample.id} took ${user + system} µs`);
      if (result !== undefined) {
        assert.notEqual(sample.expect, "error", `${sample.id} was read`);
        checkValues(sample, result.file, result.tensors);
        continue;
      }
      assert.ok(error instanceof HeadscopeError, `${sample.id}: ${error}`);
      assert.notEqual(sample.expect, "ok", `${sample.id}: ${error.message}`);
      assert.match(error.code, /^(format|unsupported)$/);
      assert.match(error.message, NAMED[sample.id] ?? /no message is expected of this sample/, sample.id);
    }
  }
}

withConformance("malformed model files", () => {
  for (const format of ["gguf", "safetensors"] as const) {
    const samples = readJson<Sample[]>(`malformed/${format}.json`);
    for (const sample of samples) test(`${sample.id}: ${sample.about}`, () => run(sample, format));
  }

  test("all bad samples together take less than 50 MB", async () => {
    const samples = [...readJson<Sample[]>("malformed/gguf.json"), ...readJson<Sample[]>("malformed/safetensors.json")];
    const bad = samples.filter(({ expect }) => expect === "error");
    const before = process.resourceUsage().maxRSS;
    for (const sample of bad) await readAll(bytesOf(sample).buffer, "auto").catch(() => undefined);
    const grown = process.resourceUsage().maxRSS - before;
    assert.ok(grown < 50_000, `${grown} KB`);
  });

  test("gg-ok-kinds: every type of metadata comes as documented", async () => {
    const sample = readJson<Sample[]>("malformed/gguf.json").find(({ id }) => id === "gg-ok-kinds") as Sample;
    const { metadata, metadataTypes } = await open(bytesOf(sample).buffer);
    const expected: [string, string, unknown][] = [
      ["general.architecture", "string", "gpt2"],
      ["t.u8", "u8", 200],
      ["t.i8", "i8", -5],
      ["t.u16", "u16", 60000],
      ["t.i16", "i16", -300],
      ["t.u32", "u32", 4000000000],
      ["t.i32", "i32", -7],
      ["t.f32", "f32", 0.5],
      ["t.bool", "bool", true],
      ["t.str", "string", "Ġhéllo 🦙"],
      ["t.u64", "u64", 2n ** 63n + 1n],
      ["t.i64", "i64", -(2 ** 40)],
      ["t.f64", "f64", 1e300],
      ["t.arr", "i32[]", Int32Array.of(1, -2, 3)],
      ["t.sarr", "string[]", ["a", "", "ß"]],
      ["t.earr", "f32[]", new Float32Array(0)],
    ];
    assert.deepEqual(
      [...metadata],
      expected.map(([key, , value]) => [key, value]),
    );
    assert.deepEqual(
      [...metadataTypes],
      expected.map(([key, type]) => [key, type]),
    );
  });
});
