/** One forward pass as the page needs it: weights, masked scores, the shapes on the way, and what the gates changed. */

import type { MultiHeadAttention, Tensor } from "headscope";
import type { LayerRun, OutputChange, RunOptions } from "./source.js";

export function runLayer(layer: MultiHeadAttention, x: Tensor, { causal, off }: RunOptions): LayerRun {
  const started = performance.now();
  const whole = layer.forward(x, { causal, want: ["weights", "scores", "trace"] });
  const milliseconds = performance.now() - started;
  const { weights, scores, trace } = whole;
  const shown = { weights, scores, trace, layersRun: 1, milliseconds, effect: null };
  const gate = Float32Array.from({ length: weights.shape[0] as number }, (_, head) => (off.has(head) ? 0 : 1));
  if (gate.every((g) => g === 1)) return { ...shown, output: whole.output, change: null };
  // The gates act after the weights, so the maps stay; only the output is computed again.
  const { output } = layer.forward(x, { causal, headMask: gate, want: [] });
  return { ...shown, output, change: compare(whole.output, output) };
}

export function compare(whole: Tensor, gated: Tensor): OutputChange {
  const [rows, width] = whole.shape as [number, number];
  let moved = 0;
  let size = 0;
  let query = 0;
  let queryRelative = 0;
  for (let row = 0; row < rows; row++) {
    let rowMoved = 0;
    let rowSize = 0;
    for (let i = row * width; i < (row + 1) * width; i++) {
      const before = whole.data[i] as number;
      rowMoved += (before - (gated.data[i] as number)) ** 2;
      rowSize += before ** 2;
    }
    moved += rowMoved;
    size += rowSize;
    const relative = ratio(rowMoved, rowSize);
    if (relative > queryRelative) {
      query = row;
      queryRelative = relative;
    }
  }
  return { relative: ratio(moved, size), query, queryRelative };
}

function ratio(moved: number, size: number): number {
  if (moved === 0) return 0;
  return size === 0 ? Number.POSITIVE_INFINITY : Math.sqrt(moved / size);
}
