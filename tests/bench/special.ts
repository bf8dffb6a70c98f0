import { load } from "headscope";
import { chooseCases, visiblePairs } from "./cases.ts";
import { errorOf, expect } from "./expected.ts";
import { headscope } from "./headscope.ts";
import { Machine } from "./machine.ts";
import { makeProblem } from "./problem.ts";
import { median } from "./statistics.ts";

type Variant = "simd" | "relaxed";

/** A fresh process or page: what the very first calls take, at D 768, T 128, output only. */
export interface First {
  readonly variant: Variant;
  readonly loadMs: number;
  /** Packing the weights. */
  readonly layerMs: number;
  readonly firstMs: number;
  readonly steadyMs: number;
}

export async function measureFirst(variant: Variant): Promise<First> {
  const c = chooseCases(["D768 T128"])[0] as ReturnType<typeof chooseCases>[number];
  const problem = makeProblem(c, () => {
    throw new Error("there is no past here");
  });
  const begin = performance.now();
  const hs = await load({ variant });
  const loaded = performance.now();
  const prepared = await headscope(hs).prepare(problem);
  const packed = performance.now();
  prepared.run();
  const first = performance.now();
  for (const end = first + 500; performance.now() < end; ) prepared.run();
  const samples = Array.from({ length: 15 }, () => {
    const start = performance.now();
    prepared.run();
    return performance.now() - start;
  });
  return {
    variant,
    ...{ loadMs: loaded - begin, layerMs: packed - loaded, firstMs: first - packed, steadyMs: median(samples) },
  };
}

/** Output only, causal, D 768, over lengths where [H, T, T] weights would not fit anywhere. */
export interface Lengths {
  readonly variant: Variant;
  readonly limit: { readonly relaxed?: number; readonly simd?: number };
  readonly rows: readonly {
    readonly T: number;
    readonly ms: number;
    readonly flops: number;
    /** Bytes that the heap has grown by since load(), weights and shorter inputs included, and four arrays of T · D. */
    readonly growth: number;
    readonly tensors: number;
    readonly error: number;
  }[];
}

export async function measureLengths(variant: Variant): Promise<Lengths> {
  const machine = await Machine.start();
  machine.startCase(0);
  const hs = await load({ variant });
  const start = hs.memory().heapBytes;
  const rows: Lengths["rows"][number][] = [];
  const model = chooseCases(["D768 T1024 causal"])[0] as ReturnType<typeof chooseCases>[number];
  for (const [T, calls] of [
    [512, 20],
    [4096, 3],
    [8192, 2],
    [16384, 1],
  ] as const) {
    const problem = makeProblem({ ...model, T }, () => {
      throw new Error("there is no past here");
    });
    const prepared = await headscope(hs).prepare(problem);
    if (T === 512) for (let i = 0; i < 10; ++i) await prepared.run();
    const samples: number[] = [];
    let answer = await prepared.run();
    const growth = hs.memory().heapBytes - start;
    for (let i = 0; i < calls; ++i) {
      machine.isQuiet();
      const begin = performance.now();
      answer = await prepared.run();
      samples.push(performance.now() - begin);
      machine.isQuiet();
    }
    const error = errorOf(problem, expect(problem, 3), answer).output;
    prepared.dispose();
    const flops = 8 * T * model.D ** 2 + 4 * visiblePairs({ T, cached: 0, causal: true }) * model.D;
    rows.push({ T, ms: median(samples), flops, growth, tensors: 4 * T * model.D * 4, error });
  }
  return { variant, limit: machine.limits(), rows };
}
