import assert from "node:assert/strict";
import { test } from "node:test";
import { HeadscopeError, open } from "./open-source.js";
import {
  Bytes,
  f32Bytes,
  GGUF_VALUE,
  type GgufTensor,
  type GgufValue,
  strings,
  text,
  u32,
  writeGguf,
} from "./write-files.js";

const w = (over: Partial<GgufTensor> = {}): GgufTensor => ({
  name: "w",
  ne: [4, 2],
  type: 0,
  data: f32Bytes([0, 1, 2, 3, 4, 5, 6, 7]),
  ...over,
});

async function refused(file: Uint8Array, message: RegExp, code = "format"): Promise<void> {
  await assert.rejects(open(file), (error) => {
    assert.ok(error instanceof HeadscopeError, String(error));
    assert.match(error.message, message);
    assert.equal(error.code, code);
    return true;
  });
}

test("shape is row-major, ne is as ggml prints it, offset is a position in the file", async () => {
  const file = writeGguf({
    tensors: [w(), w({ name: "v", ne: [3], data: f32Bytes([1, 2, 3]) }), w({ name: "s", ne: [], data: f32Bytes([9]) })],
  });
  const opened = await open(file);
  const { dataOffset } = opened;
  assert.equal(dataOffset % 32, 0);
  assert.deepEqual(opened.tensors.get("w"), {
    shape: [2, 4],
    ne: [4, 2, 1, 1],
    dtype: "F32",
    offset: dataOffset,
    bytes: 32,
  });
  assert.deepEqual(opened.tensors.get("v"), {
    shape: [3],
    ne: [3, 1, 1, 1],
    dtype: "F32",
    offset: dataOffset + 32,
    bytes: 12,
  });
  assert.deepEqual(opened.tensors.get("s")?.shape, []);
  assert.deepEqual(await opened.read("s"), { data: Float32Array.of(9), shape: [] });
  assert.deepEqual([opened.format, opened.version, opened.size], ["gguf", 3, file.length]);
});

test("F06: strings lie across every border of the reader's steps", async () => {
  // The first step ends at 64 KiB: one string after the other is shifted over that border, byte by byte.
  for (let shift = 0; shift < 24; ++shift) {
    const values = ["x".repeat(65_536 - 130 + shift), "é🦙", "", "end"];
    const file = writeGguf({
      keys: [
        ["a", strings(values)],
        ["b", text("after")],
        ["c", u32(7)],
      ],
      tensors: [w()],
    });
    const { metadata, tensors } = await open(new Blob([file]));
    assert.deepEqual(metadata.get("a"), values);
    assert.deepEqual([metadata.get("b"), metadata.get("c")], ["after", 7]);
    assert.equal(tensors.size, 1);
  }
});

test("a header of several megabytes is read in a few steps", async () => {
  const values = Array.from({ length: 60_000 }, (_, i) => `token ${i} ${"·".repeat(i % 40)}`);
  const opened = await open(new Blob([writeGguf({ keys: [["a", strings(values)]], tensors: [w()] })]));
  assert.deepEqual(opened.metadata.get("a"), values);
  assert.deepEqual((await opened.read("w")).data, Float32Array.of(0, 1, 2, 3, 4, 5, 6, 7));
});

test("arrays: typed where every number fits, bigint only beyond 2^53, arrays in arrays", async () => {
  const array =
    (type: keyof typeof GGUF_VALUE, count: number, fill: GgufValue): GgufValue =>
    (to) =>
      fill(to.u32(GGUF_VALUE.array).u32(GGUF_VALUE[type]).u64(count));
  const nested: GgufValue = (to) => {
    to.u32(GGUF_VALUE.array).u32(GGUF_VALUE.array).u64(2);
    to.u32(GGUF_VALUE.u8).u64(2).u8(1).u8(2);
    return to.u32(GGUF_VALUE.string).u64(1).string("x");
  };
  const file = writeGguf({
    keys: [
      ["f64", array("f64", 2, (to) => to.f64(0.1).f64(-1e300))],
      ["u8", array("u8", 3, (to) => to.u8(1).u8(2).u8(255))],
      [
        "u64",
        array("u64", 3, (to) =>
          to
            .u64(5)
            .u64(2n ** 53n)
            .u64(2n ** 64n - 1n),
        ),
      ],
      ["i64", array("i64", 2, (to) => to.u64(-5).u64(-(2n ** 63n)))],
      ["bool", array("bool", 2, (to) => to.u8(1).u8(0))],
      ["nested", nested],
    ],
  });
  const { metadata, metadataTypes } = await open(file);
  assert.deepEqual(metadata.get("f64"), Float64Array.of(0.1, -1e300));
  assert.deepEqual(metadata.get("u8"), Uint8Array.of(1, 2, 255));
  assert.deepEqual(metadata.get("u64"), [5, 2n ** 53n, 2n ** 64n - 1n]);
  assert.deepEqual(metadata.get("i64"), [-5, -(2n ** 63n)]);
  assert.deepEqual(metadata.get("bool"), [true, false]);
  assert.deepEqual(metadata.get("nested"), [Uint8Array.of(1, 2), ["x"]]);
  assert.equal(metadataTypes.get("u64"), "u64[]");
  assert.equal(metadataTypes.get("nested"), "string[][]");
});

test("a byte order mark stays, what is no UTF-8 becomes U+FFFD in values and is refused in names", async () => {
  const bad = Uint8Array.of(0x61, 0xff);
  const file = new Bytes().raw(Buffer.from("GGUF")).u32(3).u64(0).u64(2);
  file.string("bom").u32(GGUF_VALUE.string).string("\ufeffx").string("bad").u32(GGUF_VALUE.string).string(bad);
  const { metadata } = await open(file.done());
  assert.deepEqual(
    [...metadata],
    [
      ["bom", "\ufeffx"],
      ["bad", "a\ufffd"],
    ],
  );
  const name = new Bytes().raw(Buffer.from("GGUF")).u32(3).u64(0).u64(1).string(bad).u32(GGUF_VALUE.u8).u8(1);
  await refused(name.done(), /key 1 of 1: expected a name in UTF-8/);
});

test("F11: names of Object.prototype are ordinary names", async () => {
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty"];
  const file = writeGguf({ keys: names.map((name) => [name, u32(1)]), tensors: names.map((name) => w({ name })) });
  const { metadata, tensors } = await open(file);
  assert.deepEqual([...metadata.keys()], names);
  assert.deepEqual([...tensors.keys()], names);
  await refused(writeGguf({ tensors: [w({ name: "__proto__" }), w({ name: "__proto__" })] }), /each name once/);
});

test("a bool other than 0 and 1, an empty key, a rank above 4 and a row that is no whole block are refused", async () => {
  await refused(
    writeGguf({ keys: [["b", (to) => to.u32(GGUF_VALUE.bool).u8(2)]] }),
    /key "b": expected a bool, 0 or 1, got 2/,
  );
  await refused(writeGguf({ keys: [["", u32(1)]] }), /key 1 of 1: expected a name, got an empty one/);
  await refused(writeGguf({ tensors: [w({ ne: [1, 1, 1, 1, 8] })] }), /at most 4 axes, got 5/);
  await refused(
    writeGguf({ tensors: [w({ ne: [48, 2], type: 8, data: new Uint8Array(102) })] }),
    /tensor "w": expected rows of a multiple of 32 values, as Q8_0 has them, got 48/,
  );
});

test("alignments: multiples of 8 and powers of two, after other keys too", async () => {
  for (const alignment of [1, 2, 4, 8, 16, 24, 40, 64, 4096]) {
    const tensors = [w({ name: "a", ne: [3], data: f32Bytes([1, 2, 3]) }), w()];
    const opened = await open(
      writeGguf({
        alignment,
        keys: [
          ["x", u32(1)],
          ["general.alignment", u32(alignment)],
        ],
        tensors,
      }),
    );
    assert.deepEqual((await opened.read("w")).data, Float32Array.of(0, 1, 2, 3, 4, 5, 6, 7), String(alignment));
  }
  for (const alignment of [0, 3, 12, 0x80000000, 0xffffffff]) {
    await refused(writeGguf({ keys: [["general.alignment", u32(alignment)]], tensors: [w()] }), /"general\.alignment"/);
  }
});

test("tensors in any order and with gaps are read, overlaps are refused", async () => {
  const opened = await open(
    writeGguf({ tensors: [w({ name: "b", offset: 64 }), w({ name: "a", offset: 0, data: new Uint8Array(64) })] }),
  );
  assert.equal(opened.tensors.get("b")?.offset, opened.dataOffset + 64);
  await refused(
    writeGguf({ tensors: [w({ name: "a", ne: [9], data: new Uint8Array(64) }), w({ name: "b", offset: 32 })] }),
    /tensor "b": expected bytes of its own, from 36 on, got 32, inside "a"/,
  );
});

test("F03: of a mixed file everything is read but the types that cannot be decoded, which are named", async () => {
  const file = writeGguf({
    tensors: [
      w({ name: "f32" }),
      w({ name: "q6", ne: [256], type: 14, data: new Uint8Array(210) }),
      w({ name: "iq2", ne: [256], type: 16, data: new Uint8Array(66) }),
      w({ name: "i32", ne: [4], type: 26, data: new Uint8Array(16) }),
      w({ name: "f64", ne: [1], type: 28, data: new Bytes().f64(0.1).done() }),
    ],
  });
  const opened = await open(file);
  assert.deepEqual(
    [...opened.tensors.values()].map(({ dtype }) => dtype),
    ["F32", "Q6_K", "IQ2_XXS", "I32", "F64"],
  );
  assert.equal((await opened.read("q6")).data.length, 256);
  assert.deepEqual((await opened.read("f64")).data, Float32Array.of(0.1));
  for (const [name, dtype] of [
    ["iq2", "IQ2_XXS"],
    ["i32", "I32"],
  ] as const) {
    const before = opened.bytesRead;
    await assert.rejects(opened.read(name), (error: HeadscopeError) => {
      assert.equal(error.code, "unsupported");
      assert.match(error.message, new RegExp(`tensor "${name}": .*got ${dtype}$`));
      return true;
    });
    assert.equal(opened.bytesRead, before);
  }
});

test("F08: a newer version and types nobody knows are refused by number", async () => {
  await refused(writeGguf({ version: 4, tensors: [w()] }), /version: expected 2 or 3, got 4/);
  await refused(
    writeGguf({ tensors: [w({ type: 500 })] }),
    /tensor "w": expected a known type, got 500/,
    "unsupported",
  );
  await refused(writeGguf({ tensors: [w({ type: 36 })] }), /IQ4_NL_4_4, which was removed/, "unsupported");
});

test("a zero size makes an empty tensor, whatever the other sizes are", async () => {
  const opened = await open(writeGguf({ tensors: [w({ ne: [4, 0], data: new Uint8Array(0) }), w({ name: "v" })] }));
  assert.deepEqual(await opened.read("w"), { data: new Float32Array(0), shape: [0, 4] });
  await refused(writeGguf({ tensors: [w({ ne: [0, 2 ** 60], data: new Uint8Array(0) })] }), /a size below 2\^53 bytes/);
});

test("F07: cut anywhere, a file is refused as cut, and nothing else happens", async () => {
  const file = writeGguf({
    keys: [
      ["general.architecture", text("gpt2")],
      ["tokens", strings(["a", "bc"])],
      ["n", u32(1)],
    ],
    tensors: [w(), w({ name: "v" })],
  });
  for (let length = 0; length < file.length; ++length) {
    const cut = file.slice(0, length);
    for (const source of [cut, new Blob([cut])]) {
      await refused(
        source as Uint8Array,
        /end of the file|inside the file|as the file can hold|bytes can hold|empty file|GGUF/,
      );
    }
  }
});

test("older formats and other programs' files are named", async () => {
  await refused(Buffer.from("tjgg\u0001\0\0\0aaaaaaaaaaaaaaaaaaaaaaaa"), /ggml's older formats/);
  await refused(Buffer.from("PK\u0003\u0004aaaaaaaaaaaaaaaaaaaaaaaaaaaa"), /a ZIP archive/);
  await refused(Buffer.from(JSON.stringify({ model_type: "gpt2", n_head: 12 })), /got what looks like JSON/);
  await refused(Buffer.from("GGML is not GGUF, nor is this text anything"), /got bytes that start with 47 47 4d 4c/);
});
