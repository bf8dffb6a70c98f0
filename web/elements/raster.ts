/**
 * Cells to pixels. A head is first encoded, one small number a cell (once per data, scale and head); then any part of
 * it is drawn at any size by looking those numbers up in the ramp. Where there are more cells than pixels, a pixel shows
 * the strongest of its cells: a diagonal one cell wide must not fall between the pixels of a thumbnail.
 */

import type { AttentionView } from "./attention-view.js";
import type { Rgb } from "./ramp.js";
import { evenShares, type HeatScale, type RampPlace, rampPlace } from "./scale.js";

/** Codes are ordered by strength, so that the strongest of some cells is their maximum: */
export const HIDDEN_CODE = 0;
/** 1 to 256 are the steps of the ramp, */
export const NAN_CODE = 257;

/**
 * Fills `codes`, one number a cell of the head. `top` is the upper end of the domain, `even` the even share of each row,
 * which only the uniform scale asks for.
 */
export function encodeHead(
  view: AttentionView,
  head: number,
  scale: HeatScale,
  top: number,
  codes: Uint16Array,
  even: Float32Array | null = scale === "uniform" ? evenShares(view, head) : null,
): void {
  const size = view.queries * view.keys;
  const weights = view.weights.subarray(head * size, (head + 1) * size);
  // A loop over plain arrays and one factor takes a third of the time of a call for each cell.
  if (scale === "unit" || scale === "head") encodeLinear(weights, 255 / top, codes);
  else encodeCurved(weights, view.keys, rampPlace(scale, top), even, codes);
  const { scores, hidden } = view;
  if (hidden) {
    const start = hidden.length === view.weights.length ? head * size : 0;
    for (let cell = 0; cell < size; cell++) if (hidden[start + cell] !== 0) codes[cell] = HIDDEN_CODE;
  } else if (scores) {
    const own = scores.subarray(head * size, (head + 1) * size);
    for (let cell = 0; cell < size; cell++) if (own[cell] === -Infinity) codes[cell] = HIDDEN_CODE;
  }
}

function encodeLinear(weights: Float32Array, factor: number, codes: Uint16Array): void {
  for (let cell = 0; cell < weights.length; cell++) {
    const at = (weights[cell] as number) * factor;
    codes[cell] = at >= 255 ? 256 : at >= 0 ? 1 + ((at + 0.5) | 0) : at < 0 ? 1 : NAN_CODE;
  }
}

function encodeCurved(
  weights: Float32Array,
  keys: number,
  place: RampPlace,
  even: Float32Array | null,
  codes: Uint16Array,
): void {
  for (let query = 0, cell = 0; cell < weights.length; query++) {
    const share = even ? (even[query] as number) : 1;
    for (const end = cell + keys; cell < end; cell++) {
      const weight = weights[cell] as number;
      // Most weights of a long text are nothing.
      if (weight === 0) codes[cell] = 1;
      else {
        const at = place(weight, share);
        codes[cell] = Number.isNaN(at) ? NAN_CODE : 1 + ((at * 255 + 0.5) | 0);
      }
    }
  }
}

/** The pixel of each code, as words in the memory order of ImageData; hidden cells are transparent. */
export function codeWords(words: Uint32Array, notANumber: Rgb): Uint32Array {
  const all = new Uint32Array(258);
  all.set(words, 1);
  const [r, g, b] = notANumber;
  all[NAN_CODE] = new Uint32Array(Uint8Array.of(r, g, b, 255).buffer)[0] as number;
  return all;
}

/** Along one axis: the cells from `first`, `size` pixels each, over `pixels` pixels. */
export interface AxisSpan {
  readonly count: number;
  readonly first: number;
  readonly size: number;
  readonly pixels: number;
  /** Pixels of paper between two cells. */
  readonly gap: number;
}

interface AxisPixels {
  /** The cells of pixel i are from[i] up to, not including, to[i]. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly gap: Uint8Array;
}

export function axisPixels({ count, first, size, pixels, gap }: AxisSpan): AxisPixels {
  const from = new Int32Array(pixels);
  const to = new Int32Array(pixels);
  const gaps = new Uint8Array(pixels);
  const clamp = (cell: number) => Math.min(count - 1, Math.max(0, cell));
  for (let i = 0; i < pixels; i++) {
    if (size >= 1) {
      // One cell a pixel, that under its middle.
      const cell = clamp(Math.floor(first + (i + 0.5) / size));
      from[i] = cell;
      to[i] = cell + 1;
      if (gap > 0 && Math.floor(first + (i + gap + 0.5) / size) !== cell) gaps[i] = 1;
    } else {
      // Several: every cell belongs to exactly one pixel.
      from[i] = clamp(Math.floor(first + i / size + 1e-6));
      to[i] = Math.min(count, Math.max((from[i] as number) + 1, Math.floor(first + (i + 1) / size + 1e-6)));
    }
  }
  return { from, to, gap: gaps };
}

/** Draws the codes of a [rows.count, columns.count] matrix into rows.pixels × columns.pixels words. */
export function raster(
  codes: Uint16Array,
  rows: AxisSpan,
  columns: AxisSpan,
  words: Uint32Array,
  out: Uint32Array,
): void {
  const down = axisPixels(rows);
  const across = axisPixels(columns);
  const width = columns.pixels;
  const stride = columns.count;
  const paper = words[1] as number;
  const best = new Uint16Array(stride);
  for (let y = 0; y < rows.pixels; y++) {
    const from = down.from[y] as number;
    const to = down.to[y] as number;
    const line = y * width;
    if (y > 0 && from === down.from[y - 1] && to === down.to[y - 1] && down.gap[y] === down.gap[y - 1]) {
      out.copyWithin(line, line - width, line);
      continue;
    }
    best.set(codes.subarray(from * stride, from * stride + stride));
    for (let row = from + 1; row < to; row++) {
      for (let i = 0, cell = row * stride; i < stride; i++, cell++) {
        if ((codes[cell] as number) > (best[i] as number)) best[i] = codes[cell] as number;
      }
    }
    const rowGap = down.gap[y] === 1;
    for (let x = 0; x < width; x++) {
      let code = best[across.from[x] as number] as number;
      for (let i = (across.from[x] as number) + 1; i < (across.to[x] as number); i++) {
        if ((best[i] as number) > code) code = best[i] as number;
      }
      // The lines between visible cells are paper; the hatch behind belongs to hidden ones only.
      const inGap = code !== HIDDEN_CODE && (rowGap || across.gap[x] === 1);
      out[line + x] = inGap ? paper : (words[code] as number);
    }
  }
}
