import { HeadscopeError } from "../errors.js";
import type { ModelFile } from "./model-tensors.js";
import type { Token } from "./token.js";

export interface TokenizeOptions {
  /** true: marks that are typed out (`[CLS]`, `<|endoftext|>`) are the marks themselves. Default false: they are text. */
  readonly special?: boolean | undefined;
}

export interface TextTokenizer {
  tokenize(text: string, options: TokenizeOptions): Token[];
}

export function readTokenizer(file: ModelFile, given: unknown): () => TextTokenizer {
  void given;
  return () => {
    throw new HeadscopeError("unsupported", `${file.name}: no tokenizer`);
  };
}
