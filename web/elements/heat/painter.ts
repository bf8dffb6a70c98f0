/** The cells of a heatmap on their canvas, and the minimap's. */

import { contrast, parseHex, type Ramp } from "../ramp.js";
import { type AxisSpan, codeWords, HIDDEN_CODE, NAN_CODE, raster } from "../raster.js";
import { cellSize, type Plot, type Viewport, visibleArea } from "../viewport.js";
import { digitsFor } from "./layout.js";

/** From this size on there is a line between cells. */
const LINED = 16;

export interface CellPicture {
  readonly codes: Uint16Array;
  readonly ramp: Ramp;
  readonly plot: Plot;
  readonly viewport: Viewport;
  /** Device pixels for one of CSS. */
  readonly ratio: number;
  /** The font family of the numbers. */
  readonly family: string;
  weight(query: number, key: number): number;
  /** What stands in a cell of `width` pixels. */
  text(weight: number, digits: 2 | 3 | 4, width: number): string;
}

/** Draws the cells that are in view; returns whether some show "·". */
export function paintCells(canvas: HTMLCanvasElement, picture: CellPicture): boolean {
  const { codes, ramp, plot, viewport, ratio } = picture;
  const context = sized(canvas, plot, ratio);
  if (!context) return false;
  const cell = cellSize(plot, viewport.zoom);
  const gap = Math.min(cell.width, cell.height) >= LINED ? Math.max(1, Math.round(ratio)) : 0;
  const rows = span(plot.rows, viewport.row, cell.height * ratio, canvas.height, gap);
  const columns = span(plot.columns, viewport.column, cell.width * ratio, canvas.width, gap);
  drawRaster(context, codes, rows, columns, ramp);
  return paintNumbers(context, picture);
}

/** The whole matrix, small. */
export function paintMap(
  canvas: HTMLCanvasElement,
  codes: Uint16Array,
  ramp: Ramp,
  { rows, columns }: Pick<Plot, "rows" | "columns">,
): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  drawRaster(
    context,
    codes,
    span(rows, 0, canvas.height / rows, canvas.height, 0),
    span(columns, 0, canvas.width / columns, canvas.width, 0),
    ramp,
  );
}

function span(count: number, first: number, size: number, pixels: number, gap: number): AxisSpan {
  return { count, first, size, pixels, gap };
}

function drawRaster(
  context: CanvasRenderingContext2D,
  codes: Uint16Array,
  rows: AxisSpan,
  columns: AxisSpan,
  ramp: Ramp,
): void {
  const image = context.createImageData(columns.pixels, rows.pixels);
  const words = codeWords(ramp.words, parseHex(ramp.accent));
  raster(codes, rows, columns, words, new Uint32Array(image.data.buffer));
  context.putImageData(image, 0, 0);
}

function paintNumbers(context: CanvasRenderingContext2D, picture: CellPicture): boolean {
  const { codes, ramp, plot, viewport, ratio, family } = picture;
  const { width, height } = cellSize(plot, viewport.zoom);
  const digits = digitsFor(width, height);
  if (digits === 0) return false;
  const onAccent = ["#ffffff", "#000000"].find(
    (ink) => contrast(parseHex(ink), parseHex(ramp.accent)) >= 4.5,
  ) as string;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = `${width >= 44 ? 11 : width >= 36 ? 10.5 : 9}px ${family}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  let dots = false;
  const area = visibleArea(plot, viewport);
  for (let query = area.row; query < area.row + area.rows; query++) {
    const y = (query - viewport.row + 0.5) * height;
    for (let key = area.column; key < area.column + area.columns; key++) {
      const code = codes[query * plot.columns + key] as number;
      if (code === HIDDEN_CODE) continue;
      const text = picture.text(picture.weight(query, key), digits, width);
      dots ||= text === "·";
      context.fillStyle = code === NAN_CODE ? onAccent : (ramp.ink[code - 1] as string);
      context.fillText(text, (key - viewport.column + 0.5) * width - 0.5, y);
    }
  }
  context.setTransform(1, 0, 0, 1, 0, 0);
  return dots;
}

function sized(canvas: HTMLCanvasElement, plot: Plot, ratio: number): CanvasRenderingContext2D | null {
  const width = Math.max(1, Math.round(plot.width * ratio));
  const height = Math.max(1, Math.round(plot.height * ratio));
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  return canvas.getContext("2d");
}
