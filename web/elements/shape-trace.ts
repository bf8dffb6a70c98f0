/**
 * `<shape-trace>`: the shapes that the numbers go through in a layer, step by step: which step makes new memory, which
 * copies, which only reads the same memory in another way. Each step opens for its strides, its node in llama.cpp's
 * graph and its exact costs.
 *
 *     const { trace } = layer.forward(x, { want: ["trace"] });
 *     document.querySelector("shape-trace").trace = trace;
 */

import type { TraceStep } from "headscope";
import { el, setAttributes, setStyle } from "./dom.js";
import { formatInteger, formatShape } from "./format.js";
import { seriesLook } from "./lines/series-look.js";
import { type Reason, ScopeElement } from "./scope-element.js";
import { formatAmount } from "./trace/amount.js";
import { type ColumnMap, columnMap, joinedMap } from "./trace/index-map.js";
import { contiguous, type Stage, type StageName, stages, traceFault } from "./trace/stages.js";
import { STYLE } from "./trace/style.js";
import { notes, titles, words } from "./trace/words.js";

/** Pixels of a card with the arrow after it. */
const CARD = 152;

/**
 * Properties: `trace`, `scores`, `open`, `table`; attributes `open`, `table`. Event `open` (detail: the stage, or null)
 * when the reader opens or closes a step. Parts: `base`, `problem`, `steps`, `step`, `details`.
 */
export class ShapeTrace extends ScopeElement {
  static override get observedAttributes(): string[] {
    return [...ScopeElement.observedAttributes, "open", "table", "scores"];
  }

  readonly #list = el("ol", { part: "steps" });
  // A list that scrolls has to be reachable by keyboard, and the cards in it are.
  readonly #scroll = el("div", { class: "scroll", role: "group" }, this.#list);
  readonly #details = el("section", { class: "details", part: "details", id: "details", hidden: true });
  readonly #all = el("div", { class: "table", hidden: true, tabindex: 0, role: "group" });
  #trace: readonly TraceStep[] | null = null;
  #stages: readonly Stage[] = [];
  #problem: string | null = null;

  constructor() {
    super(STYLE);
    this.base.append(this.#scroll, this.#details, this.#all);
    this.base.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || this.open === "") return;
      const opener = this.#list.querySelector<HTMLElement>('[aria-expanded="true"]');
      this.#toggle("");
      opener?.focus();
    });
  }

  /** The steps of one forward pass, as `want: ["trace"]` gives them. Default null: nothing is shown. */
  get trace(): readonly TraceStep[] | null {
    return this.#trace;
  }
  set trace(trace: readonly TraceStep[] | null) {
    this.#trace = trace;
    this.invalidate("data");
  }

  /** How scores are scaled, behind QKᵀ. Default "": 1/√ of the width of a head, as it is unless a layer says otherwise. */
  get scores(): string {
    return this.getAttribute("scores") ?? "";
  }
  set scores(scores: string) {
    this.reflect("scores", scores);
  }

  /** The stage that is open: `"fused"`, `"split"`, `"transpose"`, `"scores"`, `"concat"` …; `""` is none. Default "". */
  get open(): StageName | "" {
    return (this.getAttribute("open") ?? "") as StageName | "";
  }
  set open(stage: StageName | "") {
    this.reflect("open", stage);
  }

  /** Whether a table of every step is shown under the cards. Default false. */
  get table(): boolean {
    return this.hasAttribute("table");
  }
  set table(table: boolean) {
    this.toggleAttribute("table", Boolean(table));
  }

  /** What is wrong with the trace that was set last; null while all is well. */
  get problem(): string | null {
    return this.#problem;
  }

  protected render(reasons: ReadonlySet<Reason>): void {
    if (reasons.has("data")) {
      const fault = this.#trace === null || this.#trace === undefined ? null : traceFault(this.#trace);
      this.#problem = fault === null ? null : this.say(words.problem, { expected: fault });
      this.showProblem(this.#problem);
      if (fault === null) this.#stages = stages(this.#trace ?? []);
    }
    if (reasons.has("data") || reasons.has("look")) this.#draw();
    this.#fit();
    this.#reveal();
  }

  /** In the line that scrolls, the open step must not be out of sight. Only the line scrolls, not the page. */
  #reveal(): void {
    const card = this.#list.querySelector<HTMLElement>('[aria-expanded="true"]');
    if (!card) return;
    const [line, box] = [this.#scroll.getBoundingClientRect(), card.getBoundingClientRect()];
    if (box.left < line.left || box.right > line.right) {
      this.#scroll.scrollLeft += box.left - line.left - (line.width - box.width) / 2;
    }
  }

  /** As many columns as have room, in rows of one length; on a phone one line that scrolls. */
  #fit(): void {
    const count = Math.max(1, this.#stages.length);
    const room = Math.floor((this.width + 26) / CARD);
    this.#scroll.classList.toggle("line", room < 4);
    const rows = Math.ceil(count / Math.max(1, room));
    setStyle(this.#list, "--columns", String(Math.ceil(count / rows)));
  }

  #draw(): void {
    setAttributes(this.#scroll, { "aria-label": this.say(words.list) });
    this.#list.replaceChildren(...this.#stages.map((stage) => this.#card(stage)));
    const open = this.#stages.find((stage) => stage.name !== null && stage.name === this.open);
    this.#details.hidden = open === undefined;
    this.#details.replaceChildren(...(open ? this.#opened(open) : []));
    this.#all.hidden = !this.table || this.#stages.length === 0;
    setAttributes(this.#all, { "aria-label": this.say(words.all) });
    this.#all.replaceChildren(...(this.#all.hidden ? [] : [this.#steps(this.#trace ?? [], this.say(words.all))]));
  }

  #title({ name, steps }: Stage): string {
    if (name === null) return steps[0]?.formula ?? "";
    return this.say(titles[name], { scale: name === "scores" ? this.#scaling() : "" });
  }

  #scaling(): string {
    if (this.scores !== "") return ` ${this.scores}`;
    const q = this.#trace?.find((step) => step.id === "q");
    return q ? ` / √${q.shape[q.shape.length - 1]}` : "";
  }

  #card(stage: Stage): HTMLElement {
    const { steps, bytes, flops, name } = stage;
    const [first] = steps as [TraceStep];
    const times = steps.length > 1 ? `${steps.length} × ` : "";
    const facts: string[] = [];
    if (first.copied) facts.push(this.say(words.copies));
    if (flops > 0) facts.push(formatAmount(flops, this.say(words.flop)));
    else if (bytes > 0) facts.push(formatAmount(bytes, "B"));
    else facts.push(this.say(words.noCopy));
    const strides = contiguous(first) ? null : this.say(words.strides, { strides: formatShape(first.strides) });
    const open = name !== null && name === this.open;
    const button = el(
      "button",
      {
        type: "button",
        class: "step",
        part: "step",
        "aria-expanded": open ? "true" : "false",
        "aria-controls": open ? "details" : null,
      },
      el("b", {}, this.#title(stage)),
      el("code", {}, times + formatShape(first.shape)),
      strides && el("code", { class: "strides" }, strides),
      el("span", { class: "facts" }, facts.join(" · ")),
    );
    button.addEventListener("click", () => {
      if (name === null) return;
      this.#toggle(this.open === name ? "" : name);
    });
    return el("li", {}, button);
  }

  #toggle(stage: StageName | ""): void {
    this.open = stage;
    this.dispatchEvent(new CustomEvent("open", { detail: { stage: stage || null }, bubbles: true, composed: true }));
    // The new card for the old one: the reader's place must not be lost.
    const at = Array.from(this.#list.children).findIndex((item) =>
      item.contains(this.shadowRoot?.activeElement ?? null),
    );
    if (at < 0) return;
    void this.updateComplete.then(() => (this.#list.children[at]?.firstElementChild as HTMLElement | null)?.focus());
  }

  #opened(stage: Stage): Node[] {
    const title = this.#title(stage);
    const close = el("button", { type: "button", class: "close", "aria-label": this.say(words.close) }, "×");
    close.addEventListener("click", () => this.#toggle(""));
    setAttributes(this.#details, { "aria-label": this.say(words.details, { step: title }) });
    const table = el(
      "div",
      { class: "table", tabindex: 0, role: "group", "aria-label": title },
      this.#steps(stage.steps, null),
    );
    const parts: (Node | null)[] = [
      el("header", {}, el("p", { class: "title" }, title), close),
      stage.name && el("p", { class: "note" }, this.say(notes[stage.name])),
      table,
      this.#map(stage),
    ];
    return parts.filter((part): part is Node => part !== null);
  }

  #steps(steps: readonly TraceStep[], caption: string | null): HTMLTableElement {
    const ggml = steps.some((step) => step.ggml);
    const heads = [words.step, words.shape, words.stridesHead, words.memory, words.bytes, words.flops];
    const more = ggml ? [words.node, words.ne] : [];
    const head = el(
      "tr",
      {},
      ...[...heads, ...more].map((each, i) =>
        el("th", { scope: "col", class: i === 4 || i === 5 ? "number" : null }, this.say(each)),
      ),
    );
    const rows = steps.map((step) => {
      const memory = step.copied ? words.copied : step.bytes > 0 ? words.made : words.view;
      const cells = [
        el("th", { scope: "row" }, step.formula),
        el("td", {}, el("code", {}, formatShape(step.shape))),
        el("td", {}, el("code", {}, formatShape(step.strides))),
        el("td", {}, this.say(memory)),
        el("td", { class: "number" }, formatInteger(step.bytes)),
        el("td", { class: "number" }, formatInteger(step.flops)),
      ];
      if (ggml) {
        cells.push(
          el("td", {}, el("code", {}, step.ggml?.name ?? "")),
          el("td", {}, el("code", {}, step.ggml ? `{${step.ggml.ne.join(", ")}}` : "")),
        );
      }
      return el("tr", {}, ...cells);
    });
    return el(
      "table",
      {},
      caption === null ? null : el("caption", {}, caption),
      el("thead", {}, head),
      el("tbody", {}, ...rows),
    );
  }

  /** Which head every column belongs to, for the stages that part heads or join them. */
  #map({ name, steps }: Stage): HTMLElement | null {
    const [first] = steps as [TraceStep];
    const heads = this.#trace?.find((step) => step.id === "heads");
    const joins = name === "concat" && heads !== undefined;
    const map = joins ? joinedMap(heads, first) : columnMap(first);
    if (!map) return null;
    const width = map.headOf.length;
    const cells = map.headOf.map((head, column) => {
      const cell = el("span", {}, String(column + 1));
      setStyle(cell, "--hue", seriesLook(head, this.shown).color);
      return cell;
    });
    const legend = Array.from({ length: map.heads }, (_, head) => {
      const item = el("li", {}, this.say(words.mapHead, { columns: columnsOf(map, head), head: head + 1 }));
      setStyle(item, "--hue", seriesLook(head, this.shown).color);
      return item;
    });
    return el(
      "figure",
      { class: "map" },
      el("figcaption", {}, this.say(joins ? words.mapJoin : words.mapSplit, { width })),
      el("div", { class: "cells", "aria-hidden": "true" }, ...cells),
      el("ul", {}, ...legend),
    );
  }
}

/** "1–2"; columns and heads are counted from 1, as in the text that explains them. */
function columnsOf(map: ColumnMap, head: number): string {
  const first = map.headOf.indexOf(head) + 1;
  const last = map.headOf.lastIndexOf(head) + 1;
  return first === last ? String(first) : `${first}–${last}`;
}
