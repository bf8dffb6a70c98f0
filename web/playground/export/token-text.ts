/** Tokens as other programs get them: typed text as it was typed, pieces of a character by their bytes. */

import { labelText } from "../../elements/token-label.js";

// The private plane that byte pieces are kept in within the page; elsewhere nobody would know them.
const BYTE_PIECE = /[\u{10ff00}-\u{10ffff}]/u;

export function tokenText(text: string): string {
  return BYTE_PIECE.test(text) ? labelText(text) : text;
}
