/** A model's own tokens as the page shows them. */

import type { Token as ModelToken } from "headscope/models";
import { byteMark } from "../../elements/token-label.js";
import type { Token, Tokenization } from "../tokens.js";

/** No token is longer than this on average: what lies further behind is not even looked at. */
const UNITS_PER_TOKEN = 24;

/** A model here or in a worker. */
export interface ModelTokenizer {
  tokenize(text: string): readonly ModelToken[] | Promise<readonly ModelToken[]>;
}

/** The text as far as `limit` tokens go, the model's closing mark included. */
export async function tokenizeFor(model: ModelTokenizer, text: string, limit: number): Promise<Tokenization> {
  let used = beforeHalf(text, limit * UNITS_PER_TOKEN);
  let tokens = await model.tokenize(used);
  while (tokens.length > limit) {
    const closing = tokens[tokens.length - 1]?.special ? 1 : 0;
    used = text.slice(0, (tokens[limit - closing] as ModelToken).start);
    tokens = await model.tokenize(used);
  }
  return { tokens: tokens.map((token) => toToken(token, used)), cutAt: used.length < text.length ? used.length : null };
}

/** At most so many UTF-16 units, never up to the middle of a surrogate pair. */
function beforeHalf(text: string, units: number): string {
  if (text.length <= units) return text;
  return text.slice(0, /[\uD800-\uDBFF]/.test(text.charAt(units - 1)) ? units - 1 : units);
}

/** A piece of a character is shown as that character with the bytes that are its share: `学‹E5 AD›`, `学‹A6›`. */
function toToken({ id, piece, text, start, end, partial, special }: ModelToken, typed: string): Token {
  if (!partial) return { id, text: text === "" ? piece : text, start, end, special };
  const bytes = [...text.matchAll(/<0x([0-9A-F]{2})>/g)].map(([, hex]) => byteMark(Number.parseInt(hex as string, 16)));
  return { id, text: typed.slice(start, end) + bytes.join(""), start, end };
}
