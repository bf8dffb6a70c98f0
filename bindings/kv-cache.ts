import { checkInteger } from "./check.js";
import { mismatch } from "./errors.js";
import { checkMemory, type Handle, type Heap, outOfMemory } from "./heap.js";
import { disposeSymbol } from "./symbols.js";
import type { KVCache, MultiHeadAttention } from "./types.js";

/** Keys and values on the wasm heap, after their projection and rotary turn. */
export class Cache implements KVCache {
  readonly capacity: number;
  readonly batch: number;
  readonly bytesPerToken: number;
  readonly bytes: number;
  readonly #heap: Heap;
  readonly #layer: MultiHeadAttention;
  readonly #handle: Handle;
  #length = 0;

  constructor(heap: Heap, layer: MultiHeadAttention, layerHandle: Handle, capacity: number, batch: number) {
    const { numKVHeads, headDim, valueHeadDim } = layer.config;
    this.#heap = heap;
    this.#layer = layer;
    this.capacity = capacity;
    this.batch = batch;
    this.bytesPerToken = numKVHeads * (headDim + valueHeadDim) * 4;
    const bytes = this.bytesPerToken * capacity * batch;
    checkMemory("capacity", `a cache of ${batch} × ${capacity} tokens`, bytes);
    const native = heap.native.cacheCreate(layerHandle.value, batch, capacity);
    if (native === 0) throw outOfMemory("capacity", `a cache of ${batch} × ${capacity} tokens`, bytes);
    this.#handle = heap.own(this, native, "cacheDestroy");
    this.bytes = heap.native.cacheBytes(native) >>> 0;
  }

  get length(): number {
    this.checkAlive();
    return this.#length;
  }

  truncate(n: number): void {
    this.checkAlive();
    this.#length = checkInteger("n", n, 0, this.#length);
    this.#heap.native.cacheTruncate(this.#handle.value, this.#length);
  }

  dispose(): void {
    this.#heap.release(this.#handle);
  }

  [disposeSymbol](): void {
    this.dispose();
  }

  // For the layer.

  get native(): number {
    return this.#handle.value;
  }

  belongsTo(layer: MultiHeadAttention): boolean {
    return this.#layer === layer;
  }

  advance(count: number): void {
    this.#length += count;
  }

  checkAlive(): void {
    if (this.#handle.value === 0) throw mismatch("disposed", "cache", "a live cache", "one that was disposed");
  }
}
