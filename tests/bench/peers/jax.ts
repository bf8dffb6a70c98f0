import type { JaxArray } from "@jax-js/jax";
import { type Contender, isSlowCase } from "../contender.ts";

type Jax = typeof import("@jax-js/jax");

/** x, the projections with their biases, then what a case adds. */
type Nine<T> = [T, T, T, T, T, T, T, T, T];
type Layer = [...Nine<JaxArray>, ...JaxArray[]];

let runtime: Promise<Jax> | undefined;

async function start(): Promise<Jax> {
  // It would share its memory with a worker for each processor: one thread, as everyone here.
  Reflect.deleteProperty(globalThis, "Worker");
  const jax = await import("@jax-js/jax");
  await jax.init("wasm");
  jax.defaultDevice("wasm");
  return jax;
}

/** jax-js on its WASM backend, the layer compiled as one function. It does not run in Node.js 20. */
export const jax: Contender = {
  name: "jax-js",
  tolerance: 1e-4,
  takes: (c) => typeof document !== "undefined" && !isSlowCase(c),
  async prepare(p) {
    runtime ??= start();
    const { numpy: np, nn, jit } = await runtime;
    const { D, H, d, T, cached, causal, weights } = p.case;
    const S = cached + T;
    const array = (data: Float32Array, shape: readonly number[]) => np.array(data, { shape });
    const hidden = new Float32Array(T * S);
    if (causal) {
      for (let i = 0; i < T; ++i) hidden.fill(Number.NEGATIVE_INFINITY, i * S + cached + i + 1, (i + 1) * S);
    }
    const kept = [
      ...[array(p.wq, [D, D]), array(p.bq, [D]), array(p.wk, [D, D]), array(p.bk, [D])],
      ...[array(p.wv, [D, D]), array(p.bv, [D]), array(p.wo, [D, D]), array(p.bo, [D])],
      ...(causal ? [array(hidden, [T, S])] : []),
      ...(cached > 0 ? [array(p.pastKeys, [H, cached, d]), array(p.pastValues, [H, cached, d])] : []),
    ];
    const layer = jit((...args) => {
      const [x, wq, bq, wk, bk, wv, bv, wo, bo, ...rest] = args as Layer;
      const heads = (y: JaxArray) => y.reshape([T, H, d]).transpose([1, 0, 2]);
      const queries = heads(np.matmul(x.ref, wq).add(bq)).mul(1 / Math.sqrt(d));
      let keys = heads(np.matmul(x.ref, wk).add(bk));
      let values = heads(np.matmul(x, wv).add(bv));
      const mask = causal ? rest.shift() : undefined;
      if (cached > 0) {
        keys = np.concatenate([rest[0] as JaxArray, keys], 1);
        values = np.concatenate([rest[1] as JaxArray, values], 1);
      }
      let scores = np.matmul(queries, keys.transpose([0, 2, 1]));
      if (mask) scores = scores.add(mask);
      const mixed = nn.softmax(scores, -1);
      const context = np.matmul(weights ? mixed.ref : mixed, values);
      const output = np.matmul(context.transpose([1, 0, 2]).reshape([T, D]), wo).add(bo);
      return weights ? [output, mixed] : [output];
    });
    return {
      run() {
        const [output, mixed] = layer(array(p.x, [T, D]), ...kept.map((each) => each.ref)) as [JaxArray, JaxArray?];
        return { output: output.dataSync(), weights: mixed?.dataSync() };
      },
      dispose() {
        for (const each of kept) each.dispose();
      },
    };
  },
};
