import { describe } from "../describe.js";
import { fileError } from "./file-error.js";
import type { ModelFile } from "./model-tensors.js";
import type { AddedToken } from "./pieces.js";

/** tokenizer.ggml.token_type */
export const CONTROL = 3;
const USER_DEFINED = 4;

/** Marks around a text. */
export interface Around {
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** The keys below `tokenizer.ggml` of a GGUF file. */
export class GgufVocabulary {
  readonly file: ModelFile;
  readonly tokens: readonly string[];
  readonly types: ArrayLike<number>;

  constructor(file: ModelFile) {
    this.file = file;
    this.tokens = this.strings("tokens");
    if (this.tokens.length === 0) throw this.#wrong("tokens", "the pieces of a vocabulary", "an empty array");
    const types = this.#value("token_type");
    this.types = types === undefined ? new Int32Array(this.tokens.length) : this.#numbers("token_type");
  }

  #value(name: string): unknown {
    return this.file.metadata.get(`tokenizer.ggml.${name}`);
  }

  #wrong(name: string, expected: string, actual: string): Error {
    return fileError(this.file.name, `key "tokenizer.ggml.${name}"`, expected, actual);
  }

  strings(name: string): readonly string[] {
    const value = this.#value(name);
    if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value;
    throw this.#wrong(name, "an array of strings", describe(value));
  }

  #numbers(name: string): ArrayLike<number> {
    const value = this.#value(name);
    const list = ArrayBuffer.isView(value) && "length" in value ? (value as unknown as ArrayLike<number>) : undefined;
    if (list?.length === this.tokens.length) return list;
    throw this.#wrong(name, `${this.tokens.length} numbers, one per token`, describe(value));
  }

  get scores(): ArrayLike<number> {
    return this.#numbers("scores");
  }

  flag(name: string, fallback: boolean): boolean {
    const value = this.#value(name) ?? fallback;
    if (typeof value === "boolean") return value;
    throw this.#wrong(name, "true or false", describe(value));
  }

  text(name: string): string | undefined {
    const value = this.#value(name);
    if (value === undefined || typeof value === "string") return value;
    throw this.#wrong(name, "a string", describe(value));
  }

  /** The piece that the first of some keys names by its id. */
  special(...names: readonly string[]): string | undefined {
    for (const name of names) {
      const id = this.#value(name);
      if (id === undefined) continue;
      const piece = typeof id === "number" ? this.tokens[id] : undefined;
      if (piece === undefined) throw this.#wrong(name, `a number below ${this.tokens.length}`, describe(id));
      return piece;
    }
    return undefined;
  }

  added(): AddedToken[] {
    return this.tokens.flatMap((content, id) => {
      const type = this.types[id];
      if (content === "" || (type !== CONTROL && type !== USER_DEFINED)) return [];
      return [{ id, content, special: type === CONTROL, lstrip: false, rstrip: false, normalized: false }];
    });
  }

  /** Marks at the beginning and the end of a text, where the file says so. */
  beginAndEnd(bos: boolean): Around {
    return {
      before: this.flag("add_bos_token", bos) ? this.special("bos_token_id") : undefined,
      after: this.flag("add_eos_token", false) ? this.special("eos_token_id") : undefined,
    };
  }
}
