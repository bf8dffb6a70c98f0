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
    if (before?.texts !== range.texts || before.longest !== range.longest) this.clear();
    this.range = range;
    this.picked = picked;
    this.node.classList.toggle("small", range.size < SMALL_CELL);
    const wanted = this.wanted(range, picked);
    for (const [index, label] of this.labels) {
      if (wanted.has(index)) continue;
      label.remove();
      this.labels.delete(index);
    }
    for (const index of wanted) {
      let label = this.labels.get(index);
      const isNew = !label;
      if (!label) {
        label = tokenNode(range.texts[index] as string, "token label");
        setStyle(label, "max-width", `${range.longest}px`);
        this.labels.set(index, label);
        this.node.append(label);
      }
      if (moved || isNew) setStyle(label, this.side, `${(index - range.first + 0.5) * range.size}px`);
      label.classList.toggle("picked", index === picked);
    }
  }

  private wanted({ texts, first, size, length, step }: StripRange, picked: number | null): Set<number> {
    const indices = new Set<number>();
    // A label belongs to the middle of its cell: those whose middle is in view are.
    const inView = (index: number) => (index - first + 0.5) * size >= 0 && (index - first + 0.5) * size <= length;
    const last = Math.min(texts.length - 1, Math.ceil(first + length / size));
    for (let index = Math.ceil(Math.max(0, first - 1) / step) * step; index <= last; index += step) {
      // The neighbours of a picked label between two others make room for it.
      const crowded = picked !== null && index !== picked && Math.abs(index - picked) < step;
      if (inView(index) && !(crowded && inView(picked))) indices.add(index);
    }
    if (picked !== null && picked < texts.length && inView(picked)) indices.add(picked);
    return indices;
  }

  private clear(): void {
    this.labels.clear();
    this.node.replaceChildren();
  }
}
