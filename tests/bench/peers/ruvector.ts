import type { Contender } from "../contender.ts";
import { peerBytes } from "./files.ts";

type Ruvector = typeof import("@ruvector/attention-wasm");

let runtime: Promise<Ruvector> | undefined;

async function start(): Promise<Ruvector> {
  const ruvector = await import("@ruvector/attention-wasm");
  ruvector.initSync({ module: await peerBytes("@ruvector/attention-wasm/ruvector_attention_wasm_bg.wasm") });
  return ruvector;
}

/** [H, T, d] to T rows of H·d and back. */
function rowsOf(data: Float32Array, H: number, T: number, d: number): Float32Array[] {
  return Array.from({ length: T }, (_, t) => {
    const row = new Float32Array(H * d);
    for (let h = 0; h < H; ++h) row.set(data.subarray((h * T + t) * d, (h * T + t + 1) * d), h * d);
    return row;
  });
}

/** @ruvector/attention-wasm: attention of one query over keys and values in arrays; no projections, masks or weights. */
export const ruvector: Contender = {
  name: "ruvector",
  tolerance: 1e-4,
  takes: (c) => c.core && !c.causal && !c.weights && c.T <= 16, // 128 queries take it seven seconds
  async prepare({ case: { H, T, d }, q, k, v }) {
    runtime ??= start();
    const { WasmMultiHeadAttention } = await runtime;
    const attention = new WasmMultiHeadAttention(H * d, H);
    const queries = rowsOf(q, H, T, d);
    const keys = rowsOf(k, H, T, d);
    const values = rowsOf(v, H, T, d);
    return {
      run() {
        const output = new Float32Array(H * T * d);
        queries.forEach((query, t) => {
          const row = attention.compute(query, keys, values);
          for (let h = 0; h < H; ++h) output.set(row.subarray(h * d, (h + 1) * d), (h * T + t) * d);
        });
        return { output };
      },
      dispose: () => attention.free(),
    };
  },
};
