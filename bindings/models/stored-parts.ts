import type { ReadOptions } from "./byte-source.js";
import type { StoredPart, TensorPart, TensorReader } from "./tensor-file.js";

/** Collects what is needed of a file and reads it together, a part that is asked for twice only once. */
export class StoredParts {
  readonly #parts: TensorPart[] = [];
  readonly #places = new Map<string, number>();
  #read: readonly StoredPart[] = [];

  /** Asks for rows `[begin, end)` of a tensor's first axis, or for all of it, and answers its number. */
  ask(name: string, rows?: readonly [number, number]): number {
    const key = `${rows === undefined ? "" : rows.join("-")} ${name}`;
    let place = this.#places.get(key);
    if (place === undefined) {
      place = this.#parts.push({ name, rows }) - 1;
      this.#places.set(key, place);
    }
    return place;
  }

  async read(file: TensorReader, options: ReadOptions): Promise<void> {
    this.#read = await file.readStored(this.#parts, options);
  }

  get(place: number): StoredPart {
    return this.#read[place] as StoredPart;
  }
}
