/**
 * What the facade and the wasm module agree on: one static block of 32-bit words, written before each call. Enums, because
 * bundling leaves nothing of them but numbers; loading compares a hash of their names with the module's.
 */

/** Places of the words that a call of `layerForward`, `blockForward` or `attention` reads. */
export enum F {
  batch,
  queries,
  keys,
  query,
  key,
  value,
  output,
  scale,
  softcap,
  flags,
  offset,
  windowLeft,
  windowRight,
  mask,
  maskStrideB,
  maskStrideH,
  maskStrideT,
  maskStrideS,
  bias,
  biasStrideB,
  biasStrideH,
  biasStrideT,
  biasStrideS,
  keyMask,
  keyLengths,
  headGate,
  weights,
  scores,
  scoresStage,
  q,
  k,
  v,
  heads,
  concat,
  contributions,
  numHeads,
  numKVHeads,
  headDim,
  valueHeadDim,
  numerics,
  hidden,
  streamed,
}

/** Places of the words that `layerCreate` reads. */
export enum L {
  dModel,
  keyDim,
  valueDim,
  outDim,
  numHeads,
  numKVHeads,
  headDim,
  valueHeadDim,
  layout,
  wq,
  wk,
  wv,
  wo,
  bq,
  bk,
  bv,
  bo,
  strideQ,
  strideK,
  strideV,
  ropePairing,
  ropeDims,
  ropeBase,
}

/**
 * FNV-1a of all names in their order, those of models/words.ts included. tests/api/convention.test.ts tells the number
 * after a change.
 */
export const CONVENTION = 0xd1d103bc;

export const FLAG_CAUSAL = 1;
export const FLAG_WINDOW_LEFT = 2;
export const FLAG_WINDOW_RIGHT = 4;

/** What a native call answers. */
export const STATUS_OK = 0;
export const STATUS_OUT_OF_MEMORY = 1;
export const STATUS_CAPACITY = 2;

/**
 * The functions that bindings/embind.cpp registers, and the views of the heap. Pointers are byte addresses, 0 = none;
 * texts are addresses of bytes that end with a 0.
 */
export interface NativeModule {
  version(): number;
  variant(): number;
  convention(): number;
  words(): number;
  /** Rows of a full tile of products, 4 to 5 in the simd build. Results do not depend on it, to the last bit. */
  tileRows(rows: number): void;
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
  /** The facade's: called with the kind (0 weights, 1 scores), first row, number and address of rows that are done. */
  takeRows: (kind: number, first: number, count: number, address: number) => void;
  readonly HEAPU8: Uint8Array;
  readonly HEAP32: Int32Array;
  readonly HEAPU32: Uint32Array;
  readonly HEAPF32: Float32Array;
}
