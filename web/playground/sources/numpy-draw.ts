/** The numbers of the NumPy tutorial's example, and the layer that is made of them. */

import type { Tensor } from "headscope";
import { LegacyRandom } from "./numpy-random.js";
import { HEADS, T } from "./numpy-seed42.js";
import { openLayer } from "./run-layer.js";
import type { Core, OpenSource } from "./source.js";

const D = 8;

export interface Seed42 {
  /** Double precision, in the order the tutorial draws them. */
  readonly x: Float64Array;
  readonly wq: Float64Array;
  readonly wk: Float64Array;
  readonly wv: Float64Array;
  readonly wo: Float64Array;
}

export function drawSeed42(): Seed42 {
  const random = new LegacyRandom(42);
  const x = random.randn(T * D);
  const [wq, wk, wv, wo] = Array.from({ length: 4 }, () => random.randn(D * D).map((value) => value * 0.1)) as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  return { x, wq, wk, wv, wo };
}

export function openSeed42(core: Core): Promise<OpenSource> {
  const drawn = drawSeed42();
  const weights = {
    layout: "in-out",
    wq: Float32Array.from(drawn.wq),
    wk: Float32Array.from(drawn.wk),
    wv: Float32Array.from(drawn.wv),
    wo: Float32Array.from(drawn.wo),
  } as const;
  const x: Tensor = { data: Float32Array.from(drawn.x), shape: [T, D] };
  return openLayer(core, { dModel: D, numHeads: HEADS }, weights, [{}, {}], () => x);
}
