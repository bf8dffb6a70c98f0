/**
 * The tokens along one side of the lines, as a list to walk through. Only what is on screen is in the page, and what has
 * the focus: of 1,024 tokens about thirty.
 */

import { el, place, setAttributes, setText } from "../dom.js";
import { tokenNode } from "../token-label.js";
import { along, type Direction, type LinesLayout, visibleRange } from "./layout.js";

export interface SideState {
  readonly texts: readonly string[];
  readonly layout: LinesLayout;
  /** Pixels across the side. */
  readonly breadth: number;
  readonly label: string;
  /** The token looked at, and those at the other end of its lines. */
  readonly looked: number | null;
  readonly linked: ReadonlySet<number>;
  readonly pinned: number | null;
  /** What stands beside a token, such as a weight; "" for nothing. */
  note(token: number): string;
}

interface Item {
  readonly node: HTMLElement;
  readonly note: HTMLElement;
}

export class TokenSide {
  readonly node: HTMLElement;
  /** The token in the tab order. */
  focused = 0;
  private readonly items = new Map<number, Item>();
  private texts: readonly string[] = [];
  private direction: Direction = "vertical";

  constructor(readonly side: "query" | "key") {
    this.node = el("div", { class: `side ${side}`, part: `side ${side}`, role: "listbox" });
  }

  update(state: SideState): void {
    const { texts, layout, breadth, label, looked, linked, pinned } = state;
    // A side that turns begins anew: what is placed along the other axis would stay.
    if (texts !== this.texts || layout.direction !== this.direction) {
      this.texts = texts;
      this.direction = layout.direction;
      for (const length of ["width", "height"]) this.node.style.removeProperty(length);
      for (const { node } of this.items.values()) node.remove();
      this.items.clear();
      this.focused = Math.max(0, Math.min(this.focused, texts.length - 1));
    }
    const vertical = layout.direction === "vertical";
    setAttributes(this.node, {
      "aria-label": label,
      "aria-orientation": layout.direction,
    });
    place(this.node, vertical ? { width: breadth } : { height: breadth });
    const { first, last } = visibleRange(layout, texts.length);
    const wanted = (token: number) => (token >= first && token <= last) || token === this.focused;
    for (const [token, { node }] of this.items) {
      if (wanted(token)) continue;
      node.remove();
      this.items.delete(token);
    }
    for (let token = first; token <= last; token++) this.item(token);
    if (texts.length > 0) this.item(this.focused);
    for (const [token, { node, note }] of this.items) {
      // Where it stands is written in the coordinates of what is on screen, which does not scroll.
      const at = along(layout, token) - layout.slot / 2;
      place(node, vertical ? { top: at, height: layout.slot } : { left: at, width: layout.slot });
      const isLooked = looked === token;
      setAttributes(node, {
        tabindex: token === this.focused ? 0 : -1,
        "aria-selected": pinned === token ? "true" : "false",
        "data-looked": isLooked,
        "data-linked": !isLooked && linked.has(token),
      });
      setText(note, state.note(token));
    }
  }

  focus(token: number): void {
    this.focused = token;
    this.item(token).node.focus({ preventScroll: true });
  }

  private item(token: number): Item {
    let item = this.items.get(token);
    if (!item) {
      const note = el("span", { class: "note" });
      const node = el(
        "div",
        { role: "option", class: "item", part: "token" },
        tokenNode(this.texts[token] as string),
        note,
      );
      setAttributes(node, { "aria-posinset": token + 1, "aria-setsize": this.texts.length, tabindex: -1 });
      if ((this.texts[token] as string).length > 8) node.title = this.texts[token] as string;
      item = { node, note };
      this.items.set(token, item);
      this.insert(token, node);
    }
    return item;
  }

  /** In the order of the text, which is the order it is read in. */
  private insert(token: number, node: HTMLElement): void {
    let next: { token: number; node: HTMLElement } | null = null;
    for (const [other, { node: otherNode }] of this.items) {
      if (other > token && (next === null || other < next.token)) next = { token: other, node: otherNode };
    }
    this.node.insertBefore(node, next?.node ?? null);
  }
}
