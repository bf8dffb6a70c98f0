import { HeadscopeError } from "../errors.js";
import type { Handle, Heap } from "../heap.js";
import { type BlockPart, loadBlock } from "./block.js";
import type { ModelPlan } from "./plan.js";
import { StoredParts } from "./stored-parts.js";
import type { TensorPart, TensorReader } from "./tensor-file.js";

/** A native object and whether it stays when its user is done. */
export interface Borrowed {
  readonly native: number;
  /** Destroys it now, where it is not kept. */
  readonly done: () => void;
}

/** A native block, which may hold more than was asked for. */
export interface BorrowedBlock extends Borrowed {
  readonly part: BlockPart;
}

interface KeptBlock {
  readonly part: BlockPart;
  readonly handle: Handle;
}

const MORE: Readonly<Record<BlockPart, number>> = { heads: 0, attention: 1, whole: 2 };

/** Reads weights when they are needed and lets them go again, except where they are to be kept. */
export class Weights {
  readonly heap: Heap;
  readonly file: TensorReader;
  readonly plan: ModelPlan;
  readonly #owner: object;
  readonly #blocks = new Map<number, KeptBlock>();
  readonly #linears = new Map<string, Handle>();
  /** Rows and vectors, decoded: small beside the matrices. */
  readonly #vectors = new Map<string, Float32Array>();
  #disposed = false;

  constructor(heap: Heap, file: TensorReader, plan: ModelPlan, owner: object) {
    this.heap = heap;
    this.file = file;
    this.plan = plan;
    this.#owner = owner;
  }

  checkAlive(): void {
    if (this.#disposed) throw new HeadscopeError("disposed", "the model was disposed", { argument: "this" });
  }

  async block(layer: number, part: BlockPart, keep: boolean, signal: AbortSignal | undefined): Promise<BorrowedBlock> {
    const before = this.#blocks.get(layer);
    if (before !== undefined && MORE[before.part] >= MORE[part]) return keptBlock(before);
    const { heap, file, plan } = this;
    const blockPlan = plan.blocks[layer] as ModelPlan["blocks"][number];
    const native = await this.#whileAlive(loadBlock(heap, file, plan, blockPlan, part, signal), "blockDestroy");
    const handle = heap.own(this.#owner, native, "blockDestroy");
    if (!keep) return { native, part, done: () => heap.release(handle) };
    const other = this.#blocks.get(layer); // of another run, which was faster
    if (other !== undefined) {
      if (MORE[other.part] >= MORE[part]) {
        heap.release(handle);
        return keptBlock(other);
      }
      heap.release(other.handle);
    }
    const block = { part, handle };
    this.#blocks.set(layer, block);
    return keptBlock(block);
  }

  /** A linear under a name of the caller's. */
  async linear(name: string, keep: boolean, load: () => Promise<number>): Promise<Borrowed> {
    const before = this.#linears.get(name);
    if (before !== undefined) return kept(before);
    const { heap } = this;
    const native = await this.#whileAlive(load(), "linearDestroy");
    const handle = heap.own(this.#owner, native, "linearDestroy");
    if (!keep) return { native, done: () => heap.release(handle) };
    const other = this.#linears.get(name);
    if (other !== undefined) {
      heap.release(handle);
      return kept(other);
    }
    this.#linears.set(name, handle);
    return kept(handle);
  }

  /** What was loaded while somebody disposed of the model is destroyed at once. */
  async #whileAlive(loading: Promise<number>, destroy: "blockDestroy" | "linearDestroy"): Promise<number> {
    const native = await loading;
    if (this.#disposed) {
      this.heap.native[destroy](native);
      this.checkAlive();
    }
    return native;
  }

  /** Small parts as float32, read together. */
  async vectors(
    wanted: readonly TensorPart[],
    keep: boolean,
    signal: AbortSignal | undefined,
  ): Promise<readonly Float32Array[]> {
    const keys = wanted.map(({ name, rows }) => `${rows === undefined ? "" : rows.join("-")} ${name}`);
    const parts = new StoredParts();
    const places = wanted.map(({ name, rows }, i) =>
      this.#vectors.has(keys[i] as string) ? undefined : parts.ask(name, rows),
    );
    await parts.read(this.file, { signal });
    this.checkAlive();
    return places.map((place, i) => {
      const key = keys[i] as string;
      const values = place === undefined ? this.#vectors.get(key) : this.file.decode(parts.get(place));
      if (keep && place !== undefined) this.#vectors.set(key, values as Float32Array);
      return values as Float32Array;
    });
  }

  dispose(): void {
    this.#disposed = true;
    for (const { handle } of this.#blocks.values()) this.heap.release(handle);
    for (const handle of this.#linears.values()) this.heap.release(handle);
    this.#blocks.clear();
    this.#linears.clear();
    this.#vectors.clear();
    this.file.dispose();
  }
}

function keptBlock({ part, handle }: KeptBlock): BorrowedBlock {
  return { ...kept(handle), part };
}

function kept(handle: Handle): Borrowed {
  return { native: handle.value, done: () => undefined };
}
