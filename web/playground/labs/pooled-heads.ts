/**
 * From MHA over GQA to MQA on one layer: the K and V heads of a group are averaged (Ainslie et al. 2023, section 2.1),
 * nothing is trained on, and the layer runs again.
 */

import type { Tensor } from "headscope";
import { cost } from "headscope";
import { poolKVHeads } from "headscope/models";
import type { LayerParts } from "../shell.js";
import type { Core } from "../sources/source.js";
import { withLayer } from "./lab-layer.js";

export interface PooledPoint {
  readonly numKVHeads: number;
  /** ‖output − output of the layer as it is‖ / ‖output of the layer as it is‖ */
  readonly error: number;
  /** Of one token and this layer, for numbers of `bytesPerElement`. */
  readonly bytesPerToken: number;
}

/** A point for each divisor of the layer's own number of K/V heads, that one first. */
export async function pooledPoints(
  core: Core,
  parts: LayerParts,
  headMask: Float32Array | undefined,
  bytesPerElement: number,
): Promise<PooledPoint[]> {
  const { config, weights, x, causal } = parts;
  const own = config.numKVHeads ?? config.numHeads;
  const headDim = config.headDim ?? config.dModel / config.numHeads;
  const points: PooledPoint[] = [];
  let whole: Tensor | undefined;
  for (const numKVHeads of divisors(own)) {
    const pooled = poolKVHeads(config, weights, numKVHeads);
    const { output } = await withLayer(core, pooled.config, pooled.weights, (layer) =>
      layer.forward(x, { causal, headMask, want: [] }),
    );
    whole ??= output;
    const { bytesPerToken } = cost.kvCache({
      layers: 1,
      numKVHeads,
      headDim,
      valueHeadDim: config.valueHeadDim ?? headDim,
      bytesPerElement,
    });
    points.push({ numKVHeads, error: relativeChange(whole, output), bytesPerToken: Number(bytesPerToken) });
  }
  return points;
}

/** The largest first. */
export function divisors(number: number): number[] {
  return Array.from({ length: number }, (_, i) => number - i).filter((divisor) => number % divisor === 0);
}

export function relativeChange(before: Tensor, after: Tensor): number {
  let [moved, size] = [0, 0];
  for (const [i, value] of before.data.entries()) {
    moved += (value - (after.data[i] as number)) ** 2;
    size += value ** 2;
  }
  return moved === 0 ? 0 : Math.sqrt(moved / size);
}
