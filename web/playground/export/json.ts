/** A layer as JSON, in the form that the elements' `src` reads: { tokens, weights: { shape, data }, masked? }. */

import type { AttentionView } from "../../elements/attention-view.js";
import { isHidden } from "../../elements/attention-view.js";
import { floatJson } from "./float-text.js";
import { tokenText } from "./token-text.js";

export function toJson(view: AttentionView, meta: Readonly<Record<string, unknown>>): string {
  const [tokens, keyTokens] = [view.queryTexts, view.keyTexts].map((texts) => JSON.stringify(texts.map(tokenText)));
  const shape = [view.heads, view.queries, view.keys];
  const parts = [`"tokens": ${tokens}`];
  if (keyTokens !== tokens) parts.push(`"keyTokens": ${keyTokens}`);
  // Written by hand: a float32 in its shortest form is half as long as the double that JSON.stringify sees.
  parts.push(`"weights": { "shape": ${JSON.stringify(shape)}, "data": [${Array.from(view.weights, floatJson)}] }`);
  const masked = maskOf(view);
  if (masked.includes(1)) parts.push(`"masked": [${masked}]`);
  parts.push(`"meta": ${JSON.stringify(meta)}`);
  return `{\n  ${parts.join(",\n  ")}\n}\n`;
}

/** [T, S] where all heads see the same keys, else [H, T, S]; 1 = hidden. */
function maskOf(view: AttentionView): number[] {
  const { heads, queries, keys } = view;
  const area = queries * keys;
  const cells = Array.from({ length: heads * area }, (_, i) => {
    const [head, query, key] = [Math.floor(i / area), Math.floor(i / keys) % queries, i % keys];
    return isHidden(view, head, query, key) ? 1 : 0;
  });
  const one = cells.slice(0, area);
  return cells.every((cell, i) => cell === one[i % area]) ? one : cells;
}
