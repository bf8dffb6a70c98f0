/** <number-table>: the weights of one head as a real table, whole for a short text and one query at a time for a long one. */

import { compose, say } from "../i18n/index.js";
import type { AttentionView, Spot } from "./attention-view.js";
import { cellIndex, isHidden, weightAt } from "./attention-view.js";
import { el } from "./dom.js";
import { formatSigned, formatWeight } from "./format.js";
import { tokenNode } from "./token-label.js";

export interface NumberTableState {
  readonly view: AttentionView;
  readonly head: number;
  readonly spot: Spot | null;
  /** The layer's output, shown where it is narrow enough to read. */
  readonly output: { readonly data: Float32Array; readonly shape: readonly number[] } | null;
}

const WHOLE_UP_TO = 32;
const OUTPUT_UP_TO = 16;

export class NumberTable extends HTMLElement {
  update({ view, head, spot, output }: NumberTableState): void {
    const whole = view.queries <= WHOLE_UP_TO && view.keys <= WHOLE_UP_TO;
    const parts: HTMLElement[] = [whole ? wholeTable(view, head, spot) : rowTable(view, head, spot?.query ?? 0)];
    if (!whole) parts.push(el("p", { class: "soft" }, say("numbers.long", { limit: WHOLE_UP_TO })));
    if (output && (output.shape[1] as number) <= OUTPUT_UP_TO) parts.push(outputTable(view, output));
    this.replaceChildren(...parts.map((part) => (part instanceof HTMLTableElement ? scroller(part) : part)));
  }
}

// Wide tables scroll inside their own box, reachable by keyboard; the page itself never scrolls sideways.
function scroller(table: HTMLTableElement): HTMLElement {
  const label = table.caption?.textContent ?? "";
  return el("div", { class: "table-scroll", role: "group", tabindex: 0, "aria-label": label }, table);
}

function wholeTable(view: AttentionView, head: number, spot: Spot | null): HTMLTableElement {
  const top = el("tr", {}, el("th", { class: "axes", scope: "col" }, say("numbers.query")));
  for (let key = 0; key < view.keys; key++) {
    top.append(el("th", { scope: "col", "data-picked": spot?.key === key }, tokenNode(view.keyTexts[key] as string)));
  }
  const body = el("tbody");
  for (let query = 0; query < view.queries; query++) {
    const row = el(
      "tr",
      {},
      el("th", { scope: "row", "data-picked": spot?.query === query }, tokenNode(view.queryTexts[query] as string)),
    );
    for (let key = 0; key < view.keys; key++) {
      const text = formatWeight(weightAt(view, head, query, key), isHidden(view, head, query, key));
      const picked = spot !== null && spot.query === query && spot.key === key;
      row.append(el("td", { "data-query": query, "data-key": key, "data-picked": picked }, text));
    }
    body.append(row);
  }
  return el("table", {}, el("caption", {}, say("numbers.caption", { head })), el("thead", {}, top), body);
}

function rowTable(view: AttentionView, head: number, query: number): HTMLTableElement {
  const body = el("tbody");
  let sum = 0;
  for (let key = 0; key < view.keys; key++) {
    const hidden = isHidden(view, head, query, key);
    const weight = weightAt(view, head, query, key);
    const score = view.scores?.[cellIndex(view, head, query, key)];
    sum += weight;
    body.append(
      el(
        "tr",
        {},
        el("td", {}, String(key)),
        el("th", { scope: "row" }, tokenNode(view.keyTexts[key] as string)),
        el("td", { "data-query": query, "data-key": key }, formatWeight(weight, hidden)),
        el("td", {}, hidden || score === undefined ? "—" : score.toFixed(4).replace("-", "−")),
      ),
    );
  }
  body.append(
    el(
      "tr",
      { class: "sum" },
      el("td"),
      el("th", { scope: "row" }, say("numbers.sum")),
      el("td", {}, sum.toFixed(4)),
      el("td"),
    ),
  );
  const caption = el("caption");
  caption.append(compose("numbers.row", { query: tokenNode(view.queryTexts[query] as string), head }));
  const headings = (["numbers.position", "numbers.key", "numbers.weight", "numbers.scoreHead"] as const).map((key) =>
    el("th", { scope: "col" }, say(key)),
  );
  return el("table", { class: "long" }, caption, el("thead", {}, el("tr", {}, ...headings)), body);
}

function outputTable(view: AttentionView, output: NonNullable<NumberTableState["output"]>): HTMLTableElement {
  const [rows, columns] = output.shape as [number, number];
  const body = el("tbody");
  for (let r = 0; r < rows; r++) {
    const row = el("tr", {}, el("th", { scope: "row" }, tokenNode(view.queryTexts[r] as string)));
    for (let c = 0; c < columns; c++) row.append(el("td", {}, formatSigned(output.data[r * columns + c] as number)));
    body.append(row);
  }
  const head = el("tr", {}, el("td"));
  for (let c = 0; c < columns; c++) head.append(el("th", { scope: "col" }, String(c)));
  const caption = el("caption", {}, say("numbers.output", { rows, columns }));
  return el("table", { class: "output" }, caption, el("thead", {}, head), body);
}
