import assert from "node:assert/strict";
import { test } from "node:test";
import { HeadscopeError, open } from "./open-source.js";
import { Bytes, f32Bytes, safetensorsFile, writeSafetensors } from "./write-files.js";

const entry = (begin = 0, end = 8) => `{"dtype":"F32","shape":[2],"data_offsets":[${begin},${end}]}`;
const data = f32Bytes([1, 2]);

async function refused(file: Uint8Array, message: RegExp, code = "format"): Promise<void> {
  await assert.rejects(open(file, { format: "safetensors" }), (error) => {
    assert.ok(error instanceof HeadscopeError, String(error));
    assert.match(error.message, message);
    assert.equal(error.code, code);
    return true;
  });
}

test("shapes, ne, offsets in the file and metadata", async () => {
  const file = writeSafetensors(
    {
      "h.0.attn.c_attn.weight": { dtype: "F32", shape: [2, 3], data: f32Bytes([1, 2, 3, 4, 5, 6]) },
      five: { dtype: "F16", shape: [1, 2, 1, 1, 2], data: new Uint8Array(8) },
    },
    { format: "pt" },
  );
  const opened = await open(file);
  assert.equal(opened.format, "safetensors");
  assert.equal(opened.version, undefined);
  assert.deepEqual([...opened.metadata], [["format", "pt"]]);
  const { dataOffset } = opened;
  assert.deepEqual(
    [...opened.tensors.values()],
    [
      { shape: [2, 3], ne: [3, 2, 1, 1], dtype: "F32", offset: dataOffset, bytes: 24 },
      { shape: [1, 2, 1, 1, 2], ne: [2, 1, 1, 2, 1], dtype: "F16", offset: dataOffset + 24, bytes: 8 },
    ],
  );
  const rows = await opened.read("h.0.attn.c_attn.weight", { rows: [1, 2] });
  assert.deepEqual(rows, { data: Float32Array.of(4, 5, 6), shape: [1, 3] });
});

test("a key that comes twice is refused, in the header, in a tensor and in the metadata", async () => {
  await refused(safetensorsFile(`{"w":${entry()},"w":${entry()}}`, data), /expected each key once, not "w" again/);
  await refused(safetensorsFile(`{"w":${entry()},"\\u0077":${entry()}}`, data), /each key once, not "w"/);
  await refused(
    safetensorsFile(`{"w":{"dtype":"F32","dtype":"F16","shape":[2],"data_offsets":[0,8]}}`, data),
    /not "dtype" again/,
  );
  await refused(safetensorsFile('{"__metadata__":{"a":"1","a":"2"}}'), /not "a" again/);
});

test("metadata has strings only", async () => {
  for (const value of ["1", "null", "{}", '["a"]']) {
    await refused(safetensorsFile(`{"__metadata__":{"a":${value}}}`), /__metadata__ "a": expected a string/);
  }
  await refused(safetensorsFile('{"__metadata__":[]}'), /__metadata__: expected an object, got an array/);
});

test("JSON that is none is refused with the place", async () => {
  for (const [json, message] of [
    ["", /at character 0: expected a value, got its end/],
    ["{", /at character 1: expected a string, got its end/],
    ['{"w"}', /at character 4: expected ":", got "}"/],
    ['{"w":1,}', /expected a string/],
    ["{} {}", /at character 3: expected the end, got "{}"/],
    ['{"w":01}', /expected "," or "}"/],
    ['{"w":+1}', /expected a value/],
    ['{"w":NaN}', /expected a value/],
    ["{'w':1}", /expected a string/],
    ['{"a\nb":1}', /a string without control characters/],
    ['{"\\x":1}', /wrong escapes/],
    ['{"\\ud800":1}', /a string of whole characters/],
    ['{"w', /expected a string/],
    ['{"w\\', /expected a string/],
    ['{"w\\"', /expected a string/],
    [`{"w":${"[".repeat(5000)}`, /expected at most 16 levels/],
    ["\ufeff{}", /expected a value/],
    ["null", /JSON: expected an object, got null/],
    ['"x"', /JSON: expected an object, got "x"/],
  ] as const) {
    await refused(safetensorsFile(json), message);
  }
});

test("escapes, spaces and unknown keys are read", async () => {
  const name = 'a"\\/\b\f\n\r\té🦙';
  const escaped = '"a\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83e\\udd99"';
  const file = safetensorsFile(
    ` { ${escaped} :\t{ "extra" : [ true , false , null , -1.5e3 , { } ] , "data_offsets" : [ 0 , 8 ] , "shape" : [ 2 ] , "dtype" : "F32" }\r\n} `,
    data,
  );
  const opened = await open(file);
  assert.deepEqual((await opened.read(name)).data, Float32Array.of(1, 2));
});

test("F11: names of Object.prototype are ordinary names", async () => {
  const opened = await open(
    safetensorsFile(`{"__proto__":${entry()},"constructor":${entry(8, 16)}}`, f32Bytes([1, 2, 3, 4])),
  );
  assert.deepEqual((await opened.read("__proto__")).data, Float32Array.of(1, 2));
  assert.deepEqual((await opened.read("constructor")).data, Float32Array.of(3, 4));
  await assert.rejects(opened.read("toString"), /tensor "toString": expected a tensor of this name/);
});

test("sizes that do not fit the type and the shape are refused with both", async () => {
  const of = (dtype: string, shape: string, end: number) =>
    safetensorsFile(`{"w":{"dtype":"${dtype}","shape":${shape},"data_offsets":[0,${end}]}}`, new Uint8Array(end));
  await refused(of("F32", "[3]", 8), /tensor "w": expected 8 bytes, from 0 to 8, for its shape, got 12 for F32 \[3\]/);
  await refused(of("F16", "[3000000000,3000000000]", 8), /got too many for F16/);
  await refused(of("F32", "[-0,5]", 0), /shape: expected whole numbers from 0 to 2\^53, got/);
  await refused(of("F32", "2", 8), /shape: expected an array of whole numbers, got 2/);
  await refused(of("F32", '["2"]', 8), /shape: expected whole numbers from 0 to 2\^53, got "2"/);
  const noType = safetensorsFile('{"w":{"dtype":1,"shape":[2],"data_offsets":[0,8]}}', data);
  await refused(noType, /tensor "w", dtype: expected a string, got 1/);
  await refused(safetensorsFile('{"w":[]}'), /tensor "w": expected an object, got an array/);
  await refused(
    safetensorsFile(`{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,4,8]}}`, data),
    /expected \[begin, end\], got \[0, 4, 8\]/,
  );
});

test("every type is listed with its size, floats are decoded, the others are named when they are read", async () => {
  const bits = {
    BOOL: 8,
    U8: 8,
    I8: 8,
    I16: 16,
    U16: 16,
    I32: 32,
    U32: 32,
    I64: 64,
    U64: 64,
    C64: 64,
    F8_E8M0: 8,
    F4: 4,
  };
  const tensors = Object.fromEntries(
    Object.entries(bits).map(([dtype, width]) => [dtype, { dtype, shape: [2], data: new Uint8Array((2 * width) / 8) }]),
  );
  const opened = await open(
    writeSafetensors({ ...tensors, X: { dtype: "F1000", shape: [2], data: new Uint8Array(5) } }),
  );
  for (const name of opened.tensors.keys()) {
    await assert.rejects(opened.read(name), (error: HeadscopeError) => {
      assert.equal(error.code, "unsupported");
      assert.match(error.message, new RegExp(`tensor "${name}": expected a type that can be decoded .*, got `));
      return true;
    });
  }
  const floats = await open(
    writeSafetensors({
      F64: { dtype: "F64", shape: [2], data: new Bytes().f64(0.1).f64(1e-50).done() },
      E4: { dtype: "F8_E4M3", shape: [8], data: Uint8Array.of(0x00, 0x01, 0x38, 0xb8, 0x7e, 0x7f, 0xff, 0x80) },
      E5: { dtype: "F8_E5M2", shape: [8], data: Uint8Array.of(0x00, 0x01, 0x3c, 0xbc, 0x7b, 0x7c, 0xfc, 0x7f) },
    }),
  );
  assert.deepEqual([...(await floats.read("F64")).data], [Math.fround(0.1), 0]);
  assert.deepEqual([...(await floats.read("E4")).data], [0, 2 ** -9, 1, -1, 448, Number.NaN, Number.NaN, -0]);
  const { POSITIVE_INFINITY: inf } = Number;
  assert.deepEqual([...(await floats.read("E5")).data], [0, 2 ** -16, 1, -1, 57344, inf, -inf, Number.NaN]);
});

test("data need not be aligned", async () => {
  const opened = await open(
    writeSafetensors({
      a: { dtype: "U8", shape: [3], data: new Uint8Array(3) },
      w: { dtype: "F32", shape: [2], data },
    }),
  );
  assert.equal((opened.tensors.get("w")?.offset ?? 0) % 4 === 0, (opened.dataOffset + 3) % 4 === 0);
  assert.deepEqual((await opened.read("w")).data, Float32Array.of(1, 2));
});

test("a header as long as ten steps of the reader is read", async () => {
  const tensors = Object.fromEntries(
    Array.from({ length: 30_000 }, (_, i) => [`model.layers.${i}.é`, { dtype: "F32", shape: [], data: f32Bytes([i]) }]),
  );
  const opened = await open(new Blob([writeSafetensors(tensors)]));
  assert.equal(opened.tensors.size, 30_000);
  assert.deepEqual((await opened.read("model.layers.29999.é")).data, Float32Array.of(29_999));
});

test("F07: a header of 100 MB that is not there takes no memory", async () => {
  const file = new Bytes().u64(99_999_000).raw(Buffer.from('{"w":1}')).done();
  const before = process.memoryUsage().arrayBuffers;
  await refused(file, /the header: expected 99999000 more bytes at byte 8, got 7, then the end of the file/);
  assert.ok(process.memoryUsage().arrayBuffers - before < 1_000_000);
});

test("F07: cut anywhere, a file is refused", async () => {
  const file = writeSafetensors({ w: { dtype: "F32", shape: [2], data }, v: { dtype: "F32", shape: [2], data } });
  for (let length = 0; length < file.length; ++length) {
    await refused(file.slice(0, length), /end of the file|was the file cut off\?|empty file|bytes that start/);
  }
});
