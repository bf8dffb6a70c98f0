/**
 * A text as the tokenizer's normaliser leaves it (lower case, without accents, NFC, …), and where in the typed text each
 * of its characters comes from.
 */
export interface NormalisedText {
  readonly text: string;
  /** For each UTF-16 unit of it, the beginning and the end of its source. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

/** What a normaliser may put together: a character with its marks, and the letters of a Hangul syllable. */
const UNIT = /[\u1100-\u115f][\u1160-\u11a7][\u11a8-\u11ff]?|[^\p{M}]\p{M}*|\p{M}+/gsu;

/** Normalises unit by unit to learn the lengths; the text is that of the whole, where capitals may depend on neighbours. */
export function normaliseText(source: string, normaliser: ((text: string) => string) | null): NormalisedText {
  const starts: number[] = [];
  const ends: number[] = [];
  const put = (count: number, start: number, end: number) => {
    for (let i = 0; i < count; ++i) {
      starts.push(start);
      ends.push(end);
    }
  };
  let at = 0;
  /** A unit that stays as it is: each of its characters comes from itself. */
  const same = (unit: string) => {
    for (const character of unit) {
      put(character.length, at, at + character.length);
      at += character.length;
    }
  };
  if (normaliser === null) {
    same(source);
    return { text: source, starts, ends };
  }

  const units = source.match(UNIT) ?? [];
  const text = normaliser(source);
  // Some normalisers put a mark in front of every text.
  const mark = normaliser("a").slice(0, -1);
  const prefix = mark !== "" && text.startsWith(mark) ? mark : "";
  const normals = units.map((unit) => {
    const normal = normaliser(unit);
    return prefix !== "" && normal.startsWith(prefix) ? normal.slice(prefix.length) : normal;
  });
  let surplus = prefix.length + normals.reduce((sum, { length }) => sum + length, 0) - text.length;
  put(prefix.length, 0, 0);
  for (const [i, unit] of units.entries()) {
    const normal = normals[i] as string;
    if (normal === unit && text.startsWith(unit, starts.length)) {
      same(unit);
      continue;
    }
    // The whole is shorter than its units: white space was stripped or joined, so it is white space that left.
    const gone = surplus > 0 && normal.trim() === "" ? Math.min(surplus, normal.length) : 0;
    surplus -= gone;
    put(normal.length - gone, at, at + unit.length);
    at += unit.length;
  }
  put(text.length - starts.length, source.length, source.length);
  return { text, starts, ends };
}
