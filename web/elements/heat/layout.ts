/** Where the parts of a heatmap stand, as arithmetic; lengths in CSS pixels. */

import type { Plot } from "../viewport.js";

export interface HeatLayout {
  readonly plot: Plot;
  /** Distance of the box from the element's edges: the labels stand there. */
  readonly left: number;
  readonly top: number;
  /** Lean of the column labels, in degrees. */
  readonly slant: number;
  /** Longest row label, and longest column label along its lean. */
  readonly rowLabel: number;
  readonly columnLabel: number;
}

/** No cell is larger, however few there are. */
const MAX_CELL = 92;
/** Where rows or columns are few, cells are not made as thin as the many would have them. */
const MIN_SIDE = 28;
const MAX_LABEL = 104;
/** Column labels lean; where cells are narrow they stand up more, so that they stay apart. */
const LEAN = 38;
const STEEP = 64;
const STEEP_BELOW = 20;
/** On a phone too: leaning labels would take the width from the cells. */
const NARROW = 420;
/** Between labels and cells. */
const SPACE = 8;

export interface HeatSize {
  readonly rows: number;
  readonly columns: number;
  /** Width of the element. */
  readonly width: number;
  /** Longest side of the box. */
  readonly maxPlot: number;
  /** Width of the widest label. */
  readonly label: number;
}

export function layoutHeat({ rows, columns, width, maxPlot, label }: HeatSize): HeatLayout {
  const rowLabel = Math.ceil(Math.min(MAX_LABEL, width * 0.26, label));
  const room = Math.max(1, width - rowLabel - SPACE);
  const steep = width < NARROW || Math.min(room, maxPlot) / Math.max(columns, rows) < STEEP_BELOW;
  const slant = steep ? STEEP : LEAN;
  const radians = (slant * Math.PI) / 180;
  // The last label leans over the right edge.
  const over = Math.min(rowLabel * Math.cos(radians), steep ? 30 : 48);
  const side = Math.max(1, Math.min(maxPlot, room - over));
  const most = { width: Math.min(MAX_CELL, side / columns), height: Math.min(MAX_CELL, side / rows) };
  const square = Math.min(most.width, most.height);
  const cellWidth = Math.min(most.width, Math.max(square, MIN_SIDE));
  const cellHeight = Math.min(most.height, Math.max(square, MIN_SIDE));
  return {
    plot: { rows, columns, cellWidth, cellHeight, width: cellWidth * columns, height: cellHeight * rows },
    left: rowLabel + SPACE,
    top: Math.ceil((rowLabel + 2) * Math.sin(radians) + 26),
    slant,
    rowLabel,
    columnLabel: rowLabel + 2,
  };
}

/** Digits after the point that fit a cell: none, 2 (".43"), 3 ("0.431") or 4. */
export function digitsFor(width: number, height: number): 0 | 2 | 3 | 4 {
  if (height < 14 || width < 20) return 0;
  return width >= 48 ? 4 : width >= 36 ? 3 : 2;
}

/** Lines of label text need this much from one to the next. */
const LABEL_LINE = 11;

/** Every how many cells there is room for a label; `slant` in degrees, 90 for labels across the axis. */
export function labelStep(cell: number, slant: number): number {
  const apart = cell * Math.sin((slant * Math.PI) / 180);
  return Math.max(1, Math.ceil((slant === 90 ? LABEL_LINE : LABEL_LINE - 1) / apart));
}
