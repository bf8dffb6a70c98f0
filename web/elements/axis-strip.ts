/**
 * The tokens along one axis of a matrix that may be zoomed: every one, or where there is no room every second, third …
 * and always the picked one. Nodes are kept from one frame to the next: while the pointer moves only two change, while
 * the matrix is panned they only move.
 *
 * Leaning labels stand in one frame that is turned as a whole, and only what is too long is clipped: a label with a
 * transform or a clip of its own is one more piece that the browser sorts into layers in every frame. A hundred of them
 * took 1.5 ms.
 */

import { el, setStyle } from "./dom.js";
import { labelWidth } from "./label-width.js";
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
  /** CSS font of the labels, to find those that are longer. */
  readonly font: string;
  /** Degrees by which labels along a horizontal axis lean. */
  readonly slant: number;
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
  private readonly turned = el("div", { class: "turned" });
  private cos = 1;
  private sin = 0;

  constructor(
    part: string,
    private readonly side: "left" | "top",
  ) {
    this.node = el("div", { class: part, part: `labels ${part}`, "aria-hidden": "true" }, this.turned);
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
    if (before?.texts !== range.texts || before.longest !== range.longest || before.font !== range.font) this.clear();
    this.range = range;
    this.node.classList.toggle("small", range.size < SMALL_CELL);
    if (this.side === "left" && before?.slant !== range.slant) {
      const radians = (range.slant * Math.PI) / 180;
      this.cos = Math.cos(radians);
      this.sin = Math.sin(radians);
      setStyle(this.turned, "transform", `rotate(${-range.slant}deg)`);
    }
    const wanted = regular(range);
    for (const [index, label] of this.labels) {
      if (wanted.has(index)) continue;
      label.remove();
      this.labels.delete(index);
    }
    for (const index of wanted) {
      let label = this.labels.get(index);
      if (!label) {
        const text = range.texts[index] as string;
        label = tokenNode(text, "token label");
        this.fit(label, text);
        this.labels.set(index, label);
        this.turned.append(label);
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
    else if (!this.track.isConnected) this.turned.append(this.track);
    if (index === null || own) return;
    // The neighbours of a label between two others make room for it.
    const left = index - (index % range.step);
    for (const near of [left, left + range.step]) this.labels.get(near)?.classList.toggle("crowded", on && isGuest);
    if (!isGuest) return;
    const text = range.texts[index] as string;
    if (text !== this.guestText) {
      this.guestText = text;
      this.guest.replaceChildren(...tokenNode(text).childNodes);
      this.fit(this.guest, text);
    }
    const at = (index - range.first + 0.5) * range.size;
    const [x, y] = this.side === "left" ? [at * this.cos, at * this.sin] : [0, at];
    setStyle(this.track, "transform", `translate(${x}px, ${y}px)`);
  }

  /** Cuts off what is too long. */
  private fit(label: HTMLElement, text: string): void {
    const { longest, font } = this.range as StripRange;
    const isLong = labelWidth(text, font) > longest;
    label.classList.toggle("long", isLong);
    setStyle(label, "max-width", isLong ? `${longest}px` : "");
  }

  private put(label: HTMLElement, index: number): void {
    const { first, size } = this.range as StripRange;
    const at = (index - first + 0.5) * size;
    if (this.side === "top") setStyle(label, "top", `${at}px`);
    else {
      // The frame is turned around its origin: this is the place on the axis as the frame counts.
      setStyle(label, "left", `${at * this.cos}px`);
      setStyle(label, "bottom", `${-at * this.sin}px`);
    }
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
