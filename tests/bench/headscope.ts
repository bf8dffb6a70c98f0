import { type Headscope, load, type Tensor } from "headscope";
import type { Contender } from "./contender.ts";
import type { Problem, ProjectPast } from "./problem.ts";

type Given = Omit<Problem, "pastKeys" | "pastValues">;

function layerOf(hs: Headscope, p: Given) {
  const { D, H, G, d } = p.case;
  const { wq, wk, wv, wo, bq, bk, bv, bo } = p;
  return hs.multiHeadAttention(
    { dModel: D, numHeads: H, numKVHeads: G, headDim: d },
    { layout: "in-out", wq, wk, wv, wo, bq, bk, bv, bo },
  );
}

/** What is measured, through its public API. Outputs are fresh arrays, as the peers return them, where a case does not say otherwise. */
export function headscope(hs: Headscope): Contender {
  return {
    name: hs.variant,
    tolerance: 4e-6,
    takes: () => true,
    async prepare(problem) {
      const { T, D, H, d, cached, causal, weights, reused, core } = problem.case;
      if (core) {
        const heads = (data: Float32Array): Tensor => ({ data, shape: [H, T, d] });
        const [q, k, v] = [heads(problem.q), heads(problem.k), heads(problem.v)];
        return { run: () => ({ output: hs.attention(q, k, v, { causal, want: [] }).output.data }), dispose() {} };
      }
      const layer = layerOf(hs, problem);
      const x = { data: problem.x, shape: [T, D] };
      const want = weights ? (["weights"] as const) : [];
      if (cached === 0) {
        const given = (length: number) => new Float32Array(length).fill(Number.NaN);
        const out = reused ? { output: given(T * D), weights: weights ? given(H * T * T) : undefined } : undefined;
        const options = { causal, want, out };
        return {
          run() {
            const result = layer.forward(x, options);
            return { output: result.output.data, weights: result.weights?.data };
          },
          dispose: () => layer.dispose(),
        };
      }
      const cache = layer.createCache({ capacity: cached + T });
      layer.forward({ data: problem.past, shape: [cached, D] }, { cache, want: [] });
      const options = { cache, want };
      return {
        run() {
          cache.truncate(cached);
          const result = layer.forward(x, options);
          return { output: result.output.data, weights: result.weights?.data };
        },
        dispose() {
          cache.dispose();
          layer.dispose();
        },
      };
    },
  };
}

/** Keys and values of earlier tokens for peers that are given a cache. The check does without them. */
export function projectPast(hs: Headscope): ProjectPast {
  return (given) => {
    using layer = layerOf(hs, given);
    const { k, v } = layer.forward(
      { data: given.past, shape: [given.case.cached, given.case.D] },
      { want: ["k", "v"], causal: true, window: { left: 0 } }, // only the projections matter: hardly any attention
    );
    return { keys: k.data, values: v.data };
  };
}

/** The builds that this engine can run. */
export async function loadVariants(): Promise<Headscope[]> {
  const loaded: Headscope[] = [];
  for (const variant of ["relaxed", "simd"] as const) {
    try {
      loaded.push(await load({ variant }));
    } catch (error) {
      if ((error as { code?: string }).code !== "unsupported") throw error;
    }
  }
  return loaded;
}
