import type { NativeModule } from "./abi.js";
import { HeadscopeError } from "./errors.js";

const PAGE = 2 ** 16;

/** What a 32-bit wasm memory can grow to: 4 GiB less one page. */
export const MAX_BYTES = 2 ** 32 - PAGE;

/** Up to so many elements a loop is faster than making a view for `set`. */
const LOOP_LENGTH = 96;

/** Refuses sizes that no 32-bit memory can hold, before anything is allocated. */
export function checkMemory(argument: string, what: string, bytes: number): void {
  if (!(bytes <= MAX_BYTES)) throw tooLarge(argument, what, bytes);
}

export function tooLarge(argument: string, what: string, bytes: number): HeadscopeError {
  const expected = `at most ${MAX_BYTES} bytes`;
  const actual = `${what} of ${bytes} bytes`;
  return new HeadscopeError("memory", `${argument}: expected ${expected}, got ${actual}`, {
    argument,
    expected,
    actual,
  });
}

export function outOfMemory(argument: string, what: string, bytes: number): HeadscopeError {
  const expected = `memory for ${what}`;
  const actual = `none left for ${bytes} bytes`;
  return new HeadscopeError("memory", `${argument}: expected ${expected}, got ${actual}`, {
    argument,
    expected,
    actual,
  });
}

/**
 * A result array of the caller's. A size that one ArrayBuffer cannot have is the caller's "memory" error, not the
 * engine's RangeError.
 */
export function allocate(argument: string, length: number): Float32Array {
  try {
    return new Float32Array(length);
  } catch (cause) {
    const expected = "a result that fits into one ArrayBuffer";
    const actual = `${length * 4} bytes`;
    const message = `${argument}: expected ${expected}, got ${actual}`;
    throw new HeadscopeError("memory", message, { argument, expected, actual, cause });
  }
}

/** The same, but undefined for a small array, which no engine refuses: `Heap.copy` makes it with its numbers in it. */
export function allocateLarge(argument: string, length: number): Float32Array | undefined {
  return length > LOOP_LENGTH ? allocate(argument, length) : undefined;
}

type DestroyName = "layerDestroy" | "cacheDestroy" | "linearDestroy" | "blockDestroy";

/** A native object that is destroyed once: by its owner's `dispose`, else after the owner was collected. */
export class Handle {
  readonly #heap: Heap;
  readonly #destroy: DestroyName | undefined;
  /** 0 once it is destroyed. */
  value: number;

  constructor(heap: Heap, value: number, destroy: DestroyName | undefined) {
    this.#heap = heap;
    this.#destroy = destroy;
    this.value = value;
  }

  release(): void {
    if (this.value === 0) return;
    if (this.#destroy !== undefined) this.#heap.native[this.#destroy](this.value);
    this.value = 0;
    this.#heap.liveObjects -= 1;
  }
}

/** The module's memory as the facade uses it: views, the block of words and one arena for inputs and results. */
export class Heap {
  readonly native: NativeModule;
  // What every call runs, beside the module object with its many names.
  readonly layerForward: NativeModule["layerForward"];
  readonly blockForward: NativeModule["blockForward"];
  readonly attention: NativeModule["attention"];
  /** Index of the first word of the block in the 32-bit views. */
  readonly words: number;
  u8!: Uint8Array;
  u32!: Uint32Array;
  i32!: Int32Array;
  f32!: Float32Array;
  liveObjects = 0;
  /** Where a running call's rows of weights and of scores go as they are done, and how long a row is. */
  readonly rowTargets: [Float32Array | undefined, Float32Array | undefined] = [undefined, undefined];
  rowLength = 0;
  #arena = 0;
  #capacity = 0;
  /** What `copy` took last for each kind of result: a view costs as much as the copy of a small result. */
  readonly #views: (Float32Array | undefined)[] = [];
  // A net only: nobody can say when, or whether, a collector runs.
  readonly #registry =
    typeof FinalizationRegistry === "function" ? new FinalizationRegistry<Handle>((handle) => handle.release()) : null;

  constructor(native: NativeModule) {
    this.native = native;
    this.layerForward = native.layerForward;
    this.blockForward = native.blockForward;
    this.attention = native.attention;
    this.words = native.words() >>> 2; // >>>: addresses above 2 GiB come as unsigned or negative numbers
    native.takeRows = (kind, first, count, address) => {
      this.refresh();
      const start = address >>> 2;
      const rows = this.f32.subarray(start, start + count * this.rowLength);
      this.rowTargets[kind]?.set(rows, first * this.rowLength);
    };
    this.#takeViews();
  }

  /** Takes the views again after the memory has grown: the old ones are detached and have length 0. */
  refresh(): void {
    if (this.f32.length === 0) this.#takeViews();
  }

  #takeViews(): void {
    const { native } = this;
    this.u8 = native.HEAPU8;
    this.u32 = native.HEAPU32;
    this.i32 = native.HEAP32;
    this.f32 = native.HEAPF32;
  }

  get bytes(): number {
    this.refresh();
    return this.u8.length;
  }

  /** The arena's address, at least so many bytes long. It only grows, and growing loses what it held. */
  reserve(argument: string, bytes: number): number {
    if (bytes > this.#capacity) this.#grow(argument, bytes);
    this.refresh();
    return this.#arena;
  }

  #grow(argument: string, bytes: number): void {
    checkMemory(argument, "inputs and results", bytes);
    // Whole pages, so that decoding, whose results grow by a key a step, does not grow the arena every time.
    const pages = Math.min(Math.ceil(bytes / PAGE) * PAGE, MAX_BYTES);
    this.#arena = this.native.reserve(pages) >>> 0;
    this.#capacity = this.#arena === 0 ? 0 : pages; // the module gave the old arena back first
    if (this.#arena === 0) throw outOfMemory(argument, "inputs and results", bytes);
  }

  /** Copies numbers to a byte address and returns it. */
  write(address: number, data: Float32Array): number {
    const { f32 } = this;
    const start = address >>> 2;
    const { length } = data;
    if (length > LOOP_LENGTH) f32.set(data, start);
    else for (let i = 0; i < length; ++i) f32[start + i] = data[i] as number;
    return address;
  }

  /** Copies numbers from a byte address until `to` is full. */
  read(address: number, to: Float32Array): void {
    const { f32 } = this;
    const start = address >>> 2;
    const { length } = to;
    if (length > LOOP_LENGTH) to.set(f32.subarray(start, start + length));
    else for (let i = 0; i < length; ++i) to[i] = f32[start + i] as number;
  }

  /**
   * A new array with so many numbers from a byte address; `kind` is a small number per kind of result. The engine makes
   * it without clearing it first, which lets its allocator take a shorter way.
   */
  copy(kind: number, address: number, length: number): Float32Array {
    let view = this.#views[kind];
    // A view of a memory that has grown since has length 0.
    if (view === undefined || view.length !== length || view.byteOffset !== address) {
      const start = address >>> 2;
      view = this.f32.subarray(start, start + length);
      this.#views[kind] = view;
    }
    return new Float32Array(view);
  }

  /** Ties a native object to its owner. Without `destroy` the owner is counted and nothing else. */
  own(owner: object, value: number, destroy: DestroyName | undefined): Handle {
    const handle = new Handle(this, value, destroy);
    this.liveObjects += 1;
    this.#registry?.register(owner, handle, handle);
    return handle;
  }

  /** Destroys a native object now. */
  release(handle: Handle): void {
    this.#registry?.unregister(handle);
    handle.release();
  }
}

// Areas of the arena start at multiples of 16 bytes and are counted in these units. Sizes are plain numbers, exact beyond
// 2^53 / 4, so a sum that is too large is found out when it is reserved.

/** Units for so many floats. */
export function floatArea(length: number): number {
  return length < 2 ** 31 ? (length + 3) >>> 2 : Math.ceil(length / 4);
}

/** Units for so many bytes. */
export function byteArea(length: number): number {
  return length < 2 ** 31 ? (length + 15) >>> 4 : Math.ceil(length / 16);
}
