/**
 * <token-strip>: the tokens in order, the picked query and key marked, and under each token a bar in the colour of the
 * weight the query gives it. Events: `pick` {query}, `preview` {query | null}.
 */

import { language, say } from "../i18n/index.js";
import type { AttentionView, Scale, Spot } from "./attention-view.js";
import { domainTop, isHidden, weightAt } from "./attention-view.js";
import { darkTheme, el, setAttributes, setText } from "./dom.js";
import { css, ramp, rampIndex } from "./ramp.js";
import { moveIndex, rove } from "./roving.js";
import { tokenNode } from "./token-label.js";

export interface TokenStripState {
  readonly texts: readonly string[];
  /** Null until the first result is there: the tokens show at once, the bars follow. */
  readonly view: AttentionView | null;
  readonly head: number;
  readonly scale: Scale;
  readonly spot: Spot | null;
  readonly pinned: Spot | null;
}

interface Chip {
  readonly button: HTMLButtonElement;
  readonly bar: HTMLElement;
  readonly role: HTMLElement;
  look: string;
}

export class TokenChips extends HTMLElement {
  private chips: Chip[] = [];
  private shown: readonly string[] = [];
  private focused = 0;
  private revealed: number | null = null;

  connectedCallback(): void {
    this.setAttribute("role", "toolbar");
    this.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const next = moveIndex(event.key, this.focused, this.chips.length, 1);
      if (next === null) return;
      event.preventDefault();
      this.focus1(next);
      this.chips[next]?.button.focus();
    });
    this.addEventListener("pointerleave", () => this.emit("preview", { query: null }));
  }

  update({ texts, view, head, scale, spot, pinned }: TokenStripState): void {
    this.setAttribute("aria-label", say("tokens.label"));
    this.rebuild(texts);
    const colors = ramp(darkTheme() ? "dark" : "light");
    const known = view && spot && view.keys === texts.length && spot.query < view.queries ? view : null;
    const top = known ? domainTop(known, head, scale) : 1;
    for (const [i, chip] of this.chips.entries()) {
      const isQuery = spot?.query === i;
      const isKey = spot !== null && spot.key === i;
      const isPinned = pinned?.query === i;
      const hidden = !known || !spot || isHidden(known, head, spot.query, i);
      const entry = hidden ? null : (colors.colors[rampIndex(weightAt(known, head, spot.query, i), top)] ?? null);
      // 512 chips follow the pointer: the page is touched only where something changed.
      const look = `${isQuery}${isKey}${isPinned}${entry}${language()}`;
      if (chip.look === look) continue;
      chip.look = look;
      setAttributes(chip.button, {
        "aria-pressed": isPinned ? "true" : "false",
        "data-query": isQuery,
        "data-key": isKey && !isQuery,
      });
      const roles = [isQuery ? say("tokens.query") : "", isKey ? say("tokens.key") : ""].filter(Boolean);
      setText(chip.role, roles.join(" · "));
      chip.bar.style.backgroundColor = entry ? css(entry) : "transparent";
    }
    this.reveal(pinned);
  }

  /** A pin set elsewhere (in the matrix, by a link) scrolls its query into the strip's view. */
  private reveal(pinned: Spot | null): void {
    const query = pinned?.query ?? null;
    if (query === this.revealed) return;
    this.revealed = query;
    const button = query === null ? null : this.chips[query]?.button;
    if (!button || this.scrollHeight <= this.clientHeight) return;
    const chip = button.getBoundingClientRect();
    const strip = this.getBoundingClientRect();
    if (chip.top < strip.top || chip.bottom > strip.bottom) {
      this.scrollTop += chip.top - (strip.top + strip.height / 2);
    }
  }

  private rebuild(texts: readonly string[]): void {
    if (texts === this.shown) return;
    let same = 0;
    while (same < texts.length && same < this.shown.length && texts[same] === this.shown[same]) same++;
    this.shown = texts;
    // Only what changed is made anew, so that typing at the end of a long text costs one token.
    for (const chip of this.chips.splice(same)) chip.button.remove();
    for (let i = same; i < texts.length; i++) {
      const bar = el("span", { class: "bar" });
      const role = el("span", { class: "role" });
      const label = tokenNode(texts[i] as string);
      label.classList.toggle("long", (texts[i] as string).length > 20);
      const button = el("button", { type: "button", class: "chip", tabindex: -1 }, label, bar, role);
      button.addEventListener("click", () => {
        this.focus1(i);
        this.emit("pick", { query: i });
      });
      button.addEventListener("pointerenter", (event) => {
        if (event.pointerType === "mouse") this.emit("preview", { query: i });
      });
      this.chips.push({ button, bar, role, look: "" });
      this.append(button);
    }
    this.focus1(Math.min(this.focused, Math.max(0, texts.length - 1)));
  }

  private focus1(index: number): void {
    this.focused = index;
    rove(
      this.chips.map((chip) => chip.button),
      index,
    );
  }

  private emit(type: string, detail: object): void {
    this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true }));
  }
}
