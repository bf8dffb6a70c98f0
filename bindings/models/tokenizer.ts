import { checkObject } from "../check.js";
import { describe } from "../describe.js";
import { HeadscopeError } from "../errors.js";
import { ggufTokenizer } from "./gguf-tokenizer.js";
import type { ModelFile } from "./model-tensors.js";
import { PieceTokenizer, type TokenizerJson } from "./pieces.js";
import { parseJson } from "./settings.js";
import type { TextTokenizer } from "./token.js";

/**
 * The tokenizer of a model: the caller's tokenizer.json, else what the GGUF file says. Made when it is first used, as a
 * vocabulary takes a moment.
 *
 * @param given checked at once, as far as it can be without that moment
 */
export function readTokenizer(file: ModelFile, given: unknown): () => TextTokenizer {
  const json = given === undefined ? undefined : checkTokenizer(given);
  let tokenizer: TextTokenizer | undefined;
  return () => {
    tokenizer ??= make(json ?? fromFile(file));
    return tokenizer;
  };
}

function fromFile(file: ModelFile): TokenizerJson {
  if (file.format === "gguf") return ggufTokenizer(file);
  const message = `${file.name}: safetensors files hold no tokenizer; give the model's tokenizer.json as options.tokenizer`;
  throw new HeadscopeError("unsupported", message, { argument: "options.tokenizer" });
}

const ARGUMENT = "options.tokenizer";
const MODELS = ["BPE", "WordPiece", "Unigram"];

function checkTokenizer(given: unknown): TokenizerJson {
  const value = typeof given === "string" ? parseJson(ARGUMENT, given) : given;
  const json = checkObject(ARGUMENT, value, "the model's tokenizer.json, as an object");
  const { model, added_tokens = [] } = json;
  if (typeof model !== "object" || model === null || !Array.isArray(added_tokens)) {
    const message = `${ARGUMENT}: expected a tokenizer.json, got an object without its model`;
    throw new HeadscopeError("format", message, { argument: ARGUMENT });
  }
  const { type } = model as { type?: unknown };
  if (type !== undefined && type !== null && !MODELS.includes(type as string)) {
    const message = `${ARGUMENT}.model.type: expected one of ${MODELS.join(", ")}, got ${describe(type)}`;
    throw new HeadscopeError("unsupported", message, { argument: `${ARGUMENT}.model.type` });
  }
  const parts = { normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null };
  return { ...parts, ...json, added_tokens } as unknown as TokenizerJson;
}

function make(json: TokenizerJson): TextTokenizer {
  try {
    return new PieceTokenizer(json);
  } catch (cause) {
    if (cause instanceof HeadscopeError) throw cause;
    const said = cause instanceof Error ? cause.message : String(cause);
    const message = `${ARGUMENT}: expected a tokenizer that can be made, got "${said}"`;
    throw new HeadscopeError("unsupported", message, { argument: ARGUMENT, cause });
  }
}
