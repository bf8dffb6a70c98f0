/**
 * One head onto a canvas, one pixel a cell; the page scales it without smoothing. Hidden cells stay transparent and
 * let the hatch behind the canvas through. Where there are more cells than pixels, a pixel shows the greatest weight
 * of its cells: a one-token-wide diagonal of 512 tokens must not fall between the pixels of a thumbnail.
 */

import type { AttentionView } from "./attention-view.js";
import type { Ramp } from "./ramp.js";
import { parseHex } from "./ramp.js";

export function paintHead(
  canvas: HTMLCanvasElement,
  view: AttentionView,
  head: number,
  { top, ramp, maxPixels }: { top: number; ramp: Ramp; maxPixels: number },
): void {
  const { queries, keys, weights, scores } = view;
  const pool = Math.max(1, Math.ceil(Math.max(queries, keys) / Math.max(1, maxPixels)));
  const width = Math.ceil(keys / pool);
  const height = Math.ceil(queries / pool);
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const context = canvas.getContext("2d");
  if (!context) return;
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const { words } = ramp;
  const [r, g, b] = parseHex(ramp.accent);
  // In the byte order of ImageData, as the ramp's words are.
  const notANumber = new Uint32Array(Uint8Array.of(r, g, b, 255).buffer)[0] as number;
  const toIndex = 255 / top;
  const start = head * queries * keys;
  const strongest = new Float32Array(width);
  for (let y = 0; y < height; y++) {
    // −1: every cell of this pixel is hidden.
    strongest.fill(-1);
    const lastQuery = Math.min(queries, (y + 1) * pool);
    for (let query = y * pool; query < lastQuery; query++) {
      const row = start + query * keys;
      for (let key = 0; key < keys; key++) {
        if (scores && scores[row + key] === Number.NEGATIVE_INFINITY) continue;
        const weight = weights[row + key] as number;
        const x = pool === 1 ? key : (key / pool) | 0;
        const best = strongest[x] as number;
        // Written so that not-a-number wins over any weight and stays.
        if (!(weight <= best)) strongest[x] = Number.isNaN(best) ? best : weight;
      }
    }
    for (let x = 0; x < width; x++) {
      const weight = strongest[x] as number;
      if (Number.isNaN(weight)) pixels[y * width + x] = notANumber;
      else if (weight >= 0) pixels[y * width + x] = words[Math.min(255, (weight * toIndex + 0.5) | 0)] as number;
    }
  }
  context.putImageData(image, 0, 0);
}
