/** Tables of the inspector: they scroll in their own box, reachable by keyboard. */

import { el } from "../../elements/dom.js";

export interface Column {
  readonly title: string;
  /** Numbers stand at the right; names and shapes in the code font. */
  readonly kind?: "number" | "code";
}

export function table(caption: string, columns: readonly Column[], rows: readonly (readonly string[])[]): HTMLElement {
  const head = el("tr", {}, ...columns.map(({ title, kind }) => el("th", { scope: "col", class: kind }, title)));
  const body = el("tbody");
  for (const row of rows) {
    body.append(
      el(
        "tr",
        {},
        ...row.map((text, i) => {
          const kind = columns[i]?.kind;
          return i === 0 ? el("th", { scope: "row", class: kind }, text) : el("td", { class: kind }, text);
        }),
      ),
    );
  }
  const made = el("table", { class: "facts" }, el("caption", {}, el("span", {}, caption)), el("thead", {}, head), body);
  return el("div", { class: "table-scroll", role: "group", tabindex: 0, "aria-label": caption }, made);
}

/** A part that starts folded: tables as long as the file has tensors. */
export function folded(title: string, ...parts: readonly HTMLElement[]): HTMLElement {
  return el("details", { class: "part" }, el("summary", {}, title), ...parts);
}
