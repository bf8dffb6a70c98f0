/** A layer as JSON, in the form that the elements' `src` reads: { tokens, weights: { shape, data } }. */

import type { AttentionView } from "../../elements/attention-view.js";
import { floatJson } from "./float-text.js";
import { tokenText } from "./token-text.js";

export function toJson(view: AttentionView, meta: Readonly<Record<string, unknown>>): string {
  const [tokens, keyTokens] = [view.queryTexts, view.keyTexts].map((texts) => JSON.stringify(texts.map(tokenText)));
  const shape = [view.heads, view.queries, view.keys];
  const parts = [`"tokens": ${tokens}`];
  if (keyTokens !== tokens) parts.push(`"keyTokens": ${keyTokens}`);
  // Written by hand: a float32 in its shortest form is half as long as the double that JSON.stringify sees.
  parts.push(`"weights": { "shape": ${JSON.stringify(shape)}, "data": [${Array.from(view.weights, floatJson)}] }`);
  parts.push(`"meta": ${JSON.stringify(meta)}`);
  return `{\n  ${parts.join(",\n  ")}\n}\n`;
}
