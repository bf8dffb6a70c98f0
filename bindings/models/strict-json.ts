/** JSON that is no JSON, or has a key twice. `at` is a position in the text. */
export class JsonError extends Error {
  readonly at: number;

  constructor(expected: string, at: number) {
    super(expected);
    this.at = at;
  }
}

export type Json = null | boolean | number | string | Json[] | Map<string, Json>;

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Objects as Maps, so that no name is special, and keys once only: JSON.parse takes the last of two without a word, and
 * then two readers may see two different files.
 */
export function parseJson(text: string, maxDepth: number): Json {
  let at = 0;

  function match(pattern: RegExp): string | undefined {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  }
  function skipSpace(): void {
    match(SPACE);
  }
  function takes(character: string): boolean {
    skipSpace();
    if (text[at] !== character) return false;
    at += 1;
    return true;
  }
  function string(): string {
    skipSpace();
    const start = at;
    const end = text[start] === '"' ? closingQuote(text, start + 1) : -1;
    if (end < 0) throw new JsonError("a string", start);
    let value: string;
    try {
      value = JSON.parse(text.slice(start, end + 1)) as string; // escapes, and no control characters
    } catch {
      throw new JsonError("a string without control characters and wrong escapes", start);
    }
    if (LONE_SURROGATE.test(value)) throw new JsonError("a string of whole characters", start);
    at = end + 1;
    return value;
  }
  function object(depth: number): Map<string, Json> {
    const entries = new Map<string, Json>();
    if (takes("}")) return entries;
    do {
      skipSpace();
      const start = at;
      const key = string();
      if (entries.has(key)) throw new JsonError(`each key once, not ${JSON.stringify(key)} again`, start);
      if (!takes(":")) throw new JsonError('":"', at);
      entries.set(key, value(depth));
    } while (takes(","));
    if (!takes("}")) throw new JsonError('"," or "}"', at);
    return entries;
  }
  function array(depth: number): Json[] {
    const items: Json[] = [];
    if (takes("]")) return items;
    do items.push(value(depth));
    while (takes(","));
    if (!takes("]")) throw new JsonError('"," or "]"', at);
    return items;
  }
  function value(depth: number): Json {
    skipSpace();
    const character = text[at];
    if (character === "{" || character === "[") {
      if (depth === maxDepth) throw new JsonError(`at most ${maxDepth} levels`, at);
      at += 1;
      return character === "{" ? object(depth + 1) : array(depth + 1);
    }
    if (character === '"') return string();
    const number = match(NUMBER);
    if (number !== undefined) return Number(number);
    const word = match(WORD);
    if (word === undefined) throw new JsonError("a value", at);
    return word === "null" ? null : word === "true";
  }

  const result = value(0);
  skipSpace();
  if (at < text.length) throw new JsonError("the end", at);
  return result;
}

/** The quote that ends a string: the first that has no backslash before it, or an even number of them. */
function closingQuote(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (end - backslashes > from && text[end - backslashes - 1] === "\\") backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return -1;
}
