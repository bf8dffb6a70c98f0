import { checkObject } from "../check.js";
import { describe } from "../describe.js";
import { HeadscopeError } from "../errors.js";
import { bytePairs } from "./byte-pairs.js";
import { fileError } from "./file-error.js";
import { GgufVocabulary } from "./gguf-vocabulary.js";
import { libraryRules, type TokenizerJson } from "./library-tokenizer.js";
import type { ModelFile } from "./model-tensors.js";
import { type PieceRules, PieceTokenizer } from "./pieces.js";
import { parseJson } from "./settings.js";
import type { TextTokenizer } from "./token.js";

/**
 * The tokenizer of a model: the caller's tokenizer.json, else what the GGUF file says. Made when it is first used, as a
 * vocabulary takes a moment.
 *
 * @param given checked at once, as far as it can be without that moment
 */
export async function readTokenizer(file: ModelFile, given: unknown): Promise<() => TextTokenizer> {
  const rules = given === undefined ? await rulesOfFile(file) : await rulesOfJson(checkTokenizer(given));
  let tokenizer: TextTokenizer | undefined;
  return () => {
    tokenizer ??= make(rules);
    return tokenizer;
  };
}

async function rulesOfJson(json: TokenizerJson): Promise<() => PieceRules> {
  const library = await libraryRules();
  return () => library.json(json);
}

/** What cannot be read is told when somebody asks for tokens: all else of the model can be used. */
async function rulesOfFile(file: ModelFile): Promise<() => PieceRules> {
  if (file.format !== "gguf") {
    const message = `${file.name}: safetensors files hold no tokenizer; give the model's tokenizer.json as options.tokenizer`;
    return () => {
      throw new HeadscopeError("unsupported", message, { argument: "options.tokenizer" });
    };
  }
  const kind = file.metadata.get("tokenizer.ggml.model");
  if (kind === "gpt2") return () => bytePairs(new GgufVocabulary(file));
  if (kind === "bert" || kind === "llama") {
    const library = await libraryRules();
    return () => library.gguf[kind](new GgufVocabulary(file));
  }
  const none = kind === undefined || kind === "none" || kind === "no_vocab";
  const expected = none ? "the kind of a tokenizer" : "gpt2, bert, llama";
  return () => {
    throw fileError(file.name, 'key "tokenizer.ggml.model"', expected, describe(kind), {
      code: "unsupported",
      hint: "give the model's tokenizer.json as options.tokenizer",
    });
  };
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

function make(rules: () => PieceRules): TextTokenizer {
  try {
    return new PieceTokenizer(rules());
  } catch (cause) {
    if (cause instanceof HeadscopeError) throw cause;
    const said = cause instanceof Error ? cause.message : String(cause);
    const message = `${ARGUMENT}: expected a tokenizer that can be made, got "${said}"`;
    throw new HeadscopeError("unsupported", message, { argument: ARGUMENT, cause });
  }
}
