/** The minimap beside a large matrix: the whole in 72 pixels, and the part that is in view. */

import { el, pixelRatio, place, setAttributes } from "../dom.js";
import type { Ramp } from "../ramp.js";
import { cellSize, type Plot, type Viewport } from "../viewport.js";
import { paintMap } from "./painter.js";

const SIDE = 72;
/** A matrix that is much longer than wide is not drawn thinner than this. */
const THINNEST = 12;

export class HeatMap {
  private readonly canvas = el("canvas");
  private readonly frame = el("i");
  /** Keys and buttons do the same: for the pointer only. */
  readonly node = el("div", { class: "map hatch", part: "map", "aria-hidden": "true" }, this.canvas, this.frame);
  private drawn: { codes: Uint16Array; ramp: Ramp; version: number } | null = null;
  private shape = { rows: 1, columns: 1 };

  /** `center` is called with a place of the matrix, in cells. */
  constructor(center: (row: number, column: number) => void) {
    const go = (event: PointerEvent) => {
      const { left, top, width, height } = this.canvas.getBoundingClientRect();
      center(((event.clientY - top) / height) * this.shape.rows, ((event.clientX - left) / width) * this.shape.columns);
    };
    this.node.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      event.preventDefault();
      this.node.setPointerCapture(event.pointerId);
      go(event);
    });
    this.node.addEventListener("pointermove", (event) => {
      if (this.node.hasPointerCapture(event.pointerId)) go(event);
    });
  }

  update(codes: Uint16Array, version: number, ramp: Ramp, plot: Plot, viewport: Viewport): void {
    const most = Math.max(plot.rows, plot.columns);
    const width = Math.max(THINNEST, Math.round((SIDE * plot.columns) / most));
    const height = Math.max(THINNEST, Math.round((SIDE * plot.rows) / most));
    this.shape = plot;
    const { drawn } = this;
    if (drawn?.codes !== codes || drawn.version !== version || drawn.ramp !== ramp) {
      this.drawn = { codes, version, ramp };
      const ratio = pixelRatio(this.node);
      setAttributes(this.canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
      for (const [name, length] of Object.entries({ width, height })) {
        this.canvas.style.setProperty(name, `${length}px`);
      }
      paintMap(this.canvas, codes, ramp, plot);
    }
    const cell = cellSize(plot, viewport.zoom);
    const x = width / plot.columns;
    const y = height / plot.rows;
    place(this.frame, {
      left: viewport.column * x,
      top: viewport.row * y,
      width: Math.max(4, (plot.width / cell.width) * x),
      height: Math.max(4, (plot.height / cell.height) * y),
    });
  }
}
