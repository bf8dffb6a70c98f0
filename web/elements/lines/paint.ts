/** Lines onto a canvas: those of one look and one strength in one stroke, the stronger over the fainter. */

import { apart, crosses, curve, type LinesLayout, strength, strengthStyle } from "./layout.js";
import type { Links } from "./links.js";
import type { SeriesLook } from "./series-look.js";

/** More lines than this cannot be told apart, and take longer than a frame: the strongest on screen are drawn. */
export const MOST_LINES = 2000;

/** Browsers draw nothing on canvases that are longer. */
const LONGEST_CANVAS = 16_000;

export interface LinesPicture {
  readonly links: Links;
  readonly layout: LinesLayout;
  /** By series. */
  readonly looks: readonly SeriesLook[];
  /** Place of a weight of a query on the scale, 0 to 1. */
  place(weight: number, query: number): number;
  /** Device pixels for one of CSS. */
  readonly ratio: number;
  /** Lines that are drawn at most. */
  readonly most: number;
}

/** Draws some lines (places in `links`), or all that cross the screen. Returns how many there were and were drawn. */
export function paintLines(
  canvas: HTMLCanvasElement,
  picture: LinesPicture,
  some: readonly number[] | null,
): { drawn: number; crossing: number } {
  const { layout } = picture;
  const ratio = Math.min(picture.ratio, LONGEST_CANVAS / layout.extent);
  const [across, along] = [layout.gap, layout.extent].map((length) => Math.max(1, Math.round(length * ratio)));
  const [width, height] = layout.direction === "vertical" ? [across, along] : [along, across];
  if (canvas.width !== width) canvas.width = width as number;
  if (canvas.height !== height) canvas.height = height as number;
  const context = canvas.getContext("2d");
  if (!context) return { drawn: 0, crossing: 0 };
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  const chosen = choose(picture, some);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  for (const { step, series, lines } of buckets(picture, chosen.lines)) stroke(context, picture, step, series, lines);
  return { drawn: chosen.lines.length, crossing: chosen.crossing };
}

function choose(picture: LinesPicture, some: readonly number[] | null): { lines: number[]; crossing: number } {
  const { links, layout, most } = picture;
  const { query, key, weight, count } = links;
  const lines: number[] = [];
  for (let n = 0; n < (some ? some.length : count); n++) {
    const i = some ? (some[n] as number) : n;
    if (crosses(layout, query[i] as number, key[i] as number)) lines.push(i);
  }
  const crossing = lines.length;
  if (crossing <= most) return { lines, crossing };
  lines.sort((a, b) => (weight[b] as number) - (weight[a] as number));
  return { lines: lines.slice(0, most), crossing };
}

interface Bucket {
  readonly step: number;
  readonly series: number;
  readonly lines: number[];
}

/** By strength and series, the faintest first. */
function buckets({ links, place }: LinesPicture, lines: readonly number[]): Bucket[] {
  const found = new Map<number, Bucket>();
  const seriesCount = 1 + links.series.reduce((most, series) => Math.max(most, series), 0);
  for (const i of lines) {
    const step = strength(place(links.weight[i] as number, links.query[i] as number));
    const series = links.series[i] as number;
    const id = step * seriesCount + series;
    let bucket = found.get(id);
    if (!bucket) {
      bucket = { step, series, lines: [] };
      found.set(id, bucket);
    }
    bucket.lines.push(i);
  }
  return [...found.entries()].sort(([a], [b]) => a - b).map(([, bucket]) => bucket);
}

function stroke(
  context: CanvasRenderingContext2D,
  { links, layout, looks }: LinesPicture,
  step: number,
  series: number,
  lines: readonly number[],
): void {
  const { color, dash } = looks[series] as SeriesLook;
  const { alpha, width: full } = strengthStyle(step);
  const width = Math.min(full, Math.max(1.2, apart(layout)));
  context.globalAlpha = alpha;
  context.strokeStyle = color;
  context.lineWidth = width;
  context.setLineDash(dash.map((length) => length * Math.max(1.5, width)));
  context.beginPath();
  for (const i of lines) {
    const [x0, y0, x1, y1, x2, y2, x3, y3] = curve(layout, links.query[i] as number, links.key[i] as number, series);
    context.moveTo(x0, y0);
    context.bezierCurveTo(x1, y1, x2, y2, x3, y3);
  }
  context.stroke();
}

/** A short line in a series' look, for the legend. */
export function paintSample(canvas: HTMLCanvasElement, { color, dash }: SeriesLook, ratio: number): void {
  canvas.width = Math.round(22 * ratio);
  canvas.height = Math.round(10 * ratio);
  const context = canvas.getContext("2d");
  if (!context) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.strokeStyle = color;
  context.lineWidth = 3;
  context.setLineDash(dash.map((length) => length * 2.4));
  context.beginPath();
  context.moveTo(0, 5);
  context.lineTo(22, 5);
  context.stroke();
}
