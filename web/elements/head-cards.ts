/**
 * <head-grid>: every head of a layer as a small picture with what it does in words and a box that switches it off.
 * Events: `pick` {head}, `ablate` {head, on}.
 */

import { say } from "../i18n/index.js";
import type { AttentionView, Scale } from "./attention-view.js";
import { domainTop } from "./attention-view.js";
import { darkTheme, el, pixelRatio, setAttributes, setText } from "./dom.js";
import { paintHead } from "./paint.js";
import { ramp } from "./ramp.js";
import { moveIndex, rove } from "./roving.js";

export interface HeadCaption {
  /** What the head does, "previous token". */
  readonly name: string;
  /** The measure beside it, "0.98"; empty where there is none. */
  readonly measure: string;
  /** For the ear: "head 0: 98 % on the previous token". */
  readonly spoken: string;
}

export interface HeadGridState {
  readonly view: AttentionView;
  readonly captions: readonly HeadCaption[];
  readonly head: number;
  readonly off: ReadonlySet<number>;
  readonly scale: Scale;
}

interface Card {
  readonly cell: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  readonly name: HTMLElement;
  readonly box: HTMLInputElement;
  readonly kind: HTMLElement;
  readonly measure: HTMLElement;
}

export class HeadCards extends HTMLElement {
  private cards: Card[] = [];
  private row: HTMLElement | null = null;
  private focused = 0;
  private painted: { view: AttentionView; scale: Scale; dark: boolean } | null = null;

  connectedCallback(): void {
    if (this.row) return;
    this.row = el("div", { role: "row", class: "head-row" });
    this.setAttribute("role", "grid");
    this.append(this.row);
    this.addEventListener("keydown", (event) => this.onKey(event));
  }

  update({ view, captions, head, off, scale }: HeadGridState): void {
    this.setAttribute("aria-label", say("heads.label"));
    if (this.cards.length !== view.heads) this.build(view.heads, head);
    const dark = darkTheme();
    const repaint = this.painted?.view !== view || this.painted.scale !== scale || this.painted.dark !== dark;
    const colors = ramp(dark ? "dark" : "light");
    // More than the screen has would be thinned out by the browser, and with it a diagonal one cell wide.
    const maxPixels = Math.floor((this.cards[0]?.canvas.clientWidth || 128) * pixelRatio(this));
    for (const [h, card] of this.cards.entries()) {
      const caption = captions[h] as HeadCaption;
      const on = !off.has(h);
      if (repaint) {
        paintHead(card.canvas, view, h, { top: domainTop(view, h, scale), ramp: colors, maxPixels });
      }
      setText(card.name, say("heads.short", { head: h }));
      setText(card.kind, caption.name);
      setText(card.measure, caption.measure);
      card.box.checked = on;
      setAttributes(card.box, { "aria-label": say("heads.on", { head: h }) });
      card.cell.classList.toggle("off", !on);
      setAttributes(card.cell, {
        "aria-selected": h === head ? "true" : "false",
        // The name is what is written on the card, the description what it means.
        "aria-description": on ? caption.spoken : `${caption.spoken}, ${say("heads.spokenOff")}`,
      });
    }
    this.painted = { view, scale, dark };
  }

  private build(count: number, head: number): void {
    this.painted = null;
    this.focused = Math.min(head, count - 1);
    this.cards = Array.from({ length: count }, (_, h) => {
      const canvas = el("canvas", { class: "thumb", width: 1, height: 1, "aria-hidden": "true" });
      const name = el("b", {});
      const box = el("input", { type: "checkbox", tabindex: -1 });
      const kind = el("span", { class: "kind" });
      const measure = el("span", { class: "measure" });
      const caption = el("div", { class: "head-caption" }, kind, " ", measure);
      const field = el("div", { class: "thumb-field" }, canvas);
      const cell = el(
        "div",
        { role: "gridcell", class: "head-card", tabindex: -1 },
        ...[field, name, " ", caption, " ", box],
      );
      box.addEventListener("change", () => this.emit("ablate", { head: h, on: box.checked }));
      box.addEventListener("click", (event) => event.stopPropagation());
      cell.addEventListener("click", () => {
        this.focused = h;
        this.rove();
        this.emit("pick", { head: h });
      });
      cell.addEventListener("focus", () => {
        this.focused = h;
        this.rove();
      });
      return { cell, canvas, name, box, kind, measure };
    });
    this.row?.classList.toggle("many", count > 8);
    this.row?.replaceChildren(...this.cards.map((card) => card.cell));
    this.rove();
  }

  private rove(): void {
    rove(
      this.cards.map((card) => card.cell),
      this.focused,
    );
  }

  private columns(): number {
    const tops = this.cards.map((card) => card.cell.offsetTop);
    return tops.filter((top) => top === tops[0]).length;
  }

  private onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const onBox = event.target instanceof HTMLInputElement;
    const next = moveIndex(event.key, this.focused, this.cards.length, this.columns());
    if (next !== null) {
      event.preventDefault();
      this.focused = next;
      this.rove();
      this.cards[next]?.cell.focus();
    } else if (event.key === "Enter" && !onBox) {
      event.preventDefault();
      this.emit("pick", { head: this.focused });
    } else if (event.key === " " && !onBox) {
      event.preventDefault();
      this.emit("ablate", { head: this.focused, on: !this.cards[this.focused]?.box.checked });
    }
  }

  private emit(type: string, detail: object): void {
    this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true }));
  }
}
