import { Tokenizer } from "@huggingface/tokenizers";
import { type Around, CONTROL, type GgufVocabulary } from "./gguf-vocabulary.js";
import type { Spelling } from "./piece-bytes.js";
import type { AddedToken, PieceRules } from "./pieces.js";

// What byte-pairs.ts does not do itself: the library for everything that a tokenizer.json may say, and the other kinds of
// GGUF files (llama.cpp's llama-vocab.cpp and its converters) as a tokenizer.json would describe them.

/** What is used of a tokenizer.json. */
export interface TokenizerJson {
  readonly added_tokens: readonly AddedToken[];
  readonly normalizer: unknown;
  readonly pre_tokenizer: unknown;
  readonly post_processor: unknown;
  readonly decoder: unknown;
  readonly model: {
    readonly type?: string;
    readonly continuing_subword_prefix?: string | null;
    readonly unk_token?: string | null;
  };
}

/** The parts of the library's tokenizer, one after the other: it has no offsets, and always reads typed marks as marks. */
interface Parts {
  readonly normalizer: ((text: string) => string) | null;
  readonly pre_tokenizer: ((text: string, options: { section_index: number }) => string[]) | null;
  readonly model: ((words: readonly string[]) => string[]) & {
    readonly tokens_to_ids: ReadonlyMap<string, number>;
    readonly unk_token: string | null | undefined;
    readonly unk_token_id: number | undefined;
  };
  readonly post_processor: ((tokens: readonly string[], pair: null, special: boolean) => { tokens: string[] }) | null;
}

/** Rules by the library. */
export interface LibraryRules {
  json(json: TokenizerJson): PieceRules;
  /** By tokenizer.ggml.model. */
  readonly gguf: Readonly<Record<"bert" | "llama", (vocabulary: GgufVocabulary) => PieceRules>>;
}

/** A promise, so that a bundler may fetch this file when a model needs it. */
export async function libraryRules(): Promise<LibraryRules> {
  return {
    json: rulesOf,
    gguf: {
      bert: (vocabulary) => rulesOf(wordPieces(vocabulary)),
      llama: (vocabulary) => rulesOf(sentencePieces(vocabulary)),
    },
  };
}

function rulesOf(json: TokenizerJson): PieceRules {
  const { normalizer, pre_tokenizer, model, post_processor } = new Tokenizer(json, {}) as unknown as Parts;
  const probe = "a";
  const around = post_processor?.([probe], null, true).tokens ?? [probe];
  const middle = around.indexOf(probe);
  return {
    added: json.added_tokens,
    normalise: normalizer,
    words: (text, index) => pre_tokenizer?.(text, { section_index: index }) ?? [text],
    pieces: (word) => model([word]),
    ids: model.tokens_to_ids,
    unknown: model.unk_token ?? undefined,
    before: middle < 0 ? [] : around.slice(0, middle),
    after: middle < 0 ? [] : around.slice(middle + 1),
    spelling: spellingOf(json),
    prefix: json.model.continuing_subword_prefix ?? (json.model.type === "WordPiece" ? "##" : ""),
    unigram: json.model.type === "Unigram",
  };
}

/** What the pieces are made of, from what the tokenizer does to a text before. */
function spellingOf({ normalizer, pre_tokenizer, decoder }: TokenizerJson): Spelling {
  const steps = JSON.stringify([normalizer, pre_tokenizer, decoder]);
  if (steps.includes('"ByteLevel"')) return "bytes";
  return steps.includes('"Metaspace"') || steps.includes("▁") ? "metaspace" : "words";
}

/** `pieces` are the tokens as the model knows them. Object.fromEntries: "__proto__" is a piece like any other. */
function idsOf(pieces: readonly string[]): Record<string, number> {
  return Object.fromEntries(pieces.map((piece, id) => [piece, id]));
}

/** Marks before and after a text. */
function template({ before, after }: Around): unknown {
  if (before === undefined && after === undefined) return null;
  const mark = (piece: string | undefined) =>
    piece === undefined ? [] : [{ SpecialToken: { id: piece, type_id: 0 } }];
  const text = { Sequence: { id: "A", type_id: 0 } };
  return {
    type: "TemplateProcessing",
    single: [...mark(before), text, ...mark(after)],
    pair: [],
    special_tokens: {},
  };
}

/** WordPiece. The converter writes ▁ in front of words and takes ## off what continues them. */
function wordPieces(vocabulary: GgufVocabulary): TokenizerJson {
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
    post_processor: template({ before, after }),
    decoder: { type: "WordPiece", prefix: "##", cleanup: true },
    model: {
      type: "WordPiece",
      unk_token: unknown,
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 100,
      vocab: idsOf(pieces),
    } as TokenizerJson["model"],
  };
}

/** SentencePiece's BPE: of all neighbours that make a piece together, those whose piece has the best score merge first. */
function sentencePieces(vocabulary: GgufVocabulary): TokenizerJson {
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
    post_processor: template(vocabulary.beginAndEnd(true)),
    decoder: { type: "ByteFallback" },
    model: {
      type: "BPE",
      unk_token: vocabulary.special("unknown_token_id") ?? "<unk>",
      fuse_unk: true,
      byte_fallback: true,
      vocab: idsOf(vocabulary.tokens),
      merges: merges.map(([left, right]) => [left, right]),
    } as TokenizerJson["model"],
  };
}
