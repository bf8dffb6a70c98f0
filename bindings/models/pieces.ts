import { HeadscopeError } from "../errors.js";
import { type NormalisedText, normaliseText } from "./normalised-text.js";
import { pieceBytes, type Spelling, textOfBytes, utf8 } from "./piece-bytes.js";
import type { TextTokenizer, Token, TokenizeOptions } from "./token.js";

export interface AddedToken {
  readonly id: number;
  readonly content: string;
  readonly special?: boolean;
  readonly lstrip?: boolean;
  readonly rstrip?: boolean;
}

/** How a model cuts texts. A vocabulary takes a moment to read, so that these are made when they are first used. */
export interface PieceRules {
  /** Tokens that are found in a text before anything else. */
  readonly added: readonly AddedToken[];
  readonly normalise: ((text: string) => string) | null;
  /** @param index which part this is of a text that added tokens cut */
  readonly words: (text: string, index: number) => string[];
  readonly pieces: (word: string) => readonly string[];
  readonly ids: ReadonlyMap<string, number>;
  readonly unknown: string | undefined;
  /** Marks around every text. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly spelling: Spelling;
  /** What marks pieces that continue a word. */
  readonly prefix: string;
  readonly unigram: boolean;
}

/** A part of the typed text: an added token, or what is between them. */
interface Section {
  readonly start: number;
  readonly text: string;
  readonly added: AddedToken | undefined;
}

/** Tokens with their bytes and places. */
export class PieceTokenizer implements TextTokenizer {
  readonly #rules: PieceRules;
  readonly #added: ReadonlyMap<string, AddedToken>;
  /** Finds added tokens, the longest first: all of them, and those alone that are not marks. */
  readonly #findAll: RegExp | undefined;
  readonly #findOrdinary: RegExp | undefined;

  constructor(rules: PieceRules) {
    this.#rules = rules;
    this.#added = new Map(rules.added.map((token) => [token.content, token]));
    this.#findAll = finder(rules.added);
    this.#findOrdinary = finder(rules.added.filter(({ special }) => special !== true));
  }

  tokenize(text: string, { special = false }: TokenizeOptions): Token[] {
    const tokens: Token[] = this.#rules.before.map((piece) => this.#mark(piece, 0, 0));
    this.#sections(text, special).forEach(({ start, text: part, added }, index) => {
      if (added !== undefined) tokens.push(this.#addedToken(added, start));
      else if (part !== "") tokens.push(...this.#ordinary(part, start, index));
    });
    return [...tokens, ...this.#rules.after.map((piece) => this.#mark(piece, text.length, text.length))];
  }

  #id(piece: string): number {
    const { ids, unknown } = this.#rules;
    const id = this.#added.get(piece)?.id ?? ids.get(piece) ?? (unknown === undefined ? undefined : ids.get(unknown));
    if (id !== undefined) return id;
    const message = `tokenize: the vocabulary has neither ${JSON.stringify(piece)} nor a token for what is unknown`;
    throw new HeadscopeError("format", message, { argument: "tokenizer" });
  }

  #mark(piece: string, start: number, end: number): Token {
    const bytes = new Uint8Array(0);
    return { id: this.#id(piece), piece, text: piece, bytes, start, end, partial: false, special: true };
  }

  #addedToken({ content, id, special = false }: AddedToken, start: number): Token {
    const end = start + content.length;
    return { id, piece: content, text: content, bytes: utf8(content), start, end, partial: false, special };
  }

  #sections(text: string, special: boolean): Section[] {
    const find = special ? this.#findAll : this.#findOrdinary;
    const sections: Section[] = [];
    let at = 0;
    const between = (end: number) => sections.push({ start: at, text: text.slice(at, end), added: undefined });
    for (const match of find === undefined ? [] : text.matchAll(find)) {
      const [content] = match;
      const added = this.#added.get(content.trim()) ?? this.#added.get(content);
      if (added === undefined) continue;
      between(match.index);
      sections.push({ start: match.index + content.indexOf(added.content), text: added.content, added });
      at = match.index + content.length;
    }
    between(text.length);
    // A vocabulary of Unigram holds its marks as ordinary pieces: cut them, so that they are not found whole.
    if (!this.#rules.unigram || special || this.#findAll === undefined) return sections;
    const marks = this.#findAll;
    return sections.flatMap((section) => {
      const cuts = [...section.text.matchAll(marks)].map(({ index }) => index + 1);
      if (section.added !== undefined || cuts.length === 0) return [section];
      const edges = [0, ...cuts, section.text.length];
      return edges.slice(1).map((end, i) => {
        const begin = edges[i] as number;
        return { start: section.start + begin, text: section.text.slice(begin, end), added: undefined };
      });
    });
  }

  /** Text without added tokens: normalised, cut into words, and these into pieces. */
  #ordinary(source: string, offset: number, index: number): Token[] {
    const { normalise, spelling, prefix, ids, unknown } = this.#rules;
    const normalised = normaliseText(source, normalise);
    if (normalised.text === "") return [];
    const places = new Places(normalised, spelling);
    const tokens: Token[] = [];
    for (const word of this.#rules.words(normalised.text, index)) {
      const pieces = this.#rules.pieces(word);
      const spelled = pieces.map((piece) => (piece === unknown ? undefined : pieceBytes(piece, spelling, prefix)));
      const ranges = places.find(pieceBytes(word, spelling, ""), spelled);
      pieces.forEach((made, i) => {
        // Unigram hands out what is unknown as it is.
        const piece = ids.has(made) ? made : (unknown ?? made);
        const { begin, end, own } = ranges[i] as PieceRange;
        const [start, stop] = places.source(begin, end);
        const partial = begin < end && (places.isInside(begin) || places.isInside(end));
        const text = partial ? textOfBytes(own) : source.slice(start, stop);
        const bytes = partial ? own : utf8(text);
        const place = { start: offset + start, end: offset + stop };
        tokens.push({ id: this.#id(piece), piece, text, bytes, ...place, partial, special: false });
      });
    }
    return tokens;
  }
}

/** Bytes of the normalised text that a piece stands for. */
interface PieceRange {
  readonly begin: number;
  readonly end: number;
  /** Those bytes. */
  readonly own: Uint8Array;
}

/** Finds words and pieces in the bytes of a normalised text, from left to right. */
class Places {
  readonly #normalised: NormalisedText;
  readonly #bytes: Uint8Array;
  /** For each byte the UTF-16 unit of its character; −1 inside a character. One more entry for the end. */
  readonly #units: Int32Array;
  #at = 0;

  constructor(normalised: NormalisedText, spelling: Spelling) {
    this.#normalised = normalised;
    const text = spelling === "metaspace" ? normalised.text.replaceAll("▁", " ") : normalised.text;
    this.#bytes = utf8(text);
    this.#units = new Int32Array(this.#bytes.length + 1).fill(-1);
    let byte = 0;
    let unit = 0;
    for (const character of text) {
      this.#units[byte] = unit;
      byte += utf8(character).length;
      unit += character.length;
    }
    this.#units[byte] = unit;
  }

  #isBorder(byte: number): boolean {
    return (this.#units[byte] as number) >= 0;
  }

  /** Whether what is before this byte and what is behind it belong to one typed character. */
  isInside(byte: number): boolean {
    const unit = this.#units[byte] as number;
    if (unit < 0) return true;
    const { starts, ends, text } = this.#normalised;
    if (unit === 0 || unit >= text.length || starts[unit] !== starts[unit - 1] || ends[unit] !== ends[unit - 1])
      return false;
    // Normalisers put spaces around ideographs; and what was put in comes from nowhere.
    return starts[unit] !== ends[unit] && text[unit] !== " " && text[unit - 1] !== " ";
  }

  /** The typed text that encloses these bytes. */
  source(begin: number, end: number): [number, number] {
    const { starts, ends } = this.#normalised;
    let first = begin;
    while (!this.#isBorder(first)) first -= 1;
    let last = end;
    while (!this.#isBorder(last)) last += 1;
    const from = this.#units[first] as number;
    const to = this.#units[last] as number;
    if (from < to) return [starts[from] as number, ends[to - 1] as number];
    const place = from > 0 ? (ends[from - 1] as number) : 0;
    return [place, place];
  }

  find(word: Uint8Array, pieces: readonly (Uint8Array | undefined)[]): PieceRange[] {
    const { begin, end } = this.#word(word);
    this.#at = end;
    // Spaces that the tokenizer put in front are in the first piece, and not in the text.
    let missing = word.length - (end - begin);
    let at = begin;
    return pieces.map((piece, i) => {
      let length = piece?.length ?? this.#unknownLength(pieces.slice(i + 1), at, end);
      const less = Math.min(missing, length);
      missing -= less;
      length -= less;
      const from = Math.min(at, end);
      at = Math.min(from + length, end);
      return { begin: from, end: at, own: this.#bytes.subarray(from, at) };
    });
  }

  /** What is unknown reaches to the next piece that is known. */
  #unknownLength(following: readonly (Uint8Array | undefined)[], at: number, end: number): number {
    const next = following.find((piece) => piece !== undefined && piece.length > 0);
    if (next === undefined) return end - at;
    const found = indexOf(this.#bytes, next, at + 1, end);
    return found < 0 ? end - at : found - at;
  }

  #word(word: Uint8Array): { begin: number; end: number } {
    const bytes = this.#bytes;
    const { length } = bytes;
    if (startsWith(bytes, word, this.#at)) return { begin: this.#at, end: this.#at + word.length };
    let stripped = word;
    while (stripped[0] === SPACE) stripped = stripped.subarray(1);
    if (stripped.length < word.length && startsWith(bytes, stripped, this.#at)) {
      return { begin: this.#at, end: this.#at + stripped.length };
    }
    const found = indexOf(bytes, word, this.#at, length);
    if (found >= 0) return { begin: found, end: found + word.length };
    return { begin: this.#at, end: this.#at };
  }
}

const SPACE = 32;

function startsWith(bytes: Uint8Array, word: Uint8Array, at: number): boolean {
  if (at + word.length > bytes.length) return false;
  for (let i = 0; i < word.length; ++i) if (bytes[at + i] !== word[i]) return false;
  return true;
}

function indexOf(bytes: Uint8Array, word: Uint8Array, from: number, end: number): number {
  for (let at = from; at + word.length <= end; ++at) if (startsWith(bytes, word, at)) return at;
  return -1;
}

function finder(tokens: readonly AddedToken[]): RegExp | undefined {
  if (tokens.length === 0) return undefined;
  const longestFirst = [...tokens].sort((a, b) => b.content.length - a.content.length);
  const alternatives = longestFirst.map(({ content, lstrip, rstrip }) => {
    const escaped = content.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
    return `${lstrip ? "\\s*" : ""}${escaped}${rstrip ? "\\s*" : ""}`;
  });
  return new RegExp(alternatives.join("|"), "g");
}
