import type { TfTensor } from "@tensorflow/tfjs-core";
import type { Case } from "../cases.ts";
import { type Answer, type Contender, isUsual, type Prepared } from "../contender.ts";
import type { Problem } from "../problem.ts";
import { peerFolder } from "./files.ts";

type Tf = typeof import("@tensorflow/tfjs-core");

let runtime: Promise<Tf> | undefined;

async function start(): Promise<Tf> {
  const tf = await import("@tensorflow/tfjs-core");
  const { setWasmPaths } = await import("@tensorflow/tfjs-backend-wasm");
  tf.env().set("WASM_HAS_MULTITHREAD_SUPPORT", false); // one thread, as everyone here
  setWasmPaths(await peerFolder("@tensorflow/tfjs-backend-wasm/dist/"));
  await tf.setBackend("wasm");
  await tf.ready();
  return tf;
}

/** 1,024 tokens take it over a second: once with everything, once without. */
const takes = (c: Case) => isUsual(c) && (c.T < 512 || c.causal === c.weights);

/** Where it is faster to take one head after another. */
const separable = (c: Case) => c.T > 8 && c.cached === 0;

const contender = (name: string, takes: (c: Case) => boolean, attention: "fastest" | "batched"): Contender => ({
  name,
  tolerance: 1e-4,
  takes,
  async prepare(p: Problem): Promise<Prepared> {
    runtime ??= start();
    const tf = await runtime;
    const { D, H, d, T, cached, causal, weights } = p.case;
    const S = cached + T;
    const kept: TfTensor[] = [];
    const keep = (data: Float32Array, shape: readonly number[]) => {
      const made = tf.tensor(data, shape);
      kept.push(made);
      return made;
    };
    const dense = (w: Float32Array, b: Float32Array) => ({ b: keep(w, [D, w.length / D]), bias: keep(b, [b.length]) });
    const [q, k, v, o] = [dense(p.wq, p.bq), dense(p.wk, p.bk), dense(p.wv, p.bv), dense(p.wo, p.bo)] as const;
    const pastKeys = cached > 0 ? keep(p.pastKeys, [H, cached, d]) : undefined;
    const pastValues = cached > 0 ? keep(p.pastValues, [H, cached, d]) : undefined;
    const hidden = new Float32Array(T * S);
    for (let i = 0; i < T; ++i) hidden.fill(-1e9, i * S + cached + i + 1, (i + 1) * S);
    const mask = causal ? keep(hidden, [1, T, S]) : undefined;

    const heads = (x: TfTensor) => tf.transpose(tf.reshape(x, [T, H, d]), [1, 0, 2]);
    /** Heads as one batch: fewest calls, but the backend's batched product is a slow one. */
    const inOneBatch = (q2: TfTensor, k2: TfTensor, v2: TfTensor) => {
      const queries = heads(q2);
      const values = heads(v2);
      let scores = tf.matMul(queries, heads(k2), false, true);
      if (pastKeys) scores = tf.concat([tf.matMul(queries, pastKeys, false, true), scores], 2);
      if (mask) scores = tf.add(scores, mask);
      const mixed = tf.softmax(scores);
      let context: TfTensor;
      if (pastValues) {
        const [old, fresh] = tf.split(mixed, [cached, T], 2) as [TfTensor, TfTensor];
        context = tf.add(tf.matMul(old, pastValues), tf.matMul(fresh, values));
      } else context = tf.matMul(mixed, values);
      return { mixed: [mixed], concat: tf.reshape(tf.transpose(context, [1, 0, 2]), [T, H * d]) };
    };
    /** Head by head: its products of two axes are those of XNNPACK, twice as fast at 128 tokens. */
    const headByHead = (q2: TfTensor, k2: TfTensor, v2: TfTensor) => {
      const sizes = new Array<number>(H).fill(d);
      const keys = tf.split(tf.transpose(k2, [1, 0]), sizes, 0);
      const values = tf.split(v2, sizes, 1);
      const flatMask = mask && tf.reshape(mask, [T, S]);
      const parts = tf.split(q2, sizes, 1).map((query, h) => {
        const scores = tf.matMul(query, keys[h] as TfTensor);
        const mixed = tf.softmax(flatMask ? tf.add(scores, flatMask) : scores);
        return { mixed, context: tf.matMul(mixed, values[h] as TfTensor) };
      });
      const concat = tf.concat(
        parts.map((part) => part.context),
        1,
      );
      return { mixed: parts.map((part) => part.mixed), concat };
    };
    const attend = attention === "fastest" && separable(p.case) ? headByHead : inOneBatch;
    const run = (): Answer => {
      let output = p.x;
      const all = weights ? new Float32Array(H * T * S) : undefined;
      // Nothing is returned through tidy(): it would look for tensors at every index of an array.
      tf.tidy(() => {
        const x = tf.tensor(p.x, [T, D]);
        const scaled = tf.mul(tf.fused.matMul({ a: x, ...q }), 1 / Math.sqrt(d));
        const { mixed, concat } = attend(scaled, tf.fused.matMul({ a: x, ...k }), tf.fused.matMul({ a: x, ...v }));
        output = tf.fused.matMul({ a: concat, ...o }).dataSync();
        if (all) for (const [i, part] of mixed.entries()) all.set(part.dataSync(), i * (all.length / mixed.length));
      });
      return { output, weights: all };
    };
    return {
      run,
      dispose() {
        for (const each of kept) each.dispose();
      },
    };
  },
});

/**
 * TensorFlow.js on its WASM backend, with fused products and biases. Earlier keys and values stay on the backend.
 * Twice: with all heads in one batched product, as it is written everywhere, and head by head, where that is faster.
 */
export const tfjs: readonly Contender[] = [
  contender("tfjs-wasm", takes, "fastest"),
  contender("tfjs-wasm, one batch", (c) => takes(c) && separable(c) && c.T <= 256, "batched"),
];
