import type { AttentionConfig, AttentionWeights, Tensor } from "headscope";
import type { Tolerance } from "../support/compare.js";
import { resolveConfig } from "../support/oracle.js";
import type { Exact } from "../support/tensor.js";
import type { Options } from "./cases.js";

// The cases as tests/native/conformance_test.cpp reads them, little-endian, all in 32-bit units:
//
//   "HSCT", version, number of calls
//   each call:
//     bytes of the name, the name in UTF-8, zeros up to a multiple of 4
//     kind            0 attention(), 1 first call of a new layer, 2 next call of the same layer and cache
//     capacity        of the layer's K/V cache; 0 = none. Read where kind is 1
//     output absolute, output relative, weights absolute, weights relative     float32 tolerances
//     39 F words, 23 L words    as bindings/embind.cpp names them; a pointer is 1 + index of a tensor, 0 = absent
//     number of tensors
//     each tensor: type (0 float32, 1 uint8, 2 int32), count, its values, zeros up to a multiple of 4
//
// Result words (output, weights, scores, q, k, v, heads, concat, contributions) point at the expected values.

const words = (...lines: string[]): string[] => lines.flatMap((line) => line.split(" "));

export const FORWARD_WORDS = words(
  "batch queries keys query key value output scale softcap flags offset windowLeft windowRight",
  "mask maskStrideB maskStrideH maskStrideT maskStrideS bias biasStrideB biasStrideH biasStrideT biasStrideS",
  "keyMask keyLengths headGate weights scores scoresStage q k v heads concat contributions",
  "numHeads numKVHeads headDim valueHeadDim",
);
export const LAYER_WORDS = words(
  "dModel keyDim valueDim outDim numHeads numKVHeads headDim valueHeadDim layout wq wk wv wo bq bk bv bo",
  "strideQ strideK strideV ropePairing ropeDims ropeBase",
);

type Values = Float32Array | Uint8Array | Int32Array;

export interface NativeCall {
  name: string;
  kind: "attention" | "layer" | "next";
  capacity: number;
  output: Tolerance;
  weights: Tolerance;
  forward: Map<string, number>;
  layer: Map<string, number>;
  tensors: Values[];
}

export class CallBuilder {
  readonly call: NativeCall;

  constructor(name: string, kind: NativeCall["kind"], output: Tolerance, weights: Tolerance, capacity = 0) {
    this.call = { name, kind, capacity, output, weights, forward: new Map(), layer: new Map(), tensors: [] };
  }

  /** 1 + index of the tensor, which is how a pointer word names it. */
  tensor(values: Values): number {
    return this.call.tensors.push(values);
  }

  attention(q: Tensor, k: Tensor, v: Tensor): this {
    const [batch, heads, queries, dk] = q.shape as [number, number, number, number];
    const [, groups, keys] = k.shape as [number, number, number];
    this.#words({
      batch,
      queries,
      keys,
      numHeads: heads,
      numKVHeads: groups,
      headDim: dk,
      valueHeadDim: v.shape[3] as number,
      scale: floatBits(1 / Math.sqrt(dk)),
      query: this.tensor(q.data),
      key: this.tensor(k.data),
      value: this.tensor(v.data),
    });
    return this;
  }

  layer(given: AttentionConfig, weights: AttentionWeights): this {
    const c = resolveConfig(given, weights.wo !== undefined);
    const [nq, nk, nv] = [c.numHeads * c.headDim, c.numKVHeads * c.headDim, c.numKVHeads * c.valueHeadDim];
    const inOut = weights.layout === "in-out";
    const words: Record<string, number> = {
      dModel: c.dModel,
      keyDim: c.keyDim,
      valueDim: c.valueDim,
      outDim: c.outDim,
      numHeads: c.numHeads,
      numKVHeads: c.numKVHeads,
      headDim: c.headDim,
      valueHeadDim: c.valueHeadDim,
      layout: inOut ? 0 : 1,
      ropePairing: c.rope ? (c.rope.pairing === "adjacent" ? 1 : 2) : 0,
      ropeDims: c.rope ? (c.rope.dims ?? c.headDim) : 0,
      ropeBase: floatBits(c.rope?.base ?? 10000),
    };
    const optional = (name: string, values: Float32Array | undefined): void => {
      if (values) words[name] = this.tensor(values);
    };
    if ("wqkv" in weights) {
      // Native pointers name whole tensors, so the fused matrix is given once for each part of it.
      const total = nq + nk + nv;
      const part = (first: number): Float32Array => weights.wqkv.subarray(inOut ? first : first * c.dModel);
      Object.assign(words, { wq: this.tensor(part(0)), wk: this.tensor(part(nq)), wv: this.tensor(part(nq + nk)) });
      const stride = inOut ? total : c.dModel;
      Object.assign(words, { strideQ: stride, strideK: stride, strideV: stride });
      optional("bq", weights.bqkv?.subarray(0, nq));
      optional("bk", weights.bqkv?.subarray(nq, nq + nk));
      optional("bv", weights.bqkv?.subarray(nq + nk));
    } else {
      Object.assign(words, { wq: this.tensor(weights.wq), wk: this.tensor(weights.wk), wv: this.tensor(weights.wv) });
      Object.assign(
        words,
        inOut
          ? { strideQ: nq, strideK: nk, strideV: nv }
          : { strideQ: c.dModel, strideK: c.keyDim, strideV: c.valueDim },
      );
      optional("bq", weights.bq);
      optional("bk", weights.bk);
      optional("bv", weights.bv);
    }
    optional("wo", weights.wo);
    optional("bo", weights.bo);
    for (const [name, value] of Object.entries(words)) this.call.layer.set(name, value);
    this.#words({ scale: floatBits(c.scale), softcap: floatBits(c.softcap ?? 0) });
    return this;
  }

  sources(query: Tensor, key: Tensor | undefined, value: Tensor | undefined): this {
    const last = query.shape.length - 2;
    this.#words({
      batch: last === 1 ? (query.shape[0] as number) : 1,
      queries: query.shape[last] as number,
      keys: (key ?? query).shape[last] as number,
      query: this.tensor(query.data),
      ...(key ? { key: this.tensor(key.data) } : {}),
      ...(value ? { value: this.tensor(value.data) } : {}),
    });
    return this;
  }

  /** After the sources: [batch, heads, queries, all keys] is what masks broadcast to. */
  options(options: Options, full: readonly number[], cached: number): this {
    const [batch, , , keys] = full as [number, number, number, number];
    const causal = options.causal;
    const words: Record<string, number> = {
      offset: typeof causal === "object" ? causal.offset : cached,
      flags:
        (causal ? 1 : 0) | (options.window?.left === undefined ? 0 : 2) | (options.window?.right === undefined ? 0 : 4),
      windowLeft: options.window?.left ?? 0,
      windowRight: options.window?.right ?? 0,
      scoresStage: ["scaled", "capped", "masked"].indexOf(options.scoresStage ?? "masked"),
    };
    if (options.scale !== undefined) words.scale = floatBits(options.scale);
    if (options.softcap !== undefined) words.softcap = floatBits(options.softcap);
    if (options.mask) {
      const inverted = "blocked" in options.mask;
      const { data, shape } = "blocked" in options.mask ? options.mask.blocked : options.mask;
      words.mask = this.tensor(
        Uint8Array.from(Array.from<boolean | number>(data), (x) => (Boolean(x) !== inverted ? 1 : 0)),
      );
      Object.assign(words, strides("mask", shape));
    }
    if (options.bias) {
      words.bias = this.tensor(options.bias.data);
      Object.assign(words, strides("bias", options.bias.shape));
    }
    const padding = options.keyPadding;
    if (padding && padding.length === batch * keys) {
      words.keyMask = this.tensor(Uint8Array.from(padding, (x) => (x ? 1 : 0)));
    } else if (padding) words.keyLengths = this.tensor(Int32Array.from(padding));
    if (options.headMask) words.headGate = this.tensor(options.headMask);
    this.#words(words);
    return this;
  }

  expect(results: Record<string, Exact>): this {
    for (const [name, exact] of Object.entries(results)) {
      this.call.forward.set(name, this.tensor(Float32Array.from(exact.data)));
    }
    return this;
  }

  #words(words: Record<string, number>): void {
    for (const [name, value] of Object.entries(words)) this.call.forward.set(name, value);
  }
}

/** Strides of a right-aligned shape over [B,H,T,S]; 0 along what repeats. */
function strides(prefix: string, shape: readonly number[]): Record<string, number> {
  const out: Record<string, number> = {};
  let step = 1;
  ["S", "T", "H", "B"].forEach((axis, i) => {
    const length = shape[shape.length - 1 - i] ?? 1;
    out[`${prefix}Stride${axis}`] = length === 1 ? 0 : step;
    step *= length;
  });
  return out;
}

export function floatBits(value: number): number {
  return new Uint32Array(Float32Array.of(value).buffer)[0] as number;
}

export function writeCalls(calls: readonly NativeCall[]): Buffer {
  const chunks: Buffer[] = [];
  const put = (...values: number[]): void => {
    const bytes = Buffer.alloc(values.length * 4);
    values.forEach((value, i) => {
      bytes.writeUInt32LE(value >>> 0, i * 4);
    });
    chunks.push(bytes);
  };
  const padded = (bytes: Uint8Array): void => {
    chunks.push(Buffer.from(bytes), Buffer.alloc((4 - (bytes.length % 4)) % 4));
  };
  chunks.push(Buffer.from("HSCT"));
  put(1, calls.length);
  for (const call of calls) {
    const name = Buffer.from(call.name);
    put(name.length);
    padded(name);
    put(["attention", "layer", "next"].indexOf(call.kind), call.capacity);
    for (const t of [call.output, call.weights]) put(floatBits(t.absolute ?? 0), floatBits(t.relative ?? 0));
    put(...FORWARD_WORDS.map((w) => call.forward.get(w) ?? 0));
    put(...LAYER_WORDS.map((w) => call.layer.get(w) ?? 0));
    put(call.tensors.length);
    for (const tensor of call.tensors) {
      put(tensor instanceof Float32Array ? 0 : tensor instanceof Uint8Array ? 1 : 2, tensor.length);
      padded(new Uint8Array(tensor.buffer, tensor.byteOffset, tensor.byteLength));
    }
  }
  return Buffer.concat(chunks);
}
