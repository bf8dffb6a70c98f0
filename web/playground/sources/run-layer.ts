/** One forward pass as the page needs it: weights, masked scores, the shapes on the way, and what the gates changed. */

import type { AttentionConfig, AttentionWeights, Tensor } from "headscope";
import { gatesOf } from "../head-key.js";
import type { Token } from "../tokens.js";
import type { Core, CoreLayer, HeadNote, LayerRun, OpenSource, OutputChange, RunOptions } from "./source.js";

/** A source that is one layer: its weights are there, and each text becomes its input. */
export async function openLayer(
  core: Core,
  config: AttentionConfig,
  weights: AttentionWeights,
  heads: readonly HeadNote[],
  embed: (tokens: readonly Token[]) => Tensor,
): Promise<OpenSource> {
  const layer = await core.multiHeadAttention(config, weights);
  return {
    config,
    heads,
    run: (tokens, options) => runLayer(layer, embed(tokens), options),
    importance: (tokens, { causal }) => ({
      quick: () => true,
      estimate: () => ({ passes: config.numHeads + 1, milliseconds: null, reading: null }),
      run: async ({ signal }) => ({
        measure: "output",
        values: await importanceOf(layer, embed(tokens), config.numHeads, { causal, signal }),
      }),
    }),
    prune: null,
    parts: async (tokens, { causal }) => ({ config, weights, x: embed(tokens), causal }),
  };
}

async function runLayer(layer: CoreLayer, x: Tensor, { causal, off, signal }: RunOptions): Promise<LayerRun> {
  const started = performance.now();
  const whole = await layer.forward(x, { causal, want: ["weights", "scores", "trace"], signal });
  const milliseconds = performance.now() - started;
  const { weights, scores, trace } = whole;
  const shown = { weights, scores, trace, layersRun: 1, milliseconds, effect: null };
  const heads = weights.shape[0] as number;
  if (off.size === 0) return { ...shown, output: whole.output, change: null };
  // The gates act after the weights, so the maps stay; only the output is computed again.
  const { output } = await layer.forward(x, { causal, headMask: gatesOf(off, heads), want: [], signal });
  return { ...shown, output, change: compare(whole.output, output) };
}

/** For each head: how far the output moves without it, relative to its size. */
async function importanceOf(
  layer: CoreLayer,
  x: Tensor,
  heads: number,
  { causal, signal }: Pick<RunOptions, "causal" | "signal">,
): Promise<number[]> {
  const { output: whole } = await layer.forward(x, { causal, want: [], signal });
  const found: number[] = [];
  for (let head = 0; head < heads; head++) {
    const headMask = gatesOf(new Set([head]), heads);
    const { output } = await layer.forward(x, { causal, headMask, want: [], signal });
    found.push(compare(whole, output).relative);
  }
  return found;
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
