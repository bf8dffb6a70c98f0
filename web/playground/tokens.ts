/**
 * Text into tokens for sources that have no tokenizer of their own: words with the space before them, as GPT-style
 * tokenizers cut, and Chinese by character or by word. Never inside a grapheme: an emoji family, a flag or a letter
 * with its combining marks stays whole.
 */

export type Unit = "character" | "word";

export interface Token {
  readonly text: string;
  /** UTF-16 offsets in the text. */
  readonly start: number;
  readonly end: number;
  /** Equal for copies of one word, whatever its case and the space before it. */
  readonly id: number;
  /** A mark of the model's own that nobody typed, such as [CLS]. */
  readonly special?: boolean;
}

export interface Tokenization {
  readonly tokens: readonly Token[];
  /** Set when the text goes on after the last token: how many UTF-16 units were used. */
  readonly cutAt: number | null;
}

/** Above this the tail is not even looked at, so that a pasted book costs no more than a page. */
const MAX_UNITS = 32_768;
/** A "word" longer than this is cut: no label could hold it. */
const MAX_WORD = 48;

// Scripts written without spaces: by character unless words are asked for.
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** Whether it makes a difference how scripts without spaces are cut. */
export function hasUnspaced(text: string): boolean {
  return UNSPACED.test(text);
}

const SPACE = /^\s+$/u;

interface Piece {
  readonly text: string;
  readonly start: number;
}

export function tokenize(text: string, unit: Unit, limit: number): Tokenization {
  let source = text;
  if (source.length > MAX_UNITS) {
    // Not between the two halves of a surrogate pair.
    const half = /[\uD800-\uDBFF]/.test(source.charAt(MAX_UNITS - 1));
    source = source.slice(0, half ? MAX_UNITS - 1 : MAX_UNITS);
  }
  const tokens: Token[] = [];
  const ids = new Map<string, number>();
  const push = (start: number, end: number) => {
    const piece = source.slice(start, end);
    const word = wordOf(piece);
    let id = ids.get(word);
    if (id === undefined) {
      id = ids.size;
      ids.set(word, id);
    }
    tokens.push({ text: piece, start, end, id });
  };
  let pendingSpace = -1;
  let seen = 0;
  for (const { text: piece, start } of pieces(source, unit)) {
    if (tokens.length >= limit) break;
    if (piece === " ") {
      if (pendingSpace >= 0) push(pendingSpace, start);
      pendingSpace = start;
      seen = start + 1;
      continue;
    }
    // A space belongs to the word after it; before a line break or another kind of space it stands alone.
    const joins = pendingSpace >= 0 && !SPACE.test(piece);
    if (pendingSpace >= 0 && !joins) {
      push(pendingSpace, start);
      if (tokens.length >= limit) {
        seen = start;
        break;
      }
    }
    push(joins ? pendingSpace : start, start + piece.length);
    pendingSpace = -1;
    seen = start + piece.length;
  }
  if (pendingSpace >= 0 && tokens.length < limit) push(pendingSpace, pendingSpace + 1);
  const last = tokens[tokens.length - 1];
  const used = Math.min(seen, last ? last.end : 0);
  return {
    tokens,
    cutAt: tokens.length >= limit && used < text.length ? used : source.length < text.length ? source.length : null,
  };
}

/** What two copies of a word have in common: letters in lower case, composed, without the space before them. */
export function wordOf(text: string): string {
  const bare = text.startsWith(" ") && text.length > 1 ? text.slice(1) : text;
  return bare.normalize("NFC").toLowerCase();
}

function* pieces(text: string, unit: Unit): Generator<Piece> {
  if (typeof Intl === "undefined" || !("Segmenter" in Intl)) {
    yield* piecesWithoutSegmenter(text, unit);
    return;
  }
  const words = new Intl.Segmenter("zh", { granularity: "word" });
  const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });
  for (const { segment, index } of words.segment(text)) {
    const split = SPACE.test(segment) || (unit === "character" && UNSPACED.test(segment));
    if (!split && segment.length <= MAX_WORD) {
      yield { text: segment, start: index };
      continue;
    }
    let start = index;
    let run = "";
    for (const { segment: grapheme } of graphemes.segment(segment)) {
      if (split) {
        yield { text: grapheme, start };
        start += grapheme.length;
        continue;
      }
      if (run && run.length + grapheme.length > MAX_WORD) {
        yield { text: run, start };
        start += run.length;
        run = "";
      }
      run += grapheme;
    }
    if (run) yield { text: run, start };
  }
}

/** Engines before Intl.Segmenter (Firefox 125): letters with their marks, numbers, everything else by code point. */
function* piecesWithoutSegmenter(text: string, unit: Unit): Generator<Piece> {
  const words = /\r\n|[\p{L}\p{N}_](?:[\p{L}\p{M}\p{N}_'’]|\u200c|\u200d)*|[\s\S](?:\p{M}|\u200d|\ufe0f)*/gu;
  const characters = /[\s\S]\p{M}*/gu;
  for (const match of text.matchAll(words)) {
    if (unit === "character" && UNSPACED.test(match[0])) {
      for (const one of match[0].matchAll(characters)) yield { text: one[0], start: match.index + one.index };
    } else {
      for (let at = 0; at < match[0].length; at += MAX_WORD) {
        yield { text: match[0].slice(at, at + MAX_WORD), start: match.index + at };
      }
    }
  }
}
