import type { AttentionView } from "./attention-view.js";
import { el, pixelRatio, setAttributes, setStyle, setText } from "./dom.js";
import { type GridLayout, gridLayout } from "./grid/columns.js";
import { kindOf } from "./grid/kinds.js";
import { GRID_STYLE } from "./grid/style.js";
import { gridWords as words } from "./grid/words.js";
import { HeadElement } from "./head-element.js";
import { parseHex, type Ramp } from "./ramp.js";
import { type AxisSpan, codeWords, encodeHead, raster } from "./raster.js";
import { moveIndex, rove } from "./roving.js";
import { type HeatScale, scaleTop } from "./scale.js";
import type { Reason } from "./scope-element.js";

/** What a head does. */
export interface HeadCaption {
  /** In words, "previous token". */
  readonly name: string;
  /** The measure beside it, "0.98". Default none. */
  readonly measure?: string | undefined;
  /** For the ear, "head 0: 98 % on the previous token". Default: the name and the measure. */
  readonly spoken?: string | undefined;
}

interface Card {
  readonly head: number;
  readonly cell: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  /** The row looked at, over the picture; it lies in the layer of its row of cards. */
  readonly mark: HTMLElement;
  readonly name: HTMLElement;
  readonly box: HTMLInputElement;
  readonly kind: HTMLElement;
  readonly measure: HTMLElement;
}

interface Painted {
  readonly view: AttentionView;
  readonly scale: HeatScale;
  readonly ramp: Ramp;
  readonly pixels: number;
}

/** Where there are more rows of cards, those that are far from the screen have no pictures. */
const ROWS_AT_ONCE = 4;
/** A frame paints for so long; the thumbnails that are left follow in the next ones. */
const PAINT_MS = 24;

/**
 * `<head-grid>`: every head of a layer as a small picture, with what it does in words and a box that switches it off. 1 to
 * 144 heads and more; where there are more tokens than pixels, a pixel shows the strongest of its cells.
 *
 * Properties: those of every head element (`weights`, `tokens`, `keyTokens`, `scores`, `masked`, `causal`, `state`, `scale`,
 * `language`, `theme`, `src`), and `captions`, `ordering`, `fixed`. Rows are queries, columns are keys.
 *
 * Events: `pick` (`{ head, query, key }`: the head, and the place that is looked at), `ablate` (`{ head, off }`).
 *
 * A click or Enter looks at a head; with Ctrl, Cmd or Shift it is added to the heads looked at, or taken away. Space, or
 * the box, switches a head off and on. Arrows, Home and End move, `[` and `]` go to the head before and after.
 *
 * Speed in Chromium 156 without a GPU: 36 ms from the data to the first paint of 12 heads of 512 × 512 and 0.8 ms for a frame
 * while the pointer moves elsewhere; of 144 heads of 128 × 128 tokens 81 and 1.9. Medians by the clock of
 * `tests/bench/elements.ts`.
 *
 * Parts: `base`, `problem`, `grid`, `card`, `picture`, `name`, `box`, `caption`. Custom properties: those of `sheet.ts`.
 */
export class HeadGrid extends HeadElement {
  static override get observedAttributes(): string[] {
    return [...HeadElement.observedAttributes, "fixed"];
  }

  private readonly grid = el("div", { role: "grid", class: "grid data", part: "grid" });
  private cards: Card[] = [];
  // One for each row of cards: a layer for each card took 10 ms a frame with 144 of them.
  private marks: HTMLElement[] = [];
  private marked = "";
  private rowsSeen: IntersectionObserver | null = null;
  private places: GridLayout | null = null;
  private focused = 0;
  private painted: Painted | null = null;
  private unpainted: Card[] = [];
  private given: readonly HeadCaption[] | null = null;
  private order: readonly number[] | null = null;
  private shownState: { heads: readonly number[]; off: ReadonlySet<number>; first: number } | null = null;
  private codes = new Uint16Array(0);

  constructor() {
    super(GRID_STYLE);
    this.base.append(this.grid);
    this.grid.addEventListener("keydown", (event) => this.onKey(event));
  }

  /** What each head does, by head. Default null: what the weights say plainly ("previous token"), or "spread out". */
  get captions(): readonly HeadCaption[] | null {
    return this.given;
  }
  set captions(captions: readonly HeadCaption[] | null) {
    this.given = captions;
    this.invalidate("look");
  }

  /** The heads to show, in this order. Default null: all, by index. Heads that are not there are left out. */
  get ordering(): readonly number[] | null {
    return this.order;
  }
  set ordering(ordering: readonly number[] | null) {
    this.order = ordering;
    this.invalidate("look");
  }

  /** Without boxes: where nothing can be computed again without a head. Default false. */
  get fixed(): boolean {
    return this.hasAttribute("fixed");
  }
  set fixed(fixed: boolean) {
    this.toggleAttribute("fixed", Boolean(fixed));
  }

  protected override renderView(view: AttentionView, reasons: ReadonlySet<Reason>): void {
    if ([...reasons].some((reason) => reason !== "state" && reason !== "view") || !this.painted) {
      this.arrange(view);
      this.describe(view);
      this.startPainting(view);
    }
    this.paintSome(view);
    this.showState(view);
  }

  private arrange(view: AttentionView): void {
    const heads = (this.order ?? Array.from({ length: view.heads }, (_, head) => head)).filter(
      (head) => Number.isInteger(head) && head >= 0 && head < view.heads,
    );
    const layout = gridLayout(this.width, Math.max(1, heads.length));
    const sameHeads = heads.length === this.cards.length && heads.every((head, i) => this.cards[i]?.head === head);
    for (const [name, value] of Object.entries({ card: layout.card, thumb: layout.thumb, gap: layout.gap })) {
      setStyle(this.grid, `--${name}`, `${value}px`);
    }
    setStyle(this.grid, "--columns", String(layout.columns));
    this.base.classList.toggle("narrow", layout.narrow);
    this.marked = "";
    if (sameHeads && layout.columns === this.places?.columns) {
      this.places = layout;
      return;
    }
    this.places = layout;
    this.placeCards(heads, layout.columns);
  }

  private placeCards(heads: readonly number[], columns: number): void {
    const known = new Map(this.cards.map((card) => [card.head, card]));
    const focusedCard = this.cards[this.focused];
    const active = (this.grid.getRootNode() as ShadowRoot).activeElement;
    this.cards = heads.map((head) => known.get(head) ?? this.makeCard(head));
    const rows: HTMLElement[] = [];
    this.marks = [];
    for (let i = 0; i < this.cards.length; i += columns) {
      const cards = this.cards.slice(i, i + columns);
      const marks = el(
        "div",
        { class: "marks", "aria-hidden": "true", hidden: true },
        ...cards.map(({ mark }) => mark),
      );
      this.marks.push(marks);
      rows.push(el("div", { role: "row", class: "row" }, ...cards.map(({ cell }) => cell), marks));
    }
    this.grid.replaceChildren(...rows);
    this.watchRows(rows);
    // A new order moves a head, and the focus with it.
    const main = heads.indexOf(this.shownHead);
    const again = focusedCard ? heads.indexOf(focusedCard.head) : -1;
    this.focused = Math.max(0, again >= 0 ? again : main);
    this.rove();
    this.shownState = null;
    this.painted = null;
    if (active instanceof HTMLElement && active.isConnected) active.focus({ preventScroll: true });
  }

  /** The pictures of rows far from the screen are left out: to the browser each is a layer to look after in every frame. */
  private watchRows(rows: readonly HTMLElement[]): void {
    this.rowsSeen?.disconnect();
    this.rowsSeen = null;
    if (rows.length <= ROWS_AT_ONCE) return;
    const around = { rootMargin: "200px", scrollMargin: "200px" };
    this.rowsSeen = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) target.classList.toggle("far", !isIntersecting);
    }, around);
    for (const row of rows) this.rowsSeen.observe(row);
  }

  private makeCard(head: number): Card {
    const canvas = el("canvas", { width: 1, height: 1, "aria-hidden": "true" });
    const mark = el("i");
    const name = el("span", { class: "name", part: "name" });
    const box = el("input", { type: "checkbox", tabindex: -1, part: "box" });
    const kind = el("span", { class: "kind" });
    const measure = el("span", { class: "measure" });
    const cell = el(
      "div",
      { role: "gridcell", class: "card", part: "card", tabindex: -1 },
      ...[el("div", { class: "picture hatch", part: "picture" }, canvas), name, " ", box],
      el("div", { class: "caption", part: "caption" }, kind, " ", measure),
    );
    const focusHere = () => {
      this.focused = this.cards.findIndex((card) => card.head === head);
      this.rove();
    };
    box.addEventListener("change", () => this.switchHead(head, !box.checked));
    box.addEventListener("click", (event) => event.stopPropagation());
    cell.addEventListener("focus", focusHere);
    cell.addEventListener("click", (event) => {
      focusHere();
      this.pickHead(head, event.ctrlKey || event.metaKey || event.shiftKey);
    });
    return { head, cell, canvas, mark, name, box, kind, measure };
  }

  private describe(view: AttentionView): void {
    const { fixed } = this;
    setAttributes(this.grid, {
      "aria-label": this.say(fixed ? words.labelFixed : words.label),
      "aria-multiselectable": "true",
      "aria-colcount": this.places?.columns,
    });
    for (const card of this.cards) {
      const { name, measure } = this.captionOf(view, card.head);
      setText(card.name, this.say(words.short, { head: card.head }));
      setText(card.kind, name);
      setText(card.measure, measure ?? "");
      card.box.hidden = fixed;
      setAttributes(card.box, { "aria-label": this.say(words.use, { head: card.head }) });
    }
    this.shownState = null;
  }

  private captionOf(view: AttentionView, head: number): HeadCaption {
    if (this.given) {
      const caption = this.given[head] ?? { name: "" };
      const spoken = caption.spoken ?? this.say(words.spokenKind, { head, kind: spokenName(caption) });
      return { ...caption, spoken };
    }
    const found = kindOf(view, head);
    if (!found) {
      const kind = this.say(view.keys === 1 ? words.alone : words.spread);
      return { name: kind, spoken: this.say(words.spokenKind, { head, kind }) };
    }
    const kind = this.say(words[found.kind]);
    const percent = Math.round(found.share * 100);
    return { name: kind, measure: found.share.toFixed(2), spoken: this.say(words.spoken, { head, kind, percent }) };
  }

  private startPainting(view: AttentionView): void {
    const { scale, painted } = this;
    const ramp = this.currentRamp();
    const pixels = Math.round((this.places?.thumb ?? 1) * pixelRatio(this));
    // A thumbnail with a pixel for each cell is enlarged by the browser, whatever the screen has.
    const whole = Math.max(view.queries, view.keys) <= Math.min(pixels, painted?.pixels ?? pixels);
    const same = painted?.view === view && painted.scale === scale && painted.ramp === ramp;
    if (same && (whole || painted.pixels === pixels)) return;
    this.painted = { view, scale, ramp, pixels };
    this.unpainted = [...this.cards];
  }

  private paintSome(view: AttentionView): void {
    if (this.unpainted.length === 0 || !this.painted) return;
    const end = performance.now() + PAINT_MS;
    const all = codeWords(this.painted.ramp.words, parseHex(this.painted.ramp.accent));
    if (this.codes.length !== view.queries * view.keys) this.codes = new Uint16Array(view.queries * view.keys);
    do {
      const card = this.unpainted.shift();
      if (card) this.paint(view, card, this.painted, all);
    } while (this.unpainted.length > 0 && performance.now() < end);
    if (this.unpainted.length > 0) this.invalidate("view");
  }

  private paint(view: AttentionView, { canvas, head }: Card, { scale, pixels }: Painted, all: Uint32Array): void {
    const { codes } = this;
    encodeHead(view, head, scale, scaleTop(view, head, scale), codes);
    const span = (count: number): AxisSpan => {
      const most = Math.min(count, pixels);
      return { count, first: 0, size: most / count, pixels: most, gap: 0 };
    };
    const rows = span(view.queries);
    const columns = span(view.keys);
    if (canvas.width !== columns.pixels) canvas.width = columns.pixels;
    if (canvas.height !== rows.pixels) canvas.height = rows.pixels;
    const context = canvas.getContext("2d");
    if (!context) return;
    const image = context.createImageData(columns.pixels, rows.pixels);
    raster(codes, rows, columns, all, new Uint32Array(image.data.buffer));
    context.putImageData(image, 0, 0);
  }

  private showState(view: AttentionView): void {
    const { heads, off, query } = this.state;
    this.markRow(view, query !== null && query < view.queries ? query : null);
    const first = this.shownHead;
    const shown = this.shownState;
    // The place looked at changes at every move of the pointer, the heads do not.
    if (shown && shown.heads === heads && shown.off === off && shown.first === first) return;
    this.shownState = { heads, off, first };
    const chosen = new Set([first, ...heads]);
    for (const { head, cell, box, mark } of this.cards) {
      const isOff = off.has(head);
      mark.classList.toggle("off", isOff);
      const { spoken } = this.captionOf(view, head);
      box.checked = !isOff;
      cell.classList.toggle("off", isOff);
      cell.classList.toggle("main", head === first);
      setAttributes(cell, {
        "aria-selected": chosen.has(head) ? "true" : "false",
        // The name is what is written on the card, the description what it means.
        "aria-description": isOff ? `${spoken}, ${this.say(words.off)}` : spoken,
      });
    }
  }

  /** The query looked at, in every picture. */
  private markRow(view: AttentionView, query: number | null): void {
    const size = (this.places?.thumb ?? 0) / view.queries;
    const transform = query === null ? "" : `translateY(${query * size}px)`;
    if (this.marked === transform) return;
    if (this.marked === "") this.placeMarks(size);
    this.marked = transform;
    for (const marks of this.marks) {
      marks.hidden = transform === "";
      if (transform !== "") marks.style.transform = transform;
    }
  }

  /** Where a page's own style has the pictures; asked when a query begins to be looked at, and not at every move. */
  private placeMarks(size: number): void {
    const picture = this.cards[0]?.canvas.parentElement;
    const row = picture?.closest(".row");
    if (!picture || !row) return;
    const [inner, outer] = [picture.getBoundingClientRect(), row.getBoundingClientRect()];
    // A page may be zoomed by CSS: lengths inside are the element's own.
    const zoom = outer.width / (row as HTMLElement).offsetWidth || 1;
    const lengths = { left: inner.left - outer.left, top: inner.top - outer.top, width: inner.width };
    for (const [name, length] of Object.entries(lengths)) setStyle(this.grid, `--mark-${name}`, `${length / zoom}px`);
    setStyle(this.grid, "--mark", `${size}px`);
  }

  private pickHead(head: number, add: boolean): void {
    const { heads, query, key } = this.state;
    if (!this.announce("pick", { head, query, key })) return;
    if (!add) this.state.set({ heads: [head] });
    else if (!heads.includes(head)) this.state.set({ heads: [...heads, head] });
    else if (heads.length > 1) this.state.set({ heads: heads.filter((other) => other !== head) });
  }

  private switchHead(head: number, off: boolean): void {
    this.ablate(head, off);
    // Also where somebody prevented it: the box follows the state.
    this.shownState = null;
    this.invalidate("state");
  }

  private rove(): void {
    rove(
      this.cards.map((card) => card.cell),
      this.focused,
    );
  }

  private focusCard(index: number): void {
    this.focused = index;
    this.rove();
    this.cards[index]?.cell.focus();
  }

  private onKey(event: KeyboardEvent): void {
    const card = this.cards[this.focused];
    if (!card || event.altKey || event.metaKey) return;
    const onBox = event.composedPath()[0] instanceof HTMLInputElement;
    const columns = this.places?.columns ?? 1;
    const next = moveIndex(event.key, this.focused, this.cards.length, columns);
    if (next !== null) this.focusCard(next);
    else if (event.key === "[" || event.key === "]") {
      const to = this.focused + (event.key === "]" ? 1 : -1);
      if (to < 0 || to >= this.cards.length) return;
      this.focusCard(to);
      this.pickHead((this.cards[to] as Card).head, false);
    } else if (event.key === "Enter" && !onBox) this.pickHead(card.head, event.ctrlKey || event.shiftKey);
    else if (event.key === " " && !onBox && !this.fixed) this.switchHead(card.head, !this.state.off.has(card.head));
    else return;
    event.preventDefault();
  }
}

function spokenName({ name, measure }: HeadCaption): string {
  return measure ? `${name}, ${measure}` : name;
}
