import { fileError, quoted } from "./file-error.js";
import type { GgufVocabulary } from "./gguf-vocabulary.js";
import { spellBytes } from "./piece-bytes.js";
import type { PieceRules } from "./pieces.js";

// Byte-level BPE (Radford et al. 2019, section 2.2; Sennrich et al. 2016, algorithm 1) as GGUF files describe it
// (llama.cpp's llama-vocab.cpp). Words are what a pattern finds; in the stand-ins of their bytes those neighbours merge
// first whose merge the file names first, from left to right where it is the same.

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

/** The rules of a file whose tokenizer.ggml.model is "gpt2". */
export function bytePairs(vocabulary: GgufVocabulary): PieceRules {
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
  const ids = new Map(vocabulary.tokens.map((piece, id) => [piece, id]));
  const unknown = vocabulary.special("unknown_token_id");
  const { before, after } = vocabulary.beginAndEnd(rules.bos ?? false);
  const ranks = ranksOf(vocabulary);
  const make = (word: string) => {
    if (rules.wholeWords && ids.has(word)) return [word];
    return merge([...word], ranks).flatMap((piece) => {
      if (ids.has(piece)) return [piece];
      return unknown === undefined ? [] : [unknown];
    });
  };
  // A text that grows under somebody's hands is cut again and again.
  const known = new Map<string, readonly string[]>();
  const piecesOf = (word: string) => {
    let pieces = known.get(word);
    if (pieces !== undefined) return pieces;
    pieces = make(word);
    if (known.size >= KNOWN_WORDS) known.clear();
    if (word.length <= KNOWN_LENGTH) known.set(word, pieces);
    return pieces;
  };
  return {
    added: vocabulary.added(),
    normalise: rules.normalise === undefined ? null : (text) => text.normalize(rules.normalise),
    words: cutter(rules, vocabulary.flag("add_space_prefix", false)),
    pieces: piecesOf,
    ids,
    unknown,
    before: before === undefined ? [] : [before],
    after: after === undefined ? [] : [after],
    spelling: "bytes",
    prefix: "",
    unigram: false,
  };
}

/** So many words are remembered, up to so many bytes. */
const KNOWN_WORDS = 10_000;
const KNOWN_LENGTH = 64;

/** Cuts a text into words, each spelled by its bytes. */
function cutter({ pattern, digits = false }: PreTokenizer, spacePrefix: boolean): PieceRules["words"] {
  // White space as Unicode has it: JavaScript's \s has U+FEFF too, and lacks U+0085.
  const unicode = pattern.replaceAll("\\s", "\\p{White_Space}").replaceAll("\\S", "\\P{White_Space}");
  const find = new RegExp(unicode, "gu");
  const spell = (word: string) => spellBytes(spacePrefix && !word.startsWith(" ") ? ` ${word}` : word);
  return (text) => {
    const parts = digits ? (text.match(/\D+|\d/gu) ?? []) : [text];
    return parts.flatMap((part) => {
      const words: string[] = [];
      let at = 0;
      for (const { 0: word, index } of part.matchAll(find)) {
        words.push(part.slice(at, index), word);
        at = index + word.length;
      }
      words.push(part.slice(at));
      return words.filter((word) => word !== "").map(spell);
    });
  };
}

/** Pieces may hold spaces: the length of the first tells where it ends. */
const pairOf = (left: string, right: string) => `${left.length} ${left}${right}`;

/** The place of each merge in the file's list. */
function ranksOf(vocabulary: GgufVocabulary): Map<string, number> {
  return new Map(
    vocabulary.strings("merges").map((merge, i) => {
      // A piece may itself be or hold a space in some files: the first one behind the first character is the border.
      const border = merge.indexOf(" ", 1);
      if (border < 0) {
        const actual = quoted(merge);
        throw fileError(vocabulary.file.name, 'key "tokenizer.ggml.merges"', `two pieces in merge ${i}`, actual);
      }
      return [pairOf(merge.slice(0, border), merge.slice(border + 1)), i];
    }),
  );
}

/** A number holds a rank and a place in the word: 2^27 merges, 2^26 bytes. */
const PLACES = 2 ** 26;

/** Merges neighbours until no pair has a rank. `pieces` is used up. */
function merge(pieces: string[], ranks: ReadonlyMap<string, number>): string[] {
  const { length } = pieces;
  // The pieces left, linked; a piece is where its first character was.
  const next = Int32Array.from(pieces, (_, i) => i + 1);
  const previous = Int32Array.from(pieces, (_, i) => i - 1);
  /** Rank of each piece with the next one; −1 without. */
  const rank = new Int32Array(length).fill(-1);
  const waiting = new Heap();
  const look = (at: number) => {
    const to = next[at] as number;
    const found = to < length ? ranks.get(pairOf(pieces[at] as string, pieces[to] as string)) : undefined;
    rank[at] = found ?? -1;
    if (found !== undefined) waiting.push(found * PLACES + at);
  };
  for (let at = 0; at < length; ++at) look(at);
  for (let first = waiting.pop(); first !== undefined; first = waiting.pop()) {
    const at = first % PLACES;
    // One of the two has merged meanwhile.
    if (rank[at] !== Math.floor(first / PLACES)) continue;
    const gone = next[at] as number;
    const behind = next[gone] as number;
    pieces[at] += pieces[gone] as string;
    rank[gone] = -1;
    next[at] = behind;
    if (behind < length) previous[behind] = at;
    look(at);
    if (at > 0) look(previous[at] as number);
  }
  const merged: string[] = [];
  for (let at = 0; at < length; at = next[at] as number) merged.push(pieces[at] as string);
  return merged;
}

/** Numbers, the smallest first. */
class Heap {
  readonly #numbers: number[] = [];

  push(number: number): void {
    const numbers = this.#numbers;
    let at = numbers.length;
    for (let above = (at - 1) >> 1; at > 0 && (numbers[above] as number) > number; above = (at - 1) >> 1) {
      numbers[at] = numbers[above] as number;
      at = above;
    }
    numbers[at] = number;
  }

  pop(): number | undefined {
    const numbers = this.#numbers;
    const smallest = numbers[0];
    const last = numbers.pop();
    const { length } = numbers;
    if (last === undefined || length === 0) return smallest;
    let at = 0;
    for (let below = 1; below < length; below = 2 * at + 1) {
      if (below + 1 < length && (numbers[below + 1] as number) < (numbers[below] as number)) below += 1;
      if ((numbers[below] as number) >= last) break;
      numbers[at] = numbers[below] as number;
      at = below;
    }
    numbers[at] = last;
    return smallest;
  }
}
