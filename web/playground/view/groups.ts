/**
 * Rows and columns by token, by character or by word. A token is never cut: a row is the smallest run of tokens that
 * begins and ends where a character (or word) does, so that the byte pieces of one Chinese character become one row and
 * " cat" by character stays one.
 */

import type { Token } from "../tokens.js";

export const rowKinds = ["token", "character", "word"] as const;
export type Rows = (typeof rowKinds)[number];

/** Tokens, by index, that stand in one row; in order, each token once. */
export type Groups = readonly (readonly number[])[];

export function groupTokens(text: string, tokens: readonly Token[], rows: Rows): Groups {
  if (rows === "token") return tokens.map((_, i) => [i]);
  // Behind the last token lies what was cut off, of a book most of it.
  const used = tokens.reduce((most, { end }) => Math.max(most, end), 0);
  const edges = edgesOf(text.slice(0, used), rows);
  const groups: number[][] = [];
  // How far the tokens so far reach: byte pieces of one character all span the whole of it.
  let reach = 0;
  let closed = true;
  for (const [i, { start, end, special }] of tokens.entries()) {
    const last = groups[groups.length - 1];
    if (!special && !closed && last && !edgeBetween(edges, reach, start)) last.push(i);
    else groups.push([i]);
    // A mark of the model's own is nobody's character.
    closed = special === true;
    reach = Math.max(reach, end);
  }
  return groups;
}

/** Whether a row says more than its tokens do one by one. */
export function merges(groups: Groups): boolean {
  return groups.some((group) => group.length > 1);
}

/** What is written at a row: the token's own text, or for several the typed text that they stand for. */
export function groupText(text: string, tokens: readonly Token[], group: readonly number[]): string {
  const members = group.map((i) => tokens[i] as Token);
  if (members.length === 1) return (members[0] as Token).text;
  const start = Math.min(...members.map((token) => token.start));
  const end = Math.max(...members.map((token) => token.end));
  return text.slice(start, end);
}

function edgesOf(text: string, rows: Exclude<Rows, "token">): Set<number> {
  const edges = new Set([0, text.length]);
  if (typeof Intl !== "undefined" && "Segmenter" in Intl) {
    const segmenter = rows === "word" ? { granularity: "word" } : { granularity: "grapheme" };
    for (const { index } of new Intl.Segmenter("zh", segmenter as Intl.SegmenterOptions).segment(text)) {
      edges.add(index);
    }
    return edges;
  }
  // Engines before Intl.Segmenter: letters with their marks; a word is a run of letters and digits, Han by character.
  const parts =
    rows === "word"
      ? /\p{Script=Han}|[\p{L}\p{N}_](?:(?!\p{Script=Han})[\p{L}\p{M}\p{N}_'’])*|[\s\S](?:\p{M}|\u200d|\ufe0f)*/gu
      : /\r\n|[\s\S](?:\p{M}|\u200d|\ufe0f)*/gu;
  for (const { index } of text.matchAll(parts)) edges.add(index);
  return edges;
}

/** Some edge lies at `from` or behind it, up to `to`: text that belongs to no token lies between the two. */
function edgeBetween(edges: ReadonlySet<number>, from: number, to: number): boolean {
  for (let at = from; at <= to; at++) if (edges.has(at)) return true;
  return false;
}
