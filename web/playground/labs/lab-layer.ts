/**
 * The shown layer as laboratories ask it: through its own weights and input where the source hands them out, or through
 * the model that it is a layer of.
 */

import type { AttentionConfig, AttentionWeights, Tensor } from "headscope";
import { attentionTensors } from "headscope/models";
import type { WorkerModel } from "headscope/worker";
import { gatesOf, gatesOfLayers, offIn } from "../head-key.js";
import type { LayerParts } from "../shell.js";
import type { Core, RunOptions } from "../sources/source.js";
import type { OutputSizes } from "./output-projection.js";
import { outputSizes, realProjection } from "./output-projection.js";
import type { PooledPoint } from "./pooled-heads.js";
import { pooledPoints } from "./pooled-heads.js";
import { transpose } from "./svd.js";

/** What heads computed, of all heads of the layer, also of those that are switched off: they have read before they go. */
export interface HeadResults {
  /** [H, T, dk] */
  readonly q: Tensor;
  /** [G, S, dk] */
  readonly k: Tensor;
  /** [G, S, dv] */
  readonly v: Tensor;
  /** [H, T, S] */
  readonly weights: Tensor;
  /** [H, T, S], −Infinity where hidden. */
  readonly scores: Tensor;
  /** [H, T, dv], what each head has read. */
  readonly heads: Tensor;
}

export interface OutputProjection {
  readonly sizes: OutputSizes;
  /** [H·dv, outDim] */
  readonly wo: Float32Array;
  readonly bo: Float32Array | undefined;
}

export interface LabLayer {
  /** Heads of this layer that are switched off. */
  readonly off: ReadonlySet<number>;
  results(): Promise<HeadResults>;
  projection(): Promise<OutputProjection>;
  /** A point for each number of K/V heads, the layer's own first. */
  pooled(bytesPerElement: number): Promise<readonly PooledPoint[]>;
}

const WANT = ["q", "k", "v", "weights", "scores", "heads"] as const;

/** Each answer is asked for once, and again if that failed: the page draws far more often than the layer changes. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => {
    answer ??= work().catch((error: unknown) => {
      answer = undefined;
      throw error;
    });
    return answer;
  };
}

/** @param off heads that are switched off */
export function layerOfParts(core: Core, parts: LayerParts, off: ReadonlySet<number> = new Set()): LabLayer {
  const { config, weights, x, causal } = parts;
  return {
    off,
    results: once(() => withLayer(core, config, weights, (layer) => layer.forward(x, { causal, want: WANT }))),
    projection: once(async () => {
      const sizes = outputSizes(config, weights);
      return { sizes, wo: realProjection(sizes, weights), bo: weights.bo };
    }),
    pooled: (bytesPerElement) => pooledPoints(core, parts, gatesOf(off, config.numHeads), bytesPerElement),
  };
}

/** @param off heads of any layer that are switched off, by `headKey`: those before this one change what it reads */
export function layerOfModel(
  model: WorkerModel,
  tokens: readonly number[],
  { layer, off, signal }: Pick<RunOptions, "layer" | "off" | "signal">,
): LabLayer {
  const headMask = gatesOfLayers(off, model.config.layers, model.config.numHeads);
  return {
    off: offIn(off, layer),
    results: once(async () => {
      let last: HeadResults | undefined;
      const run = model.run(tokens, { layers: layer + 1, want: WANT, output: false, headMask, signal });
      for await (const result of run) if (result.layer === layer) last = result;
      return last as HeadResults;
    }),
    projection: once(async () => {
      const names = attentionTensors(model, layer);
      if (!names) throw new Error(`${model.name}: no output projection by a known name`);
      const matrix = await model.read(names.output, { signal });
      const bo = names.outputBias === undefined ? undefined : (await model.read(names.outputBias, { signal })).data;
      const { numHeads: heads, valueHeadDim: width } = model.config;
      const [rows, columns] = matrix.shape as [number, number];
      const inOut = names.outputLayout === "in-out";
      const wo = inOut ? matrix.data : Float32Array.from(transpose(matrix.data, rows, columns));
      return { sizes: { heads, width, outDim: inOut ? columns : rows }, wo, bo };
    }),
    async pooled(bytesPerElement) {
      const points = await model.gqaCurve(tokens, { layer, bytesPerElement, headMask, signal });
      // Its bytes are of all layers.
      const { layers } = model.config;
      return points.map(({ numKVHeads, error, bytesPerToken }) => ({
        numKVHeads,
        error,
        bytesPerToken: bytesPerToken / layers,
      }));
    },
  };
}

/**
 * concat · W_O + b_O, and each head's part of it, for what heads have read: by a layer whose tokens see only themselves
 * and whose values are what it is given.
 *
 * @param heads [H, T, dv]
 * @param off heads that are left out
 */
export async function projectHeads(
  core: Core,
  heads: Tensor,
  { sizes, wo, bo }: OutputProjection,
  off: ReadonlySet<number> = new Set(),
) {
  const { heads: count, width, outDim } = sizes;
  const rows = heads.shape[1] as number;
  const dModel = count * width;
  const concat = new Float32Array(rows * dModel);
  for (let head = 0; head < count; head++) {
    for (let row = 0; row < rows; row++) {
      const from = (head * rows + row) * width;
      concat.set(heads.data.subarray(from, from + width), row * dModel + head * width);
    }
  }
  const nothing = new Float32Array(dModel * count);
  const wv = new Float32Array(dModel * dModel);
  for (let i = 0; i < dModel; i++) wv[i * dModel + i] = 1;
  const config = { dModel, numHeads: count, headDim: 1, valueHeadDim: width, outDim };
  const weights = { layout: "in-out", wq: nothing, wk: nothing, wv, wo, bo } as const;
  // A batch of single tokens.
  const x = { data: concat, shape: [rows, 1, dModel] };
  const headMask = gatesOf(off, count);
  const { output, contributions } = await withLayer(core, config, weights, (layer) =>
    layer.forward(x, { want: ["contributions"], headMask }),
  );
  return { output, contributions };
}

/** A layer for one work; what it takes is given back. */
export async function withLayer<T>(
  core: Core,
  config: AttentionConfig,
  weights: AttentionWeights,
  work: (layer: Awaited<ReturnType<Core["multiHeadAttention"]>>) => T | Promise<T>,
): Promise<T> {
  const layer = await core.multiHeadAttention(config, weights);
  try {
    return await work(layer);
  } finally {
    await (layer as { dispose?(): unknown }).dispose?.();
  }
}
