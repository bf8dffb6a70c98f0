/**
 * `<token-strip>`: the tokens in order, the picked query and key marked, and under each token a bar in the colour of the
 * weight that the query gives it.
 *
 *     const strip = document.querySelector("token-strip");
 *     strip.tokens = ["The", " cat", " sat"];
 *     strip.weights = weights; // optional; strip.state = state links it to other elements
 *
 * Point at a token to look at its row, click or press Enter to keep it, Escape lets go; under a finger a tap looks and a
 * second one keeps. Arrow keys, Home and End move.
 */

import { type AttentionView, isHidden, type Spot, weightAt } from "./attention-view.js";
import { el, setAttributes, setStyle, setText } from "./dom.js";
import { formatWeight } from "./format.js";
import { HeadElement } from "./head-element.js";
import { css, ramp, rampIndex } from "./ramp.js";
import { moveIndex, rove } from "./roving.js";
import { evenShares, type RampPlace, rampPlace, scaleTop } from "./scale.js";
import type { Reason } from "./scope-element.js";
import { axis, type Words } from "./strings.js";
import { byteMark, tokenNode } from "./token-label.js";

const words = {
  queries: [
    "Tokens. Arrow keys move, Enter picks the query, Escape lets go.",
    "词元。方向键移动，回车选定查询，Esc 取消。",
  ],
  keys: [
    "Key tokens. Arrow keys move, Enter picks the key, Escape lets go.",
    "键词元。方向键移动，回车选定键，Esc 取消。",
  ],
  weight: ["weight {weight} from query {query}", "来自查询 {query} 的权重 {weight}"],
  special: ["special token", "特殊词元"],
  bytes: ["part of a character, bytes {bytes}", "一个字符的一部分，字节 {bytes}"],
} as const satisfies Record<string, Words>;

const STYLE = `
.chips {
  display: flex;
  flex-wrap: wrap;
  gap: 6px 5px;
  max-height: var(--hs-strip-height, 190px);
  overflow-y: auto;
  padding-block: 3px;
  margin-block: -3px;
}
.chip {
  position: relative;
  display: inline-flex;
  align-items: baseline;
  gap: 6px;
  max-width: min(260px, 100%);
  min-height: 30px;
  padding: 3px 7px 7px;
  border: 1px solid var(--_line);
  border-radius: 6px;
  background: var(--_card);
  color: inherit;
  font: 14px/1.35 var(--_sans);
  cursor: pointer;
}
.chip:hover {
  border-color: var(--_line-strong);
}
.chip .long {
  overflow: hidden;
  text-overflow: ellipsis;
}
.chip.special {
  border-style: dashed;
  border-color: var(--_line-strong);
}
.bar {
  position: absolute;
  left: 3px;
  right: 3px;
  bottom: 2px;
  height: 4px;
  border-radius: 2px;
}
.role {
  font-size: 10px;
  line-height: 1;
  letter-spacing: 0.02em;
}
.role:empty {
  display: none;
}
.chip[data-query] {
  background: var(--_pick-text);
  border-color: var(--_pick-text);
  color: var(--_pick-ink);
}
.chip[data-query] .mark {
  color: inherit;
}
.chip[data-key] {
  border-color: var(--_pick);
  box-shadow: inset 0 0 0 1px var(--_pick);
  color: var(--_pick-text);
}
.chip:focus-visible {
  outline: 2px solid var(--_on);
  /* The strip scrolls inside itself, and cuts off what stands out of it. */
  outline-offset: -1px;
}
@media (forced-colors: active) {
  .bar {
    forced-color-adjust: none;
  }
  .chip[data-query] {
    forced-color-adjust: none;
    background: Highlight;
    border-color: Highlight;
    color: HighlightText;
  }
  .chip[data-key] {
    border-width: 3px;
    border-color: Highlight;
  }
}
@media (pointer: coarse) {
  .chip {
    min-height: 36px;
    align-items: center;
  }
}
@media print {
  .chips {
    max-height: none;
  }
  .chip {
    print-color-adjust: exact;
    -webkit-print-color-adjust: exact;
  }
}
`;

interface Chip {
  readonly node: HTMLElement;
  readonly bar: HTMLElement;
  readonly role: HTMLElement;
  look: string;
}

/** What one chip shows; chips are kept as long as this stays the same. */
interface Label {
  readonly text: string;
  readonly special: boolean;
}

/** From weights to colours, kept from one move of the pointer to the next. */
interface Colors {
  readonly view: AttentionView;
  readonly head: number;
  readonly place: RampPlace;
  readonly even: Float32Array;
}

type Side = "query" | "key";

/**
 * Properties: those of every head element, of which `weights` is optional here, and `special`, `bytes`, `side`.
 * Parts: `base`, `chips`, `chip`. Custom property: `--hs-strip-height`, after which the strip scrolls (190px).
 */
export class TokenStrip extends HeadElement {
  static override get observedAttributes(): string[] {
    return [...HeadElement.observedAttributes, "side"];
  }

  readonly #list = el("div", { class: "chips", part: "chips", role: "listbox", "aria-orientation": "horizontal" });
  #chips: Chip[] = [];
  #labels: readonly Label[] = [];
  #special: ReadonlySet<number> = new Set();
  #bytes: readonly (ArrayLike<number> | null)[] | null = null;
  #focused = 0;
  #revealed: number | null = null;
  #colors: Colors | null = null;

  constructor() {
    super(STYLE);
    this.base.append(this.#list);
    this.#list.addEventListener("keydown", (event) => this.#onKey(event));
    let touch = false;
    this.#list.addEventListener("pointerdown", (event) => {
      touch = event.pointerType === "touch";
    });
    this.#list.addEventListener("click", (event) => {
      const token = this.#tokenOf(event);
      if (token === null) return;
      this.#focusOn(token);
      const spot = this.#spotOf(token);
      // A finger cannot hover: the first tap looks, the second on the same token picks.
      if (touch && (this.spot?.query !== spot.query || this.spot.key !== spot.key)) this.preview(spot);
      else this.pick(spot);
    });
    this.#list.addEventListener("focusout", (event) => {
      if (event.relatedTarget === null || !this.#list.contains(event.relatedTarget as Node)) this.preview(null);
    });
    this.#list.addEventListener("pointerover", (event) => {
      const token = event.pointerType === "touch" ? null : this.#tokenOf(event);
      if (token !== null) this.preview(this.#spotOf(token));
    });
    this.#list.addEventListener("pointerleave", (event) => {
      if (event.pointerType !== "touch") this.preview(null);
    });
  }

  /** Places of special tokens (begin, end, padding …), which get a dashed border. Default none. */
  get special(): Iterable<number> {
    return this.#special;
  }
  set special(places: Iterable<number> | null) {
    this.#special = new Set(places ?? []);
    this.invalidate("data");
  }

  /**
   * For tokens that are only a piece of a character, their bytes, and null for the others: a third of 学 is shown as
   * ‹E5› and not as �. Default null: none is.
   */
  get bytes(): readonly (ArrayLike<number> | null)[] | null {
    return this.#bytes;
  }
  set bytes(bytes: readonly (ArrayLike<number> | null)[] | null) {
    this.#bytes = bytes;
    this.invalidate("data");
  }

  /** Which tokens these are: `"query"`, or `"key"` for the keys of cross-attention. Default `"query"`. */
  get side(): Side {
    return this.getAttribute("side") === "key" ? "key" : "query";
  }
  set side(side: Side) {
    this.reflect("side", side === "query" ? "" : side);
  }

  protected override render(reasons: ReadonlySet<Reason>): void {
    super.render(reasons);
    // Tokens show at once; what is known about them follows.
    if (this.weights === null || !this.view) this.#draw(null, reasons);
  }

  protected override renderView(view: AttentionView, reasons: ReadonlySet<Reason>): void {
    if (this.weights !== null) this.#draw(view, reasons);
  }

  #draw(view: AttentionView | null, reasons: ReadonlySet<Reason>): void {
    if (reasons.has("data") || reasons.has("look")) {
      setAttributes(this.#list, { "aria-label": this.say(this.side === "key" ? words.keys : words.queries) });
      this.#build(this.#texts(view));
    }
    const { spot, pinned, side } = this;
    const colors = view && spot ? this.#colorsOf(view, reasons) : null;
    const palette = ramp(this.shown);
    for (const [i, chip] of this.#chips.entries()) {
      const isQuery = side === "query" && spot?.query === i;
      const isKey = spot !== null && spot.key === i && (side === "key" || view?.keys === this.#chips.length);
      const isPinned = pinned !== null && (side === "key" ? pinned.key : pinned.query) === i;
      const entry = colors && spot ? this.#entry(colors, spot.query, i) : -1;
      // Hundreds of chips follow the pointer: the page is touched only where something changed.
      const look = `${isQuery}${isKey}${isPinned}${entry}${this.shown}${this.speaks}`;
      if (chip.look === look) continue;
      chip.look = look;
      setAttributes(chip.node, {
        "aria-selected": isPinned ? "true" : "false",
        "data-query": isQuery,
        "data-key": isKey && !isQuery,
      });
      const roles = [isQuery ? this.say(axis.query) : "", isKey ? this.say(axis.key) : ""].filter(Boolean);
      setText(chip.role, roles.join(" · "));
      const color = palette.colors[entry];
      setStyle(chip.bar, "background-color", color ? css(color) : "transparent");
    }
    this.#reveal(pinned);
  }

  #texts(view: AttentionView | null): readonly string[] {
    if (view) return this.side === "key" ? view.keyTexts : view.queryTexts;
    return (this.side === "key" ? this.keyTokens : null) ?? this.tokens ?? [];
  }

  #colorsOf(view: AttentionView, reasons: ReadonlySet<Reason>): Colors {
    const head = this.shownHead;
    if (this.#colors?.view !== view || this.#colors.head !== head || reasons.has("look")) {
      const top = scaleTop(view, head, this.scale);
      this.#colors = { view, head, place: rampPlace(this.scale, top), even: evenShares(view, head) };
    }
    return this.#colors;
  }

  /** Entry of the ramp for a key of a query; −1 where it has none. */
  #entry(colors: Colors, query: number, key: number): number {
    const { view, head, place, even } = colors;
    if (view.keys !== this.#chips.length || isHidden(view, head, query, key)) return -1;
    return rampIndex(place(weightAt(view, head, query, key), even[query] as number), 1);
  }

  #build(texts: readonly string[]): void {
    const labels = texts.map((text, i) => this.#label(text, i));
    let same = 0;
    while (same < labels.length && alike(labels[same], this.#labels[same])) same++;
    this.#labels = labels;
    // Only what changed is made anew, so that typing at the end of a long text costs one token.
    for (const chip of this.#chips.splice(same)) chip.node.remove();
    for (const [i, label] of labels.entries()) if (i >= same) this.#chips.push(this.#chip(label));
    this.#list.append(...this.#chips.slice(same).map((chip) => chip.node));
    this.#focusOn(Math.min(this.#focused, Math.max(0, labels.length - 1)));
  }

  #label(text: string, i: number): Label {
    const bytes = this.#bytes?.[i];
    return { text: bytes ? Array.from(bytes, byteMark).join("") : text, special: this.#special.has(i) };
  }

  #chip({ text, special }: Label): Chip {
    const bar = el("span", { class: "bar" });
    const role = el("span", { class: "role" });
    const label = tokenNode(text);
    label.classList.toggle("long", text.length > 20);
    const node = el("div", { class: "chip", part: "chip", role: "option", tabindex: -1 }, label, bar, role);
    node.classList.toggle("special", special);
    // Only what may be cut off needs its whole text under the pointer.
    if (text.length > 20) node.title = text;
    return { node, bar, role, look: "" };
  }

  #tokenOf(event: Event): number | null {
    const node = event.target instanceof Element ? event.target.closest(".chip") : null;
    const at = this.#chips.findIndex((chip) => chip.node === node);
    return at < 0 ? null : at;
  }

  /** A key needs a query: the one looked at, else the one that reads it most. */
  #spotOf(token: number): Spot {
    if (this.side === "query") return { query: token, key: null };
    const { view } = this;
    let query = this.pinned?.query ?? this.spot?.query ?? 0;
    if (view && !this.spot) {
      for (let q = 0; q < view.queries; q++) {
        if (weightAt(view, this.shownHead, q, token) > weightAt(view, this.shownHead, query, token)) query = q;
      }
    }
    return { query, key: token };
  }

  #focusOn(token: number): void {
    this.#focused = token;
    rove(
      this.#chips.map((chip) => chip.node),
      token,
    );
    this.#describe(token);
  }

  /** What the bar says, for the ear; of the one chip that can be heard. */
  #describe(token: number): void {
    const chip = this.#chips[token];
    if (!chip) return;
    const { view, pinned, shownHead: head } = this;
    const said: string[] = [];
    if (this.#special.has(token)) said.push(this.say(words.special));
    const bytes = this.#bytes?.[token];
    if (bytes) said.push(this.say(words.bytes, { bytes: hex(bytes) }));
    if (this.weights !== null && view && pinned && view.keys === this.#chips.length) {
      const weight = formatWeight(weightAt(view, head, pinned.query, token), isHidden(view, head, pinned.query, token));
      said.push(this.say(words.weight, { weight, query: view.queryTexts[pinned.query] ?? pinned.query }));
    }
    setAttributes(chip.node, { "aria-description": said.join(", ") || null });
  }

  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      if (this.#chips.length > 0) this.pick(this.#spotOf(this.#focused));
      return;
    }
    if (event.key === "Escape") {
      if (this.pinned) this.pick(null);
      return;
    }
    const next = moveIndex(event.key, this.#focused, this.#chips.length, 1);
    if (next === null || !this.#chips[next]) return;
    event.preventDefault();
    this.#focusOn(next);
    this.#chips[next]?.node.focus();
    this.preview(this.#spotOf(next));
  }

  /** A pin set elsewhere (in a matrix, by a link) scrolls its token into view. */
  #reveal(pinned: Spot | null): void {
    const token = (this.side === "key" ? pinned?.key : pinned?.query) ?? null;
    if (token === this.#revealed) return;
    this.#revealed = token;
    const list = this.#list;
    const node = token === null ? null : this.#chips[token]?.node;
    if (!node || list.scrollHeight <= list.clientHeight) return;
    const chip = node.getBoundingClientRect();
    const strip = list.getBoundingClientRect();
    if (chip.top < strip.top || chip.bottom > strip.bottom) {
      list.scrollTop += chip.top - (strip.top + strip.height / 2);
    }
  }
}

function alike(a: Label | undefined, b: Label | undefined): boolean {
  return a !== undefined && b !== undefined && a.text === b.text && a.special === b.special;
}

function hex(bytes: ArrayLike<number>): string {
  return Array.from(bytes, (byte) => byte.toString(16).toUpperCase().padStart(2, "0")).join(" ");
}
