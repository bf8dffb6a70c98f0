import { checkObject, type Properties } from "../check.js";
import { describe } from "../describe.js";
import { HeadscopeError } from "../errors.js";
import { fileError, quoted } from "./file-error.js";
import type { ModelFile } from "./model-tensors.js";
import type { Activation } from "./plan.js";

/** A setting's name in GGUF (behind the architecture) and its names in Hugging Face's config.json, newest first. */
export interface Key {
  readonly gguf?: string | undefined;
  readonly json: readonly string[];
}

/**
 * The settings of a model: GGUF's metadata, or for safetensors, whose files hold none, the config.json that the caller
 * gives. Every failure names the key.
 */
export class Settings {
  readonly #file: ModelFile;
  readonly #prefix: string;
  readonly #config: Properties | undefined;

  /** @param architecture GGUF's name of it, in front of its keys */
  constructor(file: ModelFile, architecture: string, config: Properties | undefined) {
    this.#file = file;
    this.#prefix = architecture;
    this.#config = config;
  }

  get #gguf(): boolean {
    return this.#file.format === "gguf";
  }

  value(key: Key): unknown {
    if (this.#gguf) return key.gguf === undefined ? undefined : this.#file.metadata.get(`${this.#prefix}.${key.gguf}`);
    for (const name of key.json) {
      const value = this.#config?.[name];
      if (value !== undefined && value !== null) return value;
    }
    return undefined;
  }

  /** How messages call a setting. */
  part(key: Key): string {
    return this.#gguf ? `key ${quoted(`${this.#prefix}.${key.gguf}`)}` : `options.config.${key.json[0]}`;
  }

  wrong(key: Key, expected: string, value: unknown, code: "format" | "unsupported" = "format"): HeadscopeError {
    const actual = typeof value === "string" ? quoted(value) : describe(value);
    if (value !== undefined || this.#gguf)
      return fileError(this.#file.name, this.part(key), expected, actual, { code });
    const hint = "safetensors files do not hold the settings: give the model's config.json as options.config";
    return fileError(this.#file.name, this.part(key), expected, "none", { code, hint });
  }

  /** A whole number above 0. */
  count(key: Key, fallback?: number): number {
    const value = this.value(key) ?? fallback;
    if (typeof value === "number" && Number.isInteger(value) && value > 0 && value < 2 ** 31) return value;
    throw this.wrong(key, "a whole number above 0", value);
  }

  /** A count for each block: one number for all of them, or an array. */
  counts(key: Key, blocks: number, fallback?: number): number[] {
    const value = this.value(key);
    const list = Array.isArray(value) || ArrayBuffer.isView(value) ? [...(value as Iterable<unknown>)] : undefined;
    if (list === undefined) return new Array<number>(blocks).fill(this.count(key, fallback));
    if (list.length < blocks) throw this.wrong(key, `a number for each of ${blocks} blocks`, value);
    return list.slice(0, blocks).map((each) => {
      if (typeof each === "number" && Number.isInteger(each) && each > 0) return each;
      throw this.wrong(key, "whole numbers above 0", each, each === 0 ? "unsupported" : "format");
    });
  }

  positive(key: Key, fallback?: number): number {
    const value = this.value(key) ?? fallback;
    if (typeof value === "number" && Number.isFinite(value) && value > 0) return value;
    throw this.wrong(key, "a finite number above 0", value);
  }

  flag(key: Key, fallback: boolean): boolean {
    const value = this.value(key) ?? fallback;
    if (typeof value === "boolean") return value;
    throw this.wrong(key, "true or false", value);
  }

  activation(key: Key, fallback: Activation): Activation {
    const value = this.value(key);
    if (value === undefined) return fallback;
    const known = typeof value === "string" && Object.hasOwn(ACTIVATIONS, value) ? ACTIVATIONS[value] : undefined;
    if (known !== undefined) return known;
    throw this.wrong(key, `one of ${Object.keys(ACTIVATIONS).join(", ")}`, value, "unsupported");
  }

  /** Refuses a setting that changes what the model computes and that nothing here follows. */
  refuse(key: Key, harmless: readonly unknown[]): void {
    const value = this.value(key);
    if (value === undefined || harmless.includes(value)) return;
    throw this.wrong(key, harmless.map((each) => JSON.stringify(each)).join(" or ") || "none", value, "unsupported");
  }
}

const ACTIVATIONS: Readonly<Record<string, Activation>> = {
  gelu_new: "gelu_tanh",
  gelu_pytorch_tanh: "gelu_tanh",
  gelu_fast: "gelu_tanh",
  gelu: "gelu_erf",
  silu: "silu",
  swish: "silu",
  relu: "relu",
};

/** `options.config`: the object, or its text. */
export function readConfig(value: unknown): Properties | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string") return checkObject("options.config", value, "the model's config.json, as an object");
  return checkObject("options.config", parseJson("options.config", value), "a JSON object");
}

/** JSON that the caller gave as text. */
export function parseJson(argument: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new HeadscopeError("format", `${argument}: expected JSON, got text that is none`, { argument, cause });
  }
}
