/**
 * The tokens along one axis of a matrix that may be zoomed: every one, or where there is no room every second, third …
 * and always the picked one. Nodes are kept from one frame to the next: while the pointer moves only two change, while
 * the matrix is panned they only move.
 */

import { el, setStyle } from "./dom.js";
import { tokenNode } from "./token-label.js";

export interface StripRange {
  readonly texts: readonly string[];
  /** The place at the start of the strip, in cells; may lie inside a cell. */
  readonly first: number;
  /** Pixels from one label to the next. */
  readonly size: number;
  /** Pixels of the strip. */
  readonly length: number;
  /** Show every step-th. */
  readonly step: number;
  /** Longest label, in pixels. */
  readonly longest: number;
}

/** Where cells are lower than a line of text, the labels are a little smaller. */
const SMALL_CELL = 14;

export class AxisStrip {
  readonly node: HTMLElement;
  private range: StripRange | null = null;
  private readonly labels = new Map<number, HTMLElement>();
  private picked: number | null = null;
  /** Carries the text of a picked label that is none of the regular ones. */
  private readonly guest = el("bdi", { class: "token label picked" });
  // In a layer of its own, which moves as a whole: a label that moves among sixty others has them all laid out again.
  private readonly track = el("div", { class: "track" }, this.guest);
  private guestText: string | null = null;

  constructor(
    part: string,
    private readonly side: "left" | "top",
  ) {
    this.node = el("div", { class: part, part: `labels ${part}`, "aria-hidden": "true" });
  }

  update(range: StripRange, picked: number | null): void {
    const before = this.range;
    const moved = !before || (Object.keys(range) as (keyof StripRange)[]).some((name) => before[name] !== range[name]);
    if (!moved && picked === this.picked) return;
    if (moved) this.arrange(range, before);
    else this.mark(this.picked, false);
    this.picked = picked;
    this.mark(picked, true);
  }

  private arrange(range: StripRange, before: StripRange | null): void {
    if (before?.texts !== range.texts || before.longest !== range.longest) this.clear();
    this.range = range;
    this.node.classList.toggle("small", range.size < SMALL_CELL);
    const wanted = regular(range);
    for (const [index, label] of this.labels) {
      if (wanted.has(index)) continue;
      label.remove();
      this.labels.delete(index);
    }
    for (const index of wanted) {
      let label = this.labels.get(index);
      if (!label) {
        label = tokenNode(range.texts[index] as string, "token label");
        setStyle(label, "max-width", `${range.longest}px`);
        this.labels.set(index, label);
        this.node.append(label);
      }
      label.classList.remove("picked", "crowded");
      this.put(label, index);
    }
  }

  private mark(index: number | null, on: boolean): void {
    const range = this.range as StripRange;
    const own = index === null ? undefined : this.labels.get(index);
    own?.classList.toggle("picked", on);
    const isGuest = on && index !== null && !own && index < range.texts.length && inView(range, index);
    if (!isGuest) this.track.remove();
    else if (!this.track.isConnected) this.node.append(this.track);
    if (index === null || own) return;
    // The neighbours of a label between two others make room for it.
    const left = index - (index % range.step);
    for (const near of [left, left + range.step]) this.labels.get(near)?.classList.toggle("crowded", on && isGuest);
    if (!isGuest) return;
    const text = range.texts[index] as string;
    if (text !== this.guestText) {
      this.guestText = text;
      this.guest.replaceChildren(...tokenNode(text).childNodes);
      this.guest.classList.toggle("long", text.length > 6);
      setStyle(this.guest, "max-width", `${range.longest}px`);
    }
    const at = `${(index - range.first + 0.5) * range.size}px`;
    setStyle(this.track, "transform", this.side === "left" ? `translateX(${at})` : `translateY(${at})`);
  }

  private put(label: HTMLElement, index: number): void {
    const { first, size } = this.range as StripRange;
    setStyle(label, this.side, `${(index - first + 0.5) * size}px`);
  }

  private clear(): void {
    for (const label of this.labels.values()) label.remove();
    this.labels.clear();
    this.guestText = null;
  }
}

/** A label belongs to the middle of its cell: those whose middle is in view are. */
function inView({ first, size, length }: StripRange, index: number): boolean {
  const middle = (index - first + 0.5) * size;
  return middle >= 0 && middle <= length;
}

function regular(range: StripRange): Set<number> {
  const { texts, first, size, length, step } = range;
  const indices = new Set<number>();
  const last = Math.min(texts.length - 1, Math.ceil(first + length / size));
  for (let index = Math.ceil(Math.max(0, first - 1) / step) * step; index <= last; index += step) {
    if (inView(range, index)) indices.add(index);
  }
  return indices;
}
