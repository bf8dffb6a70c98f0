/**
 * What follows the pointer over a heatmap: the bands of the row and the column, the ring of the cell and that of the
 * pinned one. Elements that are moved by transforms and not a second canvas: a canvas that changes is copied whole in
 * every frame, which took 3 of the 8 ms that a frame may have.
 */

import type { Spot } from "../attention-view.js";
import { el, place } from "../dom.js";
import { cellSize, type Plot, type Viewport } from "../viewport.js";

/** Around tiny cells the ring keeps a size that can be seen. */
const SMALLEST_RING = 9;

export const MARKS_STYLE = `
.marks {
  position: absolute;
  inset: 0;
  pointer-events: none;
  contain: strict;
}
.marks > * {
  position: absolute;
  left: 0;
  top: 0;
  will-change: transform;
}
.band {
  border: 0 solid var(--_pick);
  opacity: 0.5;
}
.band.row {
  border-block-width: 1px;
}
.band.column {
  border-inline-width: 1px;
}
.ring, .pin {
  border-radius: 1px;
}
.ring {
  box-shadow: inset 0 0 0 1.5px var(--_pick);
}
.pin {
  border: 2px solid var(--_pick);
}
/* A shadow is not drawn there. */
@media (forced-colors: active) {
  .ring {
    outline: 2px solid Highlight;
    outline-offset: -2px;
  }
}
`;

export class HeatMarks {
  private readonly row = el("i", { class: "band row" });
  private readonly column = el("i", { class: "band column" });
  private readonly ring = el("i", { class: "ring" });
  private readonly pin = el("i", { class: "pin" });
  readonly node = el("div", { class: "marks", "aria-hidden": "true" }, this.row, this.column, this.ring, this.pin);

  update(plot: Plot, viewport: Viewport, spot: Spot | null, pinned: Spot | null): void {
    const { width, height } = cellSize(plot, viewport.zoom);
    const left = (key: number) => (key - viewport.column) * width;
    const top = (query: number) => (query - viewport.row) * height;
    // Lines stand on whole pixels, in the gap before the cell.
    const on = (at: number) => Math.round(at) - 1;
    const ringAround = (node: HTMLElement, at: Spot | null) => {
      if (!show(node, at !== null && at.key !== null) || !at || at.key === null) return;
      const w = Math.max(width, SMALLEST_RING);
      const h = Math.max(height, SMALLEST_RING);
      move(node, left(at.key) + (width - 1 - w) / 2, top(at.query) + (height - 1 - h) / 2, w, h);
    };
    if (show(this.row, spot !== null) && spot) move(this.row, 0, on(top(spot.query)), plot.width, height + 1);
    if (show(this.column, spot !== null && spot.key !== null) && spot && spot.key !== null) {
      move(this.column, on(left(spot.key)), 0, width + 1, plot.height);
    }
    ringAround(this.ring, spot);
    ringAround(this.pin, pinned);
  }
}

function show(node: HTMLElement, shown: boolean): boolean {
  if (node.hidden === shown) node.hidden = !shown;
  return shown;
}

const placed = new WeakMap<HTMLElement, { width: number; height: number; transform: string }>();

/** A transform costs no layout, and the size seldom changes. Asking the node for its style costs more than remembering. */
export function move(node: HTMLElement, x: number, y: number, width: number, height: number): void {
  const transform = `translate(${x}px, ${y}px)`;
  const before = placed.get(node);
  if (before?.width !== width || before.height !== height) place(node, { width, height });
  if (before?.transform !== transform) node.style.transform = transform;
  placed.set(node, { width, height, transform });
}
