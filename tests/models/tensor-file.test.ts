// What both formats share: rows, sources, signals, disposal.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../support/random.js";
import { decodeReference, type HeadscopeError, open } from "./open-source.js";
import { f32Bytes, writeGguf, writeSafetensors } from "./write-files.js";

const random = new Random(3);
const bytes = (count: number) => Uint8Array.from({ length: count }, () => random.below(256));
const q8 = bytes((96 * 34) / 32);
const matrix = bytes((4 * 64 * 34) / 32);
const file = writeGguf({
  tensors: [
    { name: "flat", ne: [96], type: 8, data: q8 },
    { name: "matrix", ne: [64, 4], type: 8, data: matrix },
    { name: "cube", ne: [2, 3, 4], type: 0, data: f32Bytes(Array.from({ length: 24 }, (_, i) => i)) },
    { name: "scalar", ne: [], type: 0, data: f32Bytes([7]) },
  ],
});

test("rows are those of the first axis, and only their bytes are read", async () => {
  const large = writeGguf({ tensors: [{ name: "w", ne: [32, 10_000], type: 8, data: bytes(34 * 10_000) }] });
  const opened = await open(new Blob([large]));
  const all = await opened.read("w");
  for (const rows of [
    [0, 1],
    [4000, 4000],
    [5000, 5010],
    [9999, 10_000],
  ] as const) {
    const before = opened.bytesRead;
    const part = await opened.read("w", { rows });
    assert.deepEqual(part, { data: all.data.slice(rows[0] * 32, rows[1] * 32), shape: [rows[1] - rows[0], 32] });
    const inFirstStep = rows[1] === 1;
    assert.equal(opened.bytesRead - before, inFirstStep ? 0 : (rows[1] - rows[0]) * 34);
  }
});

test("rows of more than two axes keep the others", async () => {
  const { data, shape } = await (await open(file)).read("cube", { rows: [1, 3] });
  assert.deepEqual(shape, [2, 3, 2]);
  assert.deepEqual(
    [...data],
    Array.from({ length: 12 }, (_, i) => i + 6),
  );
});

test("rows of one axis are single values, also in the middle of a block", async () => {
  const opened = await open(file);
  const all = decodeReference("Q8_0", q8, 96);
  for (const [begin, end] of [
    [0, 96],
    [0, 1],
    [31, 33],
    [40, 50],
    [95, 96],
    [64, 64],
    [1, 95],
  ] as const) {
    const { data, shape } = await opened.read("flat", { rows: [begin, end] });
    assert.deepEqual(shape, [end - begin]);
    assert.deepEqual(data, all.slice(begin, end));
  }
});

test("wrong rows and names are refused before anything is read", async () => {
  const opened = await open(file);
  const before = opened.bytesRead;
  const wrong: [unknown, RegExp][] = [
    [[0], /options\.rows: expected \[begin, end\], got an array of length 1/],
    ["0:1", /options\.rows: expected \[begin, end\]/],
    [[0, 5], /options\.rows\[1\]: expected a whole number from 0 to 4, got 5/],
    [[-1, 2], /options\.rows\[0\]: .*got -1/],
    [[2, 1], /options\.rows\[1\]: expected a whole number from 2 to 4, got 1/],
    [[0, 1.5], /got 1\.5/],
    [[0, "1"], /options\.rows\[1\]/],
  ];
  for (const [rows, message] of wrong) {
    await assert.rejects(opened.read("matrix", { rows: rows as [number, number] }), message);
  }
  await assert.rejects(opened.read("scalar", { rows: [0, 1] }), /none for a tensor without axes/);
  await assert.rejects(
    opened.read("matrx"),
    /tensor "matrx": expected a tensor of this name, got none; did you mean "matrix"\?/,
  );
  await assert.rejects(opened.read(undefined as never), /name: expected the name of a tensor, got undefined/);
  assert.equal(opened.bytesRead, before);
});

test("J06: a file opened from a buffer keeps its own copy", async () => {
  for (const view of [false, true]) {
    const buffer = file.slice();
    const source = view ? buffer.subarray(0) : buffer.buffer;
    const opened = await open(source);
    const before = await opened.read("matrix");
    buffer.fill(0xff);
    assert.deepEqual(await opened.read("matrix"), before);
    structuredClone(buffer.buffer, { transfer: [buffer.buffer] });
    assert.deepEqual(await opened.read("matrix"), before);
  }
});

test("results are the caller's: writing to one changes no later answer", async () => {
  const opened = await open(file);
  const first = await opened.read("cube");
  const values = [...first.data];
  first.data.fill(-1);
  assert.deepEqual([...(await opened.read("cube")).data], values);
});

test("every kind of source gives the same, and is left as it was", async () => {
  const expected = await (await open(file)).read("matrix");
  const shared = new Uint8Array(new SharedArrayBuffer(file.length));
  shared.set(file);
  const padded = new Uint8Array(file.length + 20);
  padded.set(file, 10);
  const sources = [
    file.buffer,
    file,
    shared,
    shared.buffer,
    padded.subarray(10, 10 + file.length),
    new DataView(padded.buffer, 10, file.length),
    new Blob([file]),
    new File([file], "model.gguf"),
  ];
  const copy = file.slice();
  for (const source of sources) assert.deepEqual(await (await open(source as Blob)).read("matrix"), expected);
  assert.deepEqual(file, copy);
});

test("what is no source is refused by name", async () => {
  for (const source of [undefined, null, 5, {}, [], () => {}]) {
    await assert.rejects(open(source as never), (error: Error) => {
      assert.ok(error instanceof TypeError);
      assert.match(error.message, /^source: expected a File, a Blob, a URL, an address as a string, or an ArrayBuffer/);
      return true;
    });
  }
  const { buffer } = new Uint8Array(8);
  structuredClone(buffer, { transfer: [buffer] });
  await assert.rejects(open(buffer), /source: expected an ArrayBuffer with its memory, got a detached one/);
});

test("wrong options are refused by name", async () => {
  for (const [options, message] of [
    [{ format: "onnx" }, /options\.format: expected "auto" or "gguf" or "safetensors", got "onnx"/],
    [{ fromat: "gguf" }, /options\.fromat: .*did you mean "format"/],
    [{ signal: {} }, /options\.signal: expected an AbortSignal/],
    [{ onProgress: 1 }, /options\.onProgress: expected a function/],
    [{ cache: true }, /options\.cache: expected "use" or "reload" or "off"/],
    [5, /options: expected an object/],
  ] as const) {
    await assert.rejects(open(file, options as never), message);
  }
});

test("the format that was asked for is the one that is expected", async () => {
  const other = writeSafetensors({ w: { dtype: "F32", shape: [1], data: f32Bytes([1]) } });
  await assert.rejects(open(file, { format: "safetensors" }), /the header's length: expected at most/);
  await assert.rejects(open(other, { format: "gguf" }), /the file: expected a GGUF file, which starts with "GGUF"/);
  assert.equal((await open(other, { format: "safetensors" })).format, "safetensors");
});

test("a file is named in its messages", async () => {
  await assert.rejects(open(new File(["<html>"], "llama.gguf")), /^HeadscopeError: llama\.gguf: the file: expected/);
  await assert.rejects(open(new Blob(["<html>"])), /^HeadscopeError: the Blob: the file: expected/);
  await assert.rejects(open(new Uint8Array(3)), /^HeadscopeError: the buffer: the file: expected/);
});

test("a Blob that can no longer be read is an error, not a wrong answer", async () => {
  const blob = new Blob([file]);
  const opened = await open(blob);
  const failing = () => ({ arrayBuffer: () => Promise.reject(new Error("The file could not be read")) });
  Object.defineProperty(blob, "slice", { value: failing });
  const big = await open(new Blob([file]));
  assert.equal(big.size, file.length);
  // The first step holds this small file whole: ask a file that is larger than a step.
  const large = new Blob([
    writeGguf({ tensors: [{ name: "w", ne: [50_000], type: 0, data: new Uint8Array(200_000) }] }),
  ]);
  const other = await open(large);
  Object.defineProperty(large, "slice", { value: failing });
  await assert.rejects(other.read("w"), (error: HeadscopeError) => {
    assert.equal(error.code, "format");
    assert.match(error.message, /"The file could not be read"; was the file changed or moved\? choose it again/);
    return true;
  });
  assert.equal((await opened.read("scalar")).data[0], 7);
});

test("a signal stops a large read of a Blob between its pieces", async () => {
  const large = writeGguf({ tensors: [{ name: "w", ne: [2 ** 23], type: 0, data: new Uint8Array(2 ** 25) }] });
  const opened = await open(new Blob([large]));
  const controller = new AbortController();
  const before = opened.bytesRead;
  const promise = opened.read("w", { signal: controller.signal });
  controller.abort("enough");
  await assert.rejects(promise, (error: HeadscopeError) => {
    assert.equal(error.code, "aborted");
    assert.equal(error.cause, "enough");
    return true;
  });
  assert.ok(opened.bytesRead - before <= 4 * 2 ** 20);
  assert.equal((await opened.read("w", { rows: [0, 3] })).data.length, 3);
});

test("a signal given before the start reads nothing", async () => {
  const opened = await open(file);
  for (const source of [file, new Blob([file])]) {
    await assert.rejects(open(source, { signal: AbortSignal.abort() }), { code: "aborted" });
  }
  await assert.rejects(opened.read("matrix", { signal: AbortSignal.abort() }), { code: "aborted" });
});

test("J03: disposing twice is nothing, reading afterwards is an error, a new file works", async () => {
  const opened = await open(file);
  opened.dispose();
  opened.dispose();
  await assert.rejects(opened.read("matrix"), (error: HeadscopeError) => {
    assert.equal(error.code, "disposed");
    assert.match(error.message, /the buffer was closed/);
    return true;
  });
  assert.equal(opened.tensors.size, 4); // what the header says is still there
  const again = await open(file);
  again[Symbol.dispose]();
  await assert.rejects(again.read("matrix"), { code: "disposed" });
  assert.equal((await (await open(file)).read("matrix")).data.length, 256);
});

test("parts are read as they are stored, together, in the order in which they were asked for", async () => {
  const opened = await open(new Blob([file]));
  const [cube, rows] = await opened.readStored([{ name: "cube" }, { name: "matrix", rows: [1, 3] }]);
  assert.deepEqual([cube?.dtype, cube?.shape, cube?.elements, cube?.skip], ["F32", [4, 3, 2], 24, 0]);
  assert.deepEqual([rows?.dtype, rows?.shape, rows?.elements], ["Q8_0", [2, 64], 128]);
  assert.deepEqual(Buffer.from(rows?.bytes ?? []), Buffer.from(matrix.subarray(68, 204)));
});
