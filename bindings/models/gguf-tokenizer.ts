import { describe } from "../describe.js";
import { fileError, quoted } from "./file-error.js";
import type { ModelFile } from "./model-tensors.js";
import type { TokenizerJson } from "./pieces.js";

// Tokenizers inside GGUF files (llama.cpp's llama-vocab.cpp and its converters), as tokenizer.json would describe them.

/** tokenizer.ggml.token_type */
const CONTROL = 3;
const USER_DEFINED = 4;

const GPT2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
const LLAMA3 =
  "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
const QWEN2 = LLAMA3.replace("\\p{N}{1,3}", "\\p{N}");

interface PreTokenizer {
  readonly pattern: string;
  /** Each digit is a piece of its own before the pattern is looked for. */
  readonly digits?: boolean;
  /** Where the file does not say it. */
  readonly bos?: boolean;
  readonly normalise?: "NFC";
  /** Words that are pieces are not merged together from smaller ones. */
  readonly wholeWords?: boolean;
}

/** By tokenizer.ggml.pre. */
const PRE_TOKENIZERS: Readonly<Record<string, PreTokenizer>> = {
  ...same(["gpt-2", "phi-2", "jina-es", "jina-de", "gigachat", "jina-v2-es", "jina-v2-de", "roberta-bpe"], {
    pattern: GPT2,
  }),
  ...same(["llama3", "llama-v3", "llama-bpe"], { pattern: LLAMA3, bos: true, wholeWords: true }),
  ...same(["qwen2", "deepseek-r1-qwen", "stablelm2"], { pattern: QWEN2, normalise: "NFC" }),
  ...same(["smollm", "starcoder", "refact", "command-r", "codeshell", "exaone"], { pattern: GPT2, digits: true }),
};

function same(names: readonly string[], settings: PreTokenizer): Record<string, PreTokenizer> {
  return Object.fromEntries(names.map((name) => [name, settings]));
}

/** By tokenizer.ggml.model. */
const KINDS: Readonly<Record<string, (vocabulary: Vocabulary) => TokenizerJson>> = {
  gpt2: bytePairs,
  bert: wordPieces,
  llama: sentencePieces,
};

/** The vocabulary and the rules of a GGUF file. */
export function ggufTokenizer(file: ModelFile): TokenizerJson {
  const kind = file.metadata.get("tokenizer.ggml.model");
  if (kind === undefined || kind === "none" || kind === "no_vocab") {
    throw fileError(file.name, 'key "tokenizer.ggml.model"', "the kind of a tokenizer", describe(kind), {
      code: "unsupported",
      hint: "give the model's tokenizer.json as options.tokenizer",
    });
  }
  const rules = typeof kind === "string" && Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  if (rules !== undefined) return rules(new Vocabulary(file));
  throw fileError(file.name, 'key "tokenizer.ggml.model"', Object.keys(KINDS).join(", "), describe(kind), {
    code: "unsupported",
    hint: "give the model's tokenizer.json as options.tokenizer",
  });
}

class Vocabulary {
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

  /** `pieces` are the tokens as the model knows them. Object.fromEntries: "__proto__" is a piece like any other. */
  ids(pieces: readonly string[] = this.tokens): Record<string, number> {
    return Object.fromEntries(pieces.map((piece, id) => [piece, id]));
  }

  added(): TokenizerJson["added_tokens"] {
    return this.tokens.flatMap((content, id) => {
      const type = this.types[id];
      if (content === "" || (type !== CONTROL && type !== USER_DEFINED)) return [];
      return [{ id, content, special: type === CONTROL, lstrip: false, rstrip: false, normalized: false }];
    });
  }

  /** Marks before and after a text. */
  around(before: string | undefined, after: string | undefined): unknown {
    const mark = (piece: string | undefined) =>
      piece === undefined ? [] : [{ SpecialToken: { id: piece, type_id: 0 } }];
    if (before === undefined && after === undefined) return null;
    const text = { Sequence: { id: "A", type_id: 0 } };
    return {
      type: "TemplateProcessing",
      single: [...mark(before), text, ...mark(after)],
      pair: [],
      special_tokens: {},
    };
  }

  /** Marks at the beginning and the end of a text, where the file says so. */
  beginAndEnd(bos: boolean): unknown {
    const before = this.flag("add_bos_token", bos) ? this.special("bos_token_id") : undefined;
    const after = this.flag("add_eos_token", false) ? this.special("eos_token_id") : undefined;
    return this.around(before, after);
  }
}

/** Byte-level BPE. */
function bytePairs(vocabulary: Vocabulary): TokenizerJson {
  const pre = vocabulary.text("pre");
  // Files from before 2024 do not say it, and "default" is what converters wrote who did not know.
  const name = pre === undefined || pre === "default" ? "gpt-2" : pre;
  const rules = Object.hasOwn(PRE_TOKENIZERS, name) ? PRE_TOKENIZERS[name] : undefined;
  if (rules === undefined) {
    const expected = `one of ${Object.keys(PRE_TOKENIZERS).join(", ")}`;
    throw fileError(vocabulary.file.name, 'key "tokenizer.ggml.pre"', expected, quoted(name), {
      code: "unsupported",
      hint: "give the model's tokenizer.json as options.tokenizer",
    });
  }
  const split = { type: "Split", pattern: { Regex: rules.pattern }, behavior: "Isolated", invert: false };
  const digits = { type: "Digits", individual_digits: true };
  return {
    added_tokens: vocabulary.added(),
    normalizer: rules.normalise === undefined ? null : { type: rules.normalise },
    pre_tokenizer: {
      type: "Sequence",
      pretokenizers: [
        ...(rules.digits ? [digits] : []),
        split,
        { type: "ByteLevel", add_prefix_space: vocabulary.flag("add_space_prefix", false), use_regex: false },
      ],
    },
    post_processor: vocabulary.beginAndEnd(rules.bos ?? false),
    decoder: { type: "ByteLevel" },
    model: {
      type: "BPE",
      unk_token: vocabulary.special("unknown_token_id") ?? null,
      ignore_merges: rules.wholeWords ?? false,
      vocab: vocabulary.ids(),
      merges: mergesOf(vocabulary),
    } as TokenizerJson["model"],
  };
}

function mergesOf(vocabulary: Vocabulary): [string, string][] {
  return vocabulary.strings("merges").map((merge, i) => {
    // A piece may itself be or hold a space in some files: the first one behind the first character is the border.
    const border = merge.indexOf(" ", 1);
    if (border < 0) {
      const actual = quoted(merge);
      throw fileError(vocabulary.file.name, 'key "tokenizer.ggml.merges"', `two pieces in merge ${i}`, actual);
    }
    return [merge.slice(0, border), merge.slice(border + 1)];
  });
}

/** WordPiece. The converter writes ▁ in front of words and takes ## off what continues them. */
function wordPieces(vocabulary: Vocabulary): TokenizerJson {
  const unknown = vocabulary.special("unknown_token_id") ?? "[UNK]";
  const isMark = (piece: string, id: number) =>
    vocabulary.types[id] === CONTROL || piece === unknown || /^\[.+\]$/.test(piece);
  const pieces = vocabulary.tokens.map((piece, id) => {
    if (isMark(piece, id)) return piece;
    return piece.startsWith("▁") ? piece.slice(1) : `##${piece}`;
  });
  // Nothing in the file says whether capitals matter, but a vocabulary that has them shows it.
  const lowercase = !vocabulary.tokens.some((piece, id) => /^▁[A-Z]/.test(piece) && !isMark(piece, id));
  const before = vocabulary.flag("add_bos_token", true)
    ? vocabulary.special("cls_token_id", "bos_token_id")
    : undefined;
  const after = vocabulary.flag("add_eos_token", true)
    ? vocabulary.special("seperator_token_id", "sep_token_id", "eos_token_id")
    : undefined;
  const marks = new Set([before, after, unknown, ...vocabulary.tokens.filter(isMark)]);
  return {
    added_tokens: vocabulary.tokens.flatMap((content, id) =>
      marks.has(content) && /^[[<]/.test(content)
        ? [{ id, content, special: true, lstrip: false, rstrip: false, normalized: false }]
        : [],
    ),
    normalizer: {
      type: "BertNormalizer",
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase,
    },
    pre_tokenizer: { type: "BertPreTokenizer" },
    post_processor: vocabulary.around(before, after),
    decoder: { type: "WordPiece", prefix: "##", cleanup: true },
    model: {
      type: "WordPiece",
      unk_token: unknown,
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 100,
      vocab: vocabulary.ids(pieces),
    } as TokenizerJson["model"],
  };
}

/** SentencePiece's BPE: of all neighbours that make a piece together, those whose piece has the best score merge first. */
function sentencePieces(vocabulary: Vocabulary): TokenizerJson {
  const { scores, tokens } = vocabulary;
  const ids = new Map(tokens.map((piece, id) => [piece, id]));
  const merges: [left: string, right: string, score: number][] = [];
  ids.forEach((id, piece) => {
    if (vocabulary.types[id] === CONTROL) return;
    const score = scores[id] as number;
    let border = 0;
    for (const character of piece) {
      border += character.length;
      const left = piece.slice(0, border);
      const right = piece.slice(border);
      if (right !== "" && ids.has(left) && ids.has(right)) merges.push([left, right, score]);
    }
  });
  merges.sort((a, b) => b[2] - a[2]);
  const prefix = vocabulary.flag("add_space_prefix", true) ? [{ type: "Prepend", prepend: "▁" }] : [];
  return {
    added_tokens: vocabulary.added(),
    normalizer: {
      type: "Sequence",
      normalizers: [...prefix, { type: "Replace", pattern: { String: " " }, content: "▁" }],
    },
    pre_tokenizer: null,
    post_processor: vocabulary.beginAndEnd(true),
    decoder: { type: "ByteFallback" },
    model: {
      type: "BPE",
      unk_token: vocabulary.special("unknown_token_id") ?? "<unk>",
      fuse_unk: true,
      byte_fallback: true,
      vocab: vocabulary.ids(),
      merges: merges.map(([left, right]) => [left, right]),
    } as TokenizerJson["model"],
  };
}
