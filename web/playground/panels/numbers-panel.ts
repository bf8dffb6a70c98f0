/** The weights of one head as a real table, sortable: whole for a short text, one query at a time for a long one. */

import type { AttentionView, Spot } from "../../elements/attention-view.js";
import { cellIndex, isHidden, weightAt } from "../../elements/attention-view.js";
import { byId, el, setAttributes } from "../../elements/dom.js";
import { formatSigned, formatWeight } from "../../elements/format.js";
import { labelText, tokenNode } from "../../elements/token-label.js";
import type { MessageKey } from "../../i18n/index.js";
import { compose, language, say } from "../../i18n/index.js";
import type { Scene, Shell } from "../shell.js";
import { on } from "../shell.js";
import type { TableSort } from "../view/table-sort.js";
import { nextSort, parseSort, sortRows } from "../view/table-sort.js";

const WHOLE_UP_TO = 32;
const OUTPUT_UP_TO = 16;

export class NumbersPanel {
  private readonly host = byId("numbers");
  /** What is in the table, apart from the picked cell. */
  private drawn = "";
  private view: AttentionView | null = null;

  constructor(private readonly shell: Shell) {
    on(this.host, "click", (event) => {
      const button = (event.target as Element).closest<HTMLElement>("button[data-sort]");
      if (button) shell.update({ table: nextSort(shell.state.table, button.dataset["sort"] as string) });
    });
  }

  render({ answer, view, head, spot }: Scene): void {
    const { table } = this.shell.state;
    const whole = view.queries <= WHOLE_UP_TO;
    const query = spot?.query ?? 0;
    const stamp = [head, table, language(), whole ? "" : query].join();
    if (this.view !== view || this.drawn !== stamp) {
      const focused = (document.activeElement as HTMLElement | null)?.dataset["sort"];
      this.draw(view, head, query, answer.run.output);
      this.view = view;
      this.drawn = stamp;
      // The table is made anew; who sorts by keyboard goes on where they were.
      if (focused) this.host.querySelector<HTMLElement>(`button[data-sort="${CSS.escape(focused)}"]`)?.focus();
    }
    this.mark(spot);
  }

  private draw(view: AttentionView, head: number, query: number, output: Scene["answer"]["run"]["output"]): void {
    const whole = view.queries <= WHOLE_UP_TO;
    const sort = parseSort(this.shell.state.table);
    const parts: HTMLElement[] = [scroller(whole ? wholeTable(view, head, sort) : rowTable(view, head, query, sort))];
    if (!whole) parts.push(el("p", { class: "soft" }, say("numbers.long", { limit: WHOLE_UP_TO })));
    const shown = output && (output.shape[1] as number) <= OUTPUT_UP_TO && output.shape[0] === view.queries;
    if (shown) parts.push(scroller(outputTable(view, output)));
    this.host.replaceChildren(...parts);
  }

  private mark(spot: Spot | null): void {
    for (const node of this.host.querySelectorAll<HTMLElement>("[data-query], [data-key]")) {
      const { query, key } = node.dataset;
      const on =
        spot !== null &&
        (query === undefined || Number(query) === spot.query) &&
        (key === undefined || Number(key) === spot.key);
      setAttributes(node, { "data-picked": on });
    }
  }
}

// Wide tables scroll inside their own box, reachable by keyboard; the page itself never scrolls sideways.
function scroller(table: HTMLTableElement): HTMLElement {
  const label = table.caption?.textContent ?? "";
  return el("div", { class: "table-scroll", role: "group", tabindex: 0, "aria-label": label }, table);
}

/** The span can stay in sight when the table is scrolled; a caption is as wide as its table. */
function captionOf(words: Node | string): HTMLElement {
  return el("caption", {}, el("span", {}, words));
}

/** A heading that sorts. */
function heading(column: string, sort: TableSort, label: Node | string, extra: Record<string, string | number> = {}) {
  const here = sort.column === column;
  const direction = here ? (sort.down ? "descending" : "ascending") : "none";
  const button = el("button", { type: "button", "data-sort": column }, label);
  return el("th", { scope: "col", "aria-sort": direction, ...extra }, button);
}

function wholeTable(view: AttentionView, head: number, sort: TableSort): HTMLTableElement {
  const top = el("tr", {}, heading("q", sort, say("numbers.query"), { class: "axes" }));
  for (let key = 0; key < view.keys; key++) {
    top.append(heading(`k${key}`, sort, tokenNode(view.keyTexts[key] as string), { "data-key": key }));
  }
  const body = el("tbody");
  const value = (query: number) => {
    const key = Number(sort.column.slice(1));
    if (!sort.column.startsWith("k") || key >= view.keys) return query;
    return isHidden(view, head, query, key) ? Number.NaN : weightAt(view, head, query, key);
  };
  for (const query of sortRows(view.queries, sort, value)) {
    const row = el(
      "tr",
      {},
      el("th", { scope: "row", "data-query": query }, tokenNode(view.queryTexts[query] as string)),
    );
    for (let key = 0; key < view.keys; key++) {
      const text = formatWeight(weightAt(view, head, query, key), isHidden(view, head, query, key));
      row.append(el("td", { "data-query": query, "data-key": key }, text));
    }
    body.append(row);
  }
  return el("table", {}, captionOf(say("numbers.caption", { head })), el("thead", {}, top), body);
}

const COLUMNS: readonly (readonly [column: string, title: MessageKey])[] = [
  ["q", "numbers.position"],
  ["t", "numbers.key"],
  ["w", "numbers.weight"],
  ["s", "numbers.scoreHead"],
];

function rowTable(view: AttentionView, head: number, query: number, sort: TableSort): HTMLTableElement {
  const scoreOf = (key: number) => view.scores?.[cellIndex(view, head, query, key)] ?? Number.NaN;
  const value = (key: number): number | string => {
    const hidden = isHidden(view, head, query, key);
    if (sort.column === "w") return hidden ? Number.NaN : weightAt(view, head, query, key);
    if (sort.column === "s") return hidden ? Number.NaN : scoreOf(key);
    return sort.column === "t" ? labelText(view.keyTexts[key] as string) : key;
  };
  const body = el("tbody");
  let sum = 0;
  for (const key of sortRows(view.keys, sort, value)) {
    const hidden = isHidden(view, head, query, key);
    const weight = weightAt(view, head, query, key);
    const score = scoreOf(key);
    sum += weight;
    body.append(
      el(
        "tr",
        {},
        el("td", {}, String(key)),
        el("th", { scope: "row" }, tokenNode(view.keyTexts[key] as string)),
        el("td", { "data-query": query, "data-key": key }, formatWeight(weight, hidden)),
        el("td", {}, Number.isFinite(score) ? score.toFixed(4).replace("-", "−") : "—"),
      ),
    );
  }
  const total = el("th", { scope: "row" }, say("numbers.sum"));
  const foot = el("tfoot", {}, el("tr", { class: "sum" }, el("td"), total, el("td", {}, sum.toFixed(4)), el("td")));
  const caption = captionOf(compose("numbers.row", { query: tokenNode(view.queryTexts[query] as string), head }));
  const headings = COLUMNS.map(([column, title]) => heading(column, sort, say(title)));
  return el("table", { class: "long" }, caption, el("thead", {}, el("tr", {}, ...headings)), body, foot);
}

function outputTable(
  view: AttentionView,
  output: { readonly data: Float32Array; readonly shape: readonly number[] },
): HTMLTableElement {
  const [rows, columns] = output.shape as [number, number];
  const body = el("tbody");
  for (let r = 0; r < rows; r++) {
    const row = el("tr", {}, el("th", { scope: "row" }, tokenNode(view.queryTexts[r] as string)));
    for (let c = 0; c < columns; c++) row.append(el("td", {}, formatSigned(output.data[r * columns + c] as number)));
    body.append(row);
  }
  const head = el("tr", {}, el("td"));
  for (let c = 0; c < columns; c++) head.append(el("th", { scope: "col" }, String(c)));
  const caption = captionOf(say("numbers.output", { rows, columns }));
  return el("table", { class: "output" }, caption, el("thead", {}, head), body);
}
