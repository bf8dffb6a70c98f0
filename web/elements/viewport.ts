/** Which part of a matrix is in view: zoom, pan and hit test as arithmetic. Lengths in CSS pixels, places in cells. */

import type { Spot } from "./attention-view.js";

/** The matrix as it fits its box whole. */
export interface Plot {
  readonly rows: number;
  readonly columns: number;
  readonly cellWidth: number;
  readonly cellHeight: number;
  /** The box: columns · cellWidth. It keeps its size when the matrix is zoomed. */
  readonly width: number;
  readonly height: number;
}

/** `row` and `column` are the place of the box's upper left corner, and may lie inside a cell. */
export interface Viewport {
  readonly zoom: number;
  readonly row: number;
  readonly column: number;
}

export interface Area {
  readonly row: number;
  readonly column: number;
  readonly rows: number;
  readonly columns: number;
}

/** Pixels inside the box. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

export const FIT: Viewport = { zoom: 1, row: 0, column: 0 };

/** Zoomed in, a cell is at most this large: four digits and air. */
const LARGEST = 72;
/** … and a box shows at least this many along each side. */
const FEWEST = 5;

function limit(cell: number, box: number, count: number): number {
  return Math.max(cell, Math.min(LARGEST, box / Math.min(count, FEWEST)));
}

export function maxZoom({ rows, columns, cellWidth, cellHeight, width, height }: Plot): number {
  return Math.max(limit(cellWidth, width, columns) / cellWidth, limit(cellHeight, height, rows) / cellHeight);
}

/** A cell at this zoom. Where one side is as large as it gets, only the other one grows. */
export function cellSize(plot: Plot, zoom: number): { width: number; height: number } {
  return {
    width: Math.min(plot.cellWidth * zoom, limit(plot.cellWidth, plot.width, plot.columns)),
    height: Math.min(plot.cellHeight * zoom, limit(plot.cellHeight, plot.height, plot.rows)),
  };
}

/** The nearest viewport that shows nothing but cells. */
export function clampViewport(plot: Plot, { zoom, row, column }: Viewport): Viewport {
  const inside = Math.min(maxZoom(plot), Math.max(1, zoom));
  const { width, height } = cellSize(plot, inside);
  const within = (at: number, count: number, box: number, cell: number) =>
    Math.max(0, Math.min(count - box / cell, at));
  return {
    zoom: inside,
    row: within(row, plot.rows, plot.height, height),
    column: within(column, plot.columns, plot.width, width),
  };
}

/** Zooms by a factor around a point of the box, which stays over the same cell. */
export function zoomAt(plot: Plot, view: Viewport, factor: number, x: number, y: number): Viewport {
  return pinch(plot, view, factor, { x, y }, { x, y });
}

/**
 * Two fingers: what was under the middle of them before is under it afterwards, at `factor` times the size. In one step,
 * because at full view a pan alone goes nowhere, and the zoom after it would be around another place.
 */
export function pinch(plot: Plot, view: Viewport, factor: number, before: Point, after: Point): Viewport {
  const old = cellSize(plot, view.zoom);
  const zoom = Math.min(maxZoom(plot), Math.max(1, view.zoom * factor));
  const now = cellSize(plot, zoom);
  return clampViewport(plot, {
    zoom,
    row: view.row + before.y / old.height - after.y / now.height,
    column: view.column + before.x / old.width - after.x / now.width,
  });
}

/** Moves the matrix by so many pixels, as a hand on it would. */
export function panBy(plot: Plot, view: Viewport, dx: number, dy: number): Viewport {
  const { width, height } = cellSize(plot, view.zoom);
  return clampViewport(plot, { zoom: view.zoom, row: view.row - dy / height, column: view.column - dx / width });
}

/** Puts a place into the middle of the box. */
export function centerOn(plot: Plot, view: Viewport, row: number, column: number): Viewport {
  const { width, height } = cellSize(plot, view.zoom);
  return clampViewport(plot, {
    zoom: view.zoom,
    row: row - plot.height / height / 2,
    column: column - plot.width / width / 2,
  });
}

/** Moves just as far as it takes to have a whole cell in view. */
export function reveal(plot: Plot, view: Viewport, row: number, column: number): Viewport {
  const { width, height } = cellSize(plot, view.zoom);
  const near = (at: number, first: number, shown: number) => Math.min(at, Math.max(first, at + 1 - shown));
  return clampViewport(plot, {
    zoom: view.zoom,
    row: near(row, view.row, plot.height / height),
    column: near(column, view.column, plot.width / width),
  });
}

/** The cells that are in view, also in part. */
export function visibleArea(plot: Plot, view: Viewport): Area {
  const { width, height } = cellSize(plot, view.zoom);
  // Lengths are not exact in binary: what sticks out by a millionth of a cell is not in view.
  const from = (at: number) => Math.floor(at + 1e-6);
  const row = from(view.row);
  const column = from(view.column);
  return {
    row,
    column,
    rows: Math.min(plot.rows, Math.ceil(view.row + plot.height / height - 1e-6)) - row,
    columns: Math.min(plot.columns, Math.ceil(view.column + plot.width / width - 1e-6)) - column,
  };
}

/** The cell under a point of the box; null outside of it. */
export function cellAt(plot: Plot, view: Viewport, x: number, y: number): (Spot & { key: number }) | null {
  if (!(x >= 0 && y >= 0 && x < plot.width && y < plot.height)) return null;
  const { width, height } = cellSize(plot, view.zoom);
  return {
    query: Math.min(plot.rows - 1, Math.floor(view.row + y / height)),
    key: Math.min(plot.columns - 1, Math.floor(view.column + x / width)),
  };
}
