/**
 * <head-readings>: one query across all heads: which key each head reads most, and how much. The same token, H
 * independent averages. Event: `pick` {head, query, key}.
 */

import { compose, say } from "../i18n/index.js";
import type { AttentionView } from "./attention-view.js";
import { isHidden, strongestKey, weightAt } from "./attention-view.js";
import { el, setAttributes, setText } from "./dom.js";
import { formatWeight } from "./format.js";
import type { HeadCaption } from "./head-cards.js";
import { tokenNode } from "./token-label.js";

export interface HeadReadingsState {
  readonly view: AttentionView;
  readonly captions: readonly HeadCaption[];
  readonly head: number;
  readonly query: number;
  readonly off: ReadonlySet<number>;
}

interface Row {
  readonly item: HTMLElement;
  readonly button: HTMLButtonElement;
  readonly head: HTMLElement;
  readonly key: HTMLElement;
  readonly meter: HTMLElement;
  readonly weight: HTMLElement;
}

export class HeadReadings extends HTMLElement {
  private readonly heading = el("h3");
  private readonly list = el("ul", { class: "readings" });
  private rows: Row[] = [];
  private state: HeadReadingsState | null = null;

  connectedCallback(): void {
    if (!this.list.isConnected) this.append(this.heading, this.list);
  }

  update(state: HeadReadingsState): void {
    this.state = state;
    const { view, captions, head, query, off } = state;
    if (this.rows.length !== view.heads) this.build(view.heads);
    this.heading.replaceChildren(
      compose("readings.title", { query: tokenNode(view.queryTexts[query] as string, "token picked") }),
    );
    for (const [h, row] of this.rows.entries()) {
      const key = strongestKey(view, h, query);
      const weight = weightAt(view, h, query, key);
      const text = formatWeight(weight, isHidden(view, h, query, key));
      setText(row.head, say("heads.short", { head: h }));
      row.key.replaceChildren(tokenNode(view.keyTexts[key] as string));
      row.meter.style.setProperty("width", `${Math.round((Number.isNaN(weight) ? 0 : weight) * 100)}%`);
      setText(row.weight, text);
      row.item.classList.toggle("off", off.has(h));
      setAttributes(row.button, { "aria-pressed": h === head ? "true" : "false", title: captions[h]?.name ?? "" });
    }
  }

  private build(count: number): void {
    this.rows = Array.from({ length: count }, (_, h) => {
      const head = el("b");
      const key = el("span", { class: "reading-key" });
      const meter = el("i");
      const weight = el("span", { class: "reading-weight" });
      const track = el("span", { class: "meter", "aria-hidden": "true" }, meter);
      const button = el("button", { type: "button" }, head, " ", key, " ", track, " ", weight);
      button.addEventListener("click", () => {
        const { view, query } = this.state ?? {};
        if (!view || query === undefined) return;
        const detail = { head: h, query, key: strongestKey(view, h, query) };
        this.dispatchEvent(new CustomEvent("pick", { detail, bubbles: true }));
      });
      return { item: el("li", {}, button), button, head, key, meter, weight };
    });
    this.list.replaceChildren(...this.rows.map((row) => row.item));
  }
}
