/**
 * `<head-lines>`: attention as lines from queries to the keys they read, of one head or of many in their own colours, or
 * of their mean or maximum. Width and strength of a line are the weight.
 *
 *     const lines = document.querySelector("head-lines");
 *     lines.tokens = ["The", " cat", " sat"];
 *     lines.weights = weights; // [heads, queries, keys]
 *
 * Point at a token to see its lines alone, click or press Enter to keep them, Escape lets go; arrow keys walk along a
 * side and across to the other, [ and ] change the head where one is shown.
 */

import { type AttentionView, isHidden, weightAt } from "./attention-view.js";
import { el, pixelRatio, place, setAttributes, setStyle, setText } from "./dom.js";
import { formatWeight } from "./format.js";
import { HeadElement } from "./head-element.js";
import { longestLabel } from "./label-width.js";
import { type LineChoices, LineControls } from "./lines/controls.js";
import { along, type Direction, type LinesLayout, tokenAt } from "./lines/layout.js";
import { type Combine, type Links, linksAt, selectLinks } from "./lines/links.js";
import { type LinesPicture, MOST_LINES, paintLines, paintSample } from "./lines/paint.js";
import { combinedLook, type SeriesLook, seriesLook } from "./lines/series-look.js";
import { STYLE } from "./lines/style.js";
import { TokenSide } from "./lines/token-side.js";
import { words } from "./lines/words.js";
import { evenShares, rampPlace, scaleTicks } from "./scale.js";
import type { Reason } from "./scope-element.js";
import { SENTENCE_STYLE } from "./sentence-style.js";
import { labelText, tokenNode } from "./token-label.js";

/** Pixels from one token to the next, top to bottom. */
const SLOT = 24;
/** On paper, where there is no finger to hit it. */
const SLOT_ON_PAPER = 16;
/** The same from left to right: as wide as the tokens, between these. */
const NARROWEST = 30;
const WIDEST = 110;
/** Pixels of a side that stands above or below. */
const ROW = 30;
/** Wider, and the lines are too flat to follow. */
const WIDEST_GAP = 460;
/** Room for a weight beside a token. */
const NOTE = 56;
/** Longest side that scrolls, without --hs-lines-height. */
const HEIGHT = 480;
const FONT = "13px ui-monospace, Menlo, Consolas, monospace";

/** Lines a query that the sentence names, and heads. */
const NAMED = 3;
const NAMED_SERIES = 4;

type Side = "query" | "key";

interface Looked {
  readonly side: Side;
  readonly token: number;
}

/** What the lines were chosen by; the same means the same lines. */
interface Choice extends LineChoices {
  readonly view: AttentionView;
  readonly heads: readonly number[];
}

/**
 * Properties: those of every head element, and `heads`, `top`, `threshold`, `combine`, `direction`, `controls`; all but the
 * data are attributes too. Events: `preview`, `pick` (`{ head, query, key }`), `filter` (the choices of the controls).
 * Parts: `base`, `problem`, `heads`, `controls`, `frame`, `side` (`query`, `key`), `token`, `legend`, `sentence`. Custom
 * property `--hs-lines-height`: the height from which the figure scrolls inside itself (480px).
 */
export class HeadLines extends HeadElement {
  static override get observedAttributes(): string[] {
    return [...HeadElement.observedAttributes, "heads", "top", "threshold", "combine", "direction", "controls"];
  }

  readonly #chips = el("div", { class: "heads data", part: "heads", role: "group" });
  readonly #controls = new LineControls((choices) => this.#choose(choices));
  readonly #names = el("div", { class: "names data" }, el("span"), el("span"));
  readonly #all = el("canvas", { class: "all", "aria-hidden": "true" });
  readonly #some = el("canvas", { "aria-hidden": "true" });
  readonly #sides = { query: new TokenSide("query"), key: new TokenSide("key") };
  readonly #view = el("div", { class: "view" }, this.#all, this.#some, this.#sides.query.node, this.#sides.key.node);
  readonly #space = el("div", {}, this.#view);
  // A figure reads in one direction, whatever the page around it does; each token keeps its own.
  readonly #frame = el("div", { class: "scroll data", part: "frame", role: "group", dir: "ltr" }, this.#space);
  readonly #legend = el("p", { class: "legend data", part: "legend" });
  readonly #sentence = el("p", { class: "sentence data", part: "sentence" });
  readonly #live = el("div", { class: "live", "aria-live": "polite" });

  #choice: Choice | null = null;
  #links: Links | null = null;
  #even: { view: AttentionView; head: number; shares: Float32Array } | null = null;
  #labels: { query: readonly string[]; key: readonly string[]; width: number } | null = null;
  #layout: LinesLayout | null = null;
  #breadth = 0;
  #maxHeight = HEIGHT;
  #ratio = 1;
  #painted = "";
  #drawnLinks: Links | null = null;
  #cutOfAll = { drawn: 0, crossing: 0 };
  /** Of what is on screen: all lines, or those of the token looked at. */
  #cut = { drawn: 0, crossing: 0 };
  #keyAlone: number | null = null;
  #revealed: number | null = null;
  #chipState = "";

  constructor() {
    super(SENTENCE_STYLE, STYLE);
    this.base.append(
      this.#chips,
      this.#controls.node,
      this.#names,
      this.#frame,
      this.#legend,
      this.#sentence,
      this.#live,
    );
    this.#frame.addEventListener("scroll", () => this.invalidate("view"));
    this.#listen();
  }

  /** Which heads are drawn: numbers, `"all"`, or null for the state's heads (or the one of `head`). Default null. */
  get heads(): readonly number[] | "all" | null {
    const given = this.getAttribute("heads");
    if (given === null) return null;
    return given.trim() === "all" ? "all" : (given.match(/\d+/g) ?? []).map(Number);
  }
  set heads(heads: readonly number[] | "all" | null) {
    if (heads === null) this.removeAttribute("heads");
    else this.setAttribute("heads", heads === "all" ? heads : heads.join(" "));
  }

  /** Lines of a query and head at most; null (attribute `"all"`) for all of them. Default 4. */
  get top(): number | null {
    const given = this.getAttribute("top");
    if (given === "all") return null;
    const number = Number(given);
    return given !== null && Number.isInteger(number) && number > 0 ? number : 4;
  }
  set top(top: number | null) {
    this.setAttribute("top", top === null ? "all" : String(top));
  }

  /** The smallest weight that has a line. Default 0.02. */
  get threshold(): number {
    const given = this.getAttribute("threshold");
    const number = Number(given);
    return given !== null && given !== "" && number >= 0 ? number : 0.02;
  }
  set threshold(threshold: number) {
    this.setAttribute("threshold", String(threshold));
  }

  /** `"none"`: each head in its own colour; `"mean"` or `"max"` of the heads in one. Default `"none"`. */
  get combine(): Combine {
    const given = this.getAttribute("combine");
    return given === "mean" || given === "max" ? given : "none";
  }
  set combine(combine: Combine) {
    this.reflect("combine", combine === "none" ? "" : combine);
  }

  /** `"vertical"`: queries left, keys right; `"horizontal"`: queries above, keys below. Default `"vertical"`. */
  get direction(): Direction {
    return this.getAttribute("direction") === "horizontal" ? "horizontal" : "vertical";
  }
  set direction(direction: Direction) {
    this.reflect("direction", direction === "vertical" ? "" : direction);
  }

  /** Shows what the reader may filter by. Default false. */
  get controls(): boolean {
    return this.hasAttribute("controls");
  }
  set controls(controls: boolean) {
    this.toggleAttribute("controls", Boolean(controls));
  }

  protected override renderView(view: AttentionView, reasons: ReadonlySet<Reason>): void {
    const heads = this.#headsOf(view);
    const links = this.#select(view, heads);
    const still = this.#layout !== null && ![...reasons].some((reason) => reason !== "state" && reason !== "view");
    if (!still) this.#readStyle();
    const layout = this.#arrange(view, this.combine === "none" ? heads.length : 1);
    const picture: LinesPicture = {
      ...{ links, layout, ratio: this.#ratio, looks: this.#looks(heads), most: this.#mostLines(layout) },
      place: this.#placeOf(view, heads, links),
    };
    const looked = this.#lookedAt();
    this.#paint(picture, looked, heads);
    this.#drawSides(view, layout, links, looked);
    if (!still || this.#chipState !== this.#chipKey(view, heads)) this.#drawHeads(view, heads);
    this.#drawWords(view, links, looked, heads);
    this.#reveal();
  }

  // What is drawn ------------------------------------------------------------------------------------------------------

  #headsOf(view: AttentionView): readonly number[] {
    const { heads } = this;
    if (this.head !== null && heads === null) return [this.shownHead];
    const wanted = heads === "all" ? Array.from({ length: view.heads }, (_, h) => h) : (heads ?? this.state.heads);
    const found = [...new Set(wanted)].filter((head) => head >= 0 && head < view.heads);
    return found.length > 0 ? found : [this.shownHead];
  }

  #select(view: AttentionView, heads: readonly number[]): Links {
    const { top, threshold, combine, direction } = this;
    const before = this.#choice;
    const same =
      before?.view === view &&
      before.top === top &&
      before.threshold === threshold &&
      before.combine === combine &&
      before.heads.join() === heads.join();
    this.#choice = { view, heads, top, threshold, combine, direction };
    if (!same || !this.#links) this.#links = selectLinks(view, { heads, top, threshold, combine });
    return this.#links;
  }

  #looks(heads: readonly number[]): SeriesLook[] {
    if (this.combine !== "none") return [combinedLook(this.shown)];
    return heads.map((head) => seriesLook(head, this.shown));
  }

  #placeOf(view: AttentionView, heads: readonly number[], links: Links): LinesPicture["place"] {
    const { scale } = this;
    const place = rampPlace(scale, links.strongest || 1);
    if (scale !== "uniform") return (weight) => place(weight, 1);
    const head = heads[0] as number;
    if (this.#even?.view !== view || this.#even.head !== head) {
      this.#even = { view, head, shares: evenShares(view, head) };
    }
    const { shares } = this.#even;
    return (weight, query) => place(weight, shares[query] as number);
  }

  #readStyle(): void {
    const given = Number.parseFloat(getComputedStyle(this).getPropertyValue("--hs-lines-height"));
    // Paper does not scroll: there the figure is as long as its tokens.
    this.#maxHeight = this.printing ? Infinity : given > 0 ? given : HEIGHT;
    this.#ratio = pixelRatio(this);
  }

  #arrange(view: AttentionView, series: number): LinesLayout {
    const { width } = this;
    const count = Math.max(view.queries, view.keys);
    const longest = this.#longest(view);
    const across = Math.min(WIDEST, Math.max(NARROWEST, longest + 10));
    // What is wider than paper goes down the page.
    const vertical = this.direction === "vertical" || (this.printing && count * across > width);
    const direction: Direction = vertical ? "vertical" : "horizontal";
    const slot = vertical ? (this.printing ? SLOT_ON_PAPER : SLOT) : across;
    const length = count * slot;
    const extent = Math.min(length, vertical ? this.#maxHeight : width);
    const offset = Math.min(Math.max(0, length - extent), vertical ? this.#frame.scrollTop : this.#frame.scrollLeft);
    const breadth = vertical ? Math.min(longest + 14 + NOTE, Math.max(60, Math.floor(width * 0.36))) : ROW;
    const gap = vertical
      ? Math.min(WIDEST_GAP, Math.max(40, width - 2 * breadth))
      : Math.min(260, Math.max(120, width * 0.3));
    const layout = { direction, slot, gap, extent, offset, series };
    const before = this.#layout;
    this.#layout = layout;
    this.#breadth = breadth;
    if (before && Object.keys(layout).every((name) => name === "offset" || same(before, layout, name))) return layout;
    const whole = 2 * breadth + gap;
    place(this.#space, vertical ? { width: whole, height: length } : { width: length, height: whole });
    place(this.#view, vertical ? { width: whole, height: extent } : { width: extent, height: whole });
    for (const canvas of [this.#all, this.#some]) {
      place(
        canvas,
        vertical
          ? { left: breadth, top: 0, width: gap, height: extent }
          : { left: 0, top: breadth, width: extent, height: gap },
      );
    }
    this.#view.classList.toggle("vertical", vertical);
    this.#view.classList.toggle("horizontal", !vertical);
    this.#frame.classList.toggle("fits", length <= extent + 0.5);
    setStyle(this.#frame, "max-height", vertical ? `${extent + 2}px` : "none");
    for (const part of [this.#frame, this.#names]) setStyle(part, "max-width", `${vertical ? whole : extent}px`);
    return layout;
  }

  /** As many for each screenful of the figure as fit one: on paper it is longer. */
  #mostLines({ extent }: LinesLayout): number {
    return this.printing ? Math.ceil(extent / HEIGHT) * MOST_LINES : MOST_LINES;
  }

  #longest(view: AttentionView): number {
    const { queryTexts: query, keyTexts: key } = view;
    if (this.#labels?.query !== query || this.#labels.key !== key) {
      const width = Math.max(longestLabel(query, FONT), longestLabel(key, FONT));
      this.#labels = { query, key, width };
    }
    return this.#labels.width;
  }

  #paint(picture: LinesPicture, looked: Looked | null, heads: readonly number[]): void {
    const { layout, links } = picture;
    const { gap, extent, offset, slot, direction } = layout;
    const key = [
      gap,
      extent,
      offset,
      slot,
      direction,
      picture.ratio,
      this.shown,
      this.scale,
      this.combine,
      heads,
    ].join();
    // The lines of all tokens are drawn when they change; one token's are drawn over them while it is looked at.
    if (key !== this.#painted || this.#drawnLinks !== links) {
      this.#cutOfAll = paintLines(this.#all, picture, null);
      this.#painted = key;
      this.#drawnLinks = links;
    }
    this.#view.classList.toggle("dimmed", looked !== null);
    const some = paintLines(this.#some, picture, looked ? linksAt(links, looked.side, looked.token) : []);
    this.#cut = looked ? some : this.#cutOfAll;
  }

  #drawSides(view: AttentionView, layout: LinesLayout, links: Links, looked: Looked | null): void {
    const linked = new Map<number, number>();
    const ends = looked?.side === "query" ? links.key : links.query;
    for (const i of looked ? linksAt(links, looked.side, looked.token) : []) {
      const end = ends[i] as number;
      linked.set(end, Math.max(linked.get(end) ?? 0, links.weight[i] as number));
    }
    const single = this.#choice?.heads.length === 1 || this.combine !== "none";
    const breadth = this.#breadth;
    const { spot, pinned } = this;
    for (const side of ["query", "key"] as const) {
      const other = looked !== null && looked.side !== side;
      this.#sides[side].update({
        ...{ layout, breadth, texts: side === "query" ? view.queryTexts : view.keyTexts },
        label: this.say(side === "query" ? words.queries : words.keys),
        looked: looked?.side === side ? looked.token : side === "key" ? (spot?.key ?? null) : null,
        linked: other ? new Set(linked.keys()) : new Set(),
        pinned: (side === "query" ? pinned?.query : pinned?.key) ?? null,
        note: (token) => (other && single && linked.has(token) ? formatWeight(linked.get(token) as number) : ""),
      });
    }
    const [from, to] = this.#names.children;
    if (from && to) {
      const vertical = layout.direction === "vertical";
      setText(from, vertical ? this.say(words.query) : `${this.say(words.query)} ↓ ${this.say(words.key)}`);
      setText(to, vertical ? this.say(words.key) : "");
    }
  }

  // Words --------------------------------------------------------------------------------------------------------------

  #chipKey(view: AttentionView, heads: readonly number[]): string {
    return [view.heads, heads, [...this.state.off], this.shown, this.speaks, this.combine, this.#ratio].join(";");
  }

  #drawHeads(view: AttentionView, heads: readonly number[]): void {
    this.#chipState = this.#chipKey(view, heads);
    this.#controls.node.hidden = !this.controls;
    if (this.controls) this.#controls.update(this, (text) => this.say(text));
    const fixed = this.head !== null && this.heads === null;
    this.#chips.hidden = view.heads < 2 || fixed;
    if (this.#chips.hidden) return;
    setAttributes(this.#chips, { "aria-label": this.say(words.heads) });
    const focused = Array.from(this.#chips.children).indexOf(this.shadowRoot?.activeElement as Element);
    const combined = this.combine === "none" ? null : combinedLook(this.shown);
    this.#chips.replaceChildren(...Array.from({ length: view.heads }, (_, head) => this.#chip(head, heads, combined)));
    if (focused >= 0) (this.#chips.children[focused] as HTMLElement | undefined)?.focus();
  }

  #chip(head: number, heads: readonly number[], combined: SeriesLook | null): HTMLElement {
    const sample = el("canvas", { "aria-hidden": "true" });
    paintSample(sample, combined ?? seriesLook(head, this.shown), this.#ratio);
    const off = this.state.off.has(head);
    const name = this.say(words.toggle, { head });
    const button = el(
      "button",
      {
        type: "button",
        "aria-pressed": heads.includes(head) ? "true" : "false",
        // The name is what is written on it.
        "aria-description": off ? `${name}, ${this.say(words.off)}` : name,
      },
      sample,
      el("span", { class: off ? "off" : null }, this.say(words.short, { head })),
    );
    button.addEventListener("click", () => {
      const next = heads.includes(head) ? heads.filter((each) => each !== head) : [...heads, head];
      if (next.length > 0) this.#show(next);
    });
    return button;
  }

  #show(heads: readonly number[]): void {
    if (this.heads !== null) this.heads = heads;
    else this.state.set({ heads });
  }

  #drawWords(view: AttentionView, links: Links, looked: Looked | null, heads: readonly number[]): void {
    setAttributes(this.#frame, {
      "aria-label": this.say(words.figure),
      "aria-description": this.#summary(view, links, heads),
    });
    const ticks = scaleTicks(this.scale, links.strongest);
    const [from, to] = [ticks[0]?.text ?? "0", ticks[ticks.length - 1]?.text ?? "1"];
    const { top, threshold } = this;
    const filter =
      top === null ? this.say(words.legendAll) : this.say(top === 1 ? words.legendOne : words.legendTop, { top });
    const lines = [
      this.say(words.legendWidth, { from, to }),
      threshold > 0 ? `${filter}, ${this.say(words.legendFrom, { threshold })}` : filter,
    ];
    if (this.#cut.drawn < this.#cut.crossing) lines.push(this.say(words.cut, this.#cut));
    if (links.notNumbers > 0) lines.push(this.say(words.notNumbers, { count: links.notNumbers }));
    const said = lines.join("\n");
    if (this.#legend.dataset["said"] !== said) {
      this.#legend.dataset["said"] = said;
      this.#legend.replaceChildren(...lines.map((line) => el("span", {}, line)));
    }
    this.#sentence.classList.toggle("hint", looked === null);
    this.#sentence.replaceChildren(...(looked ? this.#sentenceOf(view, links, looked, heads) : [this.say(words.hint)]));
  }

  /** The whole picture for the ear. */
  #summary(view: AttentionView, links: Links, heads: readonly number[]): string {
    if (links.count === 0) return this.say(words.none);
    const i = links.weight.indexOf(links.strongest);
    return this.say(words.summary, {
      lines: links.count,
      query: labelText(view.queryTexts[links.query[i] as number] as string),
      key: labelText(view.keyTexts[links.key[i] as number] as string),
      weight: formatWeight(links.strongest),
      series: this.#seriesName(heads, links.series[i] as number, words.head),
    });
  }

  #seriesName(heads: readonly number[], series: number, text: typeof words.head | typeof words.short): string {
    if (this.combine === "none") return this.say(text, { head: heads[series] as number });
    return this.say(this.combine === "mean" ? words.mean : words.max, { count: heads.length });
  }

  /** `query ␣it reads  H3 ␣cat 0.4312, ␣mat 0.2874` */
  #sentenceOf(view: AttentionView, links: Links, looked: Looked, heads: readonly number[]): Node[] {
    const { side, token } = looked;
    const texts = side === "query" ? view.queryTexts : view.keyTexts;
    const ends =
      side === "query" ? { at: links.key, texts: view.keyTexts } : { at: links.query, texts: view.queryTexts };
    const bySeries = new Map<number, number[]>();
    for (const i of linksAt(links, side, token)) {
      const series = links.series[i] as number;
      bySeries.set(series, [...(bySeries.get(series) ?? []), i]);
    }
    const [before = "", after = ""] = this.say(side === "query" ? words.reads : words.readBy, { [side]: "\n" }).split(
      "\n",
    );
    const parts: Node[] = [new Text(before), tokenNode(texts[token] as string, "token looked"), new Text(`${after} `)];
    if (bySeries.size === 0) parts.push(new Text(this.say(words.nothing)));
    for (const [series, lines] of [...bySeries].slice(0, NAMED_SERIES)) {
      lines.sort((a, b) => (links.weight[b] as number) - (links.weight[a] as number));
      parts.push(el("span", { class: "series" }, ` ${this.#seriesName(heads, series, words.short)}: `));
      for (const [n, i] of lines.slice(0, NAMED).entries()) {
        const name = tokenNode(ends.texts[ends.at[i] as number] as string);
        parts.push(
          new Text(n > 0 ? ", " : ""),
          el("span", { class: "link" }, name, " ", el("b", {}, formatWeight(links.weight[i] as number))),
        );
      }
      const more = lines.length - NAMED;
      if (more > 0) parts.push(new Text(` ${this.say(words.more, { count: more })}`));
      parts.push(new Text("; "));
    }
    const more = bySeries.size - NAMED_SERIES;
    if (more > 0) parts.push(new Text(this.say(words.more, { count: more })));
    else if (bySeries.size > 0) parts.pop();
    return parts;
  }

  // The reader ---------------------------------------------------------------------------------------------------------

  #lookedAt(): Looked | null {
    const { spot, view } = this;
    if (spot) return { side: "query", token: spot.query };
    if (this.#keyAlone === null || !view || this.#keyAlone >= view.keys) return null;
    return { side: "key", token: this.#keyAlone };
  }

  #look(looked: Looked | null): void {
    const { pinned } = this;
    this.#keyAlone = looked?.side === "key" && !pinned ? looked.token : null;
    this.invalidate("state");
    if (looked === null || this.#keyAlone !== null) this.preview(null);
    else if (looked.side === "query") this.preview({ query: looked.token, key: null });
    else this.preview({ query: (pinned as NonNullable<typeof pinned>).query, key: looked.token });
  }

  #pick({ side, token }: Looked): void {
    this.#keyAlone = null;
    if (side === "query") this.pick({ query: token, key: null });
    else this.pick({ query: this.pinned?.query ?? this.#readerOf(token), key: token });
  }

  /** The query that reads a key most, in the first head. */
  #readerOf(key: number): number {
    const { view } = this;
    if (!view) return 0;
    const head = this.#headsOf(view)[0] as number;
    let best = 0;
    for (let query = 1; query < view.queries; query++) {
      if (isHidden(view, head, query, key)) continue;
      if (weightAt(view, head, query, key) > weightAt(view, head, best, key)) best = query;
    }
    return best;
  }

  #under(event: MouseEvent): Looked | null {
    const { view } = this;
    const layout = this.#layout;
    if (!view || !layout) return null;
    const { left, top, width, height } = this.#view.getBoundingClientRect();
    // A page may be zoomed by CSS: the layout counts in the element's own pixels.
    const zoom = width / this.#view.offsetWidth || 1;
    const [x, y] = [(event.clientX - left) / zoom, (event.clientY - top) / zoom];
    const vertical = layout.direction === "vertical";
    const side = (vertical ? 2 * zoom * x < width : 2 * zoom * y < height) ? "query" : "key";
    const token = tokenAt(layout, vertical ? y : x, side === "query" ? view.queries : view.keys);
    return token === null ? null : { side, token };
  }

  #listen(): void {
    let touch = false;
    let last = "";
    const change = (looked: Looked | null) => {
      const now = looked ? `${looked.side}${looked.token}` : "";
      if (now === last) return;
      last = now;
      this.#look(looked);
    };
    this.#view.addEventListener("pointerdown", (event) => {
      touch = event.pointerType === "touch";
    });
    this.#view.addEventListener("pointermove", (event) => {
      if (event.pointerType !== "touch") change(this.#under(event));
    });
    this.#view.addEventListener("pointerleave", (event) => {
      if (event.pointerType !== "touch") change(null);
    });
    this.#view.addEventListener("click", (event) => {
      const looked = this.#under(event);
      if (!looked) return;
      const now = this.#lookedAt();
      // A finger cannot hover: the first tap looks, the second on the same token picks.
      if (touch && (now?.side !== looked.side || now.token !== looked.token)) this.#look(looked);
      else this.#pick(looked);
      last = "";
    });
    for (const side of ["query", "key"] as const) {
      const { node } = this.#sides[side];
      node.addEventListener("keydown", (event) => this.#onKey(event, side));
      node.addEventListener("focusin", (event) => {
        if (!(event.target as Element).matches(":focus-visible")) return;
        this.#look({ side, token: this.#sides[side].focused });
        void this.updateComplete.then(() => setText(this.#live, this.#sentence.textContent ?? ""));
      });
      node.addEventListener("focusout", () => this.#look(null));
    }
  }

  #onKey(event: KeyboardEvent, side: Side): void {
    const { view } = this;
    if (!view || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = this.#step(event.key, side, view);
    if (step) {
      event.preventDefault();
      this.#goTo(step);
      return;
    }
    if (event.key === "Enter" || event.key === " ") this.#pick({ side, token: this.#sides[side].focused });
    else if (event.key === "Escape" && this.pinned) this.pick(null);
    else if (event.key === "[" || event.key === "]") this.#turn(view, event.key === "]" ? 1 : -1);
    else return;
    event.preventDefault();
  }

  /** Where a key leads: along the side, or across to the other. */
  #step(key: string, side: Side, view: AttentionView): Looked | null {
    const vertical = this.direction === "vertical";
    const { focused } = this.#sides[side];
    const count = (of: Side) => (of === "query" ? view.queries : view.keys);
    const to = (token: number) => ({ side, token: Math.max(0, Math.min(count(side) - 1, token)) });
    const across = (other: Side) => ({ side: other, token: Math.min(count(other) - 1, focused) });
    switch (key) {
      case vertical ? "ArrowUp" : "ArrowLeft":
        return to(focused - 1);
      case vertical ? "ArrowDown" : "ArrowRight":
        return to(focused + 1);
      case vertical ? "ArrowLeft" : "ArrowUp":
        return side === "key" ? across("query") : null;
      case vertical ? "ArrowRight" : "ArrowDown":
        return side === "query" ? across("key") : null;
      case "PageUp":
        return to(focused - 10);
      case "PageDown":
        return to(focused + 10);
      case "Home":
        return to(0);
      case "End":
        return to(count(side) - 1);
      default:
        return null;
    }
  }

  #goTo({ side, token }: Looked): void {
    this.#scrollTo(token);
    this.#sides[side].focus(token);
  }

  #turn(view: AttentionView, by: number): void {
    const heads = this.#headsOf(view);
    if (heads.length !== 1) return;
    const next = Math.max(0, Math.min(view.heads - 1, (heads[0] as number) + by));
    if (this.head !== null && this.heads === null) this.head = next;
    else this.#show([next]);
  }

  /** Brings a token onto the screen of the figure; the page stays where it is. */
  #scrollTo(token: number): void {
    const layout = this.#layout;
    if (!layout) return;
    const at = along(layout, token);
    const half = layout.slot / 2;
    const by = at - half < 0 ? at - half : at + half > layout.extent ? at + half - layout.extent : 0;
    if (by === 0) return;
    if (layout.direction === "vertical") this.#frame.scrollTop += by;
    else this.#frame.scrollLeft += by;
  }

  /** A pin set elsewhere comes into view, once. */
  #reveal(): void {
    const query = this.pinned?.query ?? null;
    if (query === this.#revealed) return;
    this.#revealed = query;
    if (query !== null) this.#scrollTo(query);
  }

  #choose(choices: Partial<LineChoices>): void {
    Object.assign(this, choices);
    const { top, threshold, combine, direction } = this;
    const detail = { top, threshold, combine, direction };
    this.dispatchEvent(new CustomEvent("filter", { detail, bubbles: true, composed: true }));
  }
}

function same(a: LinesLayout, b: LinesLayout, name: string): boolean {
  return a[name as keyof LinesLayout] === b[name as keyof LinesLayout];
}
