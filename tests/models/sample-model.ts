import { Random } from "../support/random.js";
import { type Bytes, f32Bytes, GGUF_VALUE, type GgufTensor, strings, text, u32, writeGguf } from "./write-files.js";

export const VOCABULARY = 9000;

/** Words whose UTF-8 lengths differ, so that some of them lie across every border of the reader's steps. */
export const tokens = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `Ġ${"é🦙x".repeat(i % 7)}${i.toString(36)}`);

const q8 = (random: Random, values: number): Uint8Array => {
  const bytes = new Uint8Array((values / 32) * 34);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = random.below(256);
  for (let block = 0; block < bytes.length; block += 34) bytes.set([0x66, 0x2e], block); // d = 0.1
  return bytes;
};

/** A GGUF of about 600 kB: a vocabulary of 200 kB in the header, a Q8_0 matrix, an F32 one and small vectors. */
export function sampleModel(): { file: Uint8Array<ArrayBuffer>; tensors: GgufTensor[] } {
  const random = new Random(11);
  const f32 = (count: number): Uint8Array => f32Bytes([...random.values(count)]);
  const tensors: GgufTensor[] = [
    { name: "token_embd.weight", ne: [64, 4000], type: 8, data: q8(random, 64 * 4000) },
    { name: "blk.0.attn_norm.weight", ne: [64], type: 0, data: f32(64) },
    { name: "blk.0.attn_norm.bias", ne: [64], type: 0, data: f32(64) },
    { name: "blk.0.attn_qkv.weight", ne: [64, 192], type: 8, data: q8(random, 64 * 192) },
    { name: "blk.0.ffn_up.weight", ne: [64, 256], type: 0, data: f32(64 * 256) },
  ];
  const file = writeGguf({
    keys: [
      ["general.architecture", text("gpt2")],
      ["tokenizer.ggml.tokens", strings(tokens(VOCABULARY))],
      ["tokenizer.ggml.scores", scores],
      ["gpt2.block_count", u32(1)],
    ],
    tensors,
  });
  return { file, tensors };
}

function scores(to: Bytes): Bytes {
  to.u32(GGUF_VALUE.array).u32(GGUF_VALUE.f32).u64(VOCABULARY);
  for (let i = 0; i < VOCABULARY; ++i) to.f32(-i);
  return to;
}
