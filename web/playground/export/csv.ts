/** One head as a table of comma-separated values (RFC 4180), a row for each query and key. */

import type { AttentionView } from "../../elements/attention-view.js";
import { cellIndex, isHidden, weightAt } from "../../elements/attention-view.js";
import { floatText } from "./float-text.js";
import { tokenText } from "./token-text.js";

/** Spreadsheets take UTF-8 for it only when it is marked. */
const MARK = "\ufeff";
const HEADINGS = ["layer", "head", "query", "key", "query_token", "key_token", "visible", "weight"];

export function toCsv(view: AttentionView, layer: number, head: number): string {
  const [queries, keys] = [view.queryTexts, view.keyTexts].map((texts) => texts.map((text) => field(tokenText(text))));
  const scored = view.scores !== null;
  const lines = [[...HEADINGS, ...(scored ? ["score"] : [])].join(",")];
  for (let query = 0; query < view.queries; query++) {
    for (let key = 0; key < view.keys; key++) {
      const hidden = isHidden(view, head, query, key);
      const cells = [layer, head, query, key, queries?.[query], keys?.[key], hidden ? 0 : 1];
      const score = scored ? `,${number(view.scores?.[cellIndex(view, head, query, key)] as number)}` : "";
      lines.push(`${cells.join(",")},${number(weightAt(view, head, query, key))}${score}`);
    }
  }
  return `${MARK}${lines.join("\r\n")}\r\n`;
}

/**
 * A spreadsheet computes a cell that starts with one of these, quoted or not: `=HYPERLINK(…)` typed as a text would be a
 * link in somebody's table. Their full-width forms count too, and space before them may be trimmed.
 */
const FORMULA = /^(?:\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n'])/;

/**
 * Text in quotes. What a spreadsheet would compute gets an apostrophe before it, and so does a leading apostrophe: taking
 * one away from every text that starts with one gives the text back.
 */
export function field(text: string): string {
  return `"${FORMULA.test(text) ? "'" : ""}${text.replaceAll('"', '""')}"`;
}

/** Empty where there is none: a score of −Infinity is a key that is not seen. */
function number(value: number): string {
  return Number.isFinite(value) ? floatText(value) : "";
}
