/**
 * The tokens along one axis of a matrix: every one, or where there is no room every second, third … and always the
 * picked one. Nodes are kept from one picked cell to the next: the pointer moves at every frame, and making sixty
 * labels anew each time would cost more than everything else that follows it.
 */

import { el, place, setStyle } from "./dom.js";
import { tokenNode } from "./token-label.js";

export interface AxisRange {
  readonly texts: readonly string[];
  readonly first: number;
  readonly count: number;
  /** Pixels from one label to the next. */
  readonly size: number;
  /** Show every step-th. */
  readonly step: number;
  /** In pixels. */
  readonly longest: number;
}

export class AxisLabels {
  readonly node: HTMLElement;
  private range: AxisRange | null = null;
  private labels = new Map<number, HTMLElement>();
  private picked: number | null = null;

  constructor(
    className: string,
    private readonly side: "left" | "top",
  ) {
    this.node = el("div", { class: className, "aria-hidden": "true" });
  }

  update(range: AxisRange, picked: number | null): void {
    if (!sameRange(this.range, range)) this.build(range);
    const inside = picked !== null && picked >= range.first && picked < range.first + range.count ? picked : null;
    if (inside === this.picked) return;
    if (this.picked !== null) this.mark(this.picked, false);
    if (inside !== null) this.mark(inside, true);
    this.picked = inside;
  }

  private build(range: AxisRange): void {
    this.range = range;
    this.picked = null;
    this.labels = new Map();
    for (let i = 0; i < range.count; i += range.step) this.labels.set(range.first + i, this.make(range.first + i));
    this.node.replaceChildren(...this.labels.values());
  }

  private make(index: number): HTMLElement {
    const { texts, first, size, longest } = this.range as AxisRange;
    const label = tokenNode(texts[index] as string, "token label");
    place(label, { [this.side]: (index - first + 0.5) * size });
    setStyle(label, "max-width", `${longest}px`);
    return label;
  }

  private mark(index: number, on: boolean): void {
    const { step } = this.range as AxisRange;
    const own = this.labels.get(index);
    own?.classList.toggle("picked", on);
    if (own) return;
    if (on) {
      const label = this.make(index);
      label.classList.add("picked");
      this.node.append(label);
    } else this.node.lastElementChild?.remove();
    // The neighbours of a label between two others make room for it.
    for (const [other, label] of this.labels) {
      if (Math.abs(other - index) < step) label.hidden = on;
    }
  }
}

function sameRange(a: AxisRange | null, b: AxisRange): boolean {
  return a !== null && (Object.keys(b) as (keyof AxisRange)[]).every((name) => a[name] === b[name]);
}
