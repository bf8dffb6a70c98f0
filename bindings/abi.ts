/**
 * What the facade and the wasm module agree on: one static block of 32-bit words, written before each call. The module
 * says its own names in `wordNames()`, which loading compares, so that the two cannot drift apart.
 */
const FORWARD_NAMES = [
  "batch",
  "queries",
  "keys",
  "query",
  "key",
  "value",
  "output",
  "scale",
  "softcap",
  "flags",
  "offset",
  "windowLeft",
  "windowRight",
  "mask",
  "maskStrideB",
  "maskStrideH",
  "maskStrideT",
  "maskStrideS",
  "bias",
  "biasStrideB",
  "biasStrideH",
  "biasStrideT",
  "biasStrideS",
  "keyMask",
  "keyLengths",
  "headGate",
  "weights",
  "scores",
  "scoresStage",
  "q",
  "k",
  "v",
  "heads",
  "concat",
  "contributions",
  "numHeads",
  "numKVHeads",
  "headDim",
  "valueHeadDim",
  "numerics",
  "hidden",
] as const;

const LAYER_NAMES = [
  "dModel",
  "keyDim",
  "valueDim",
  "outDim",
  "numHeads",
  "numKVHeads",
  "headDim",
  "valueHeadDim",
  "layout",
  "wq",
  "wk",
  "wv",
  "wo",
  "bq",
  "bk",
  "bv",
  "bo",
  "strideQ",
  "strideK",
  "strideV",
  "ropePairing",
  "ropeDims",
  "ropeBase",
] as const;

const LINEAR_NAMES = ["layout", "type", "data", "rowBytes", "depth", "columns", "bias"] as const;

const BLOCK_NAMES = [
  "dModel",
  "numHeads",
  "numKVHeads",
  "headDim",
  "valueHeadDim",
  "ropePairing",
  "ropeDims",
  "ropeBase",
  "norm",
  "postNorm",
  "epsilon",
  "activation",
  "attentionNormWeight",
  "attentionNormBias",
  "ffnNormWeight",
  "ffnNormBias",
  "query",
  "key",
  "value",
  "output",
  "up",
  "gate",
  "down",
  "ropeFactors",
] as const;

function places<const N extends readonly string[]>(names: N): Readonly<Record<N[number], number>> {
  return Object.freeze(Object.fromEntries(names.map((name, index) => [name, index]))) as Record<N[number], number>;
}

/** Places of the words that a call of `layerForward` or `attention` reads. */
export const F = /* @__PURE__ */ places(FORWARD_NAMES);
/** Places of the words that `layerCreate` reads. */
export const L = /* @__PURE__ */ places(LAYER_NAMES);

/** Places of the words that `linearCreate` reads. */
export const W = /* @__PURE__ */ places(LINEAR_NAMES);
/** Places of the words that `blockCreate` reads. */
export const B = /* @__PURE__ */ places(BLOCK_NAMES);

/** What `wordNames()` has to answer: each name followed by a space. */
export function wordNames(): string {
  const lists = { F: FORWARD_NAMES, L: LAYER_NAMES, W: LINEAR_NAMES, B: BLOCK_NAMES };
  return Object.entries(lists)
    .map(([list, names]) => `${list}:${names.join(" ")} `)
    .join(";");
}

export const FLAG_CAUSAL = 1;
export const FLAG_WINDOW_LEFT = 2;
export const FLAG_WINDOW_RIGHT = 4;

/** What a native call answers. */
export const STATUS_OK = 0;
export const STATUS_OUT_OF_MEMORY = 1;
export const STATUS_CAPACITY = 2;

/** The functions that bindings/embind.cpp registers, and the views of the heap. Pointers are byte addresses, 0 = none. */
export interface NativeModule {
  version(): string;
  variant(): string;
  wordNames(): string;
  words(): number;
  reserve(bytes: number): number;
  layerCreate(): number;
  layerDestroy(layer: number): void;
  layerForward(layer: number, cache: number): number;
  cacheCreate(layer: number, batch: number, capacity: number): number;
  cacheDestroy(cache: number): void;
  cacheTruncate(cache: number, length: number): void;
  cacheBytes(cache: number): number;
  attention(): number;
  /** Decodes `count` stored values; the type's number is ggml's. */
  dequantize(type: number, from: number, count: number, to: number): number;
  linearCreate(): number;
  linearDestroy(linear: number): void;
  linearApply(linear: number, rows: number, x: number, y: number, numerics: number): number;
  /** kind 0: layer norm, 1: RMS norm (bias 0). x and y may be the same. */
  normalise(
    kind: number,
    rows: number,
    width: number,
    x: number,
    weight: number,
    bias: number,
    epsilon: number,
    y: number,
  ): void;
  /** Takes the named linears over; 0 = out of memory, and they are as before. */
  blockCreate(): number;
  blockDestroy(block: number): void;
  blockForward(block: number, cache: number): number;
  readonly HEAPU8: Uint8Array;
  readonly HEAP32: Int32Array;
  readonly HEAPU32: Uint32Array;
  readonly HEAPF32: Float32Array;
}
