import type { Case } from "../cases.ts";
import type { Answer, Contender, Prepared } from "../contender.ts";
import type { Problem } from "../problem.ts";
import { peerBytes } from "./files.ts";
import { OnnxModel } from "./onnx-model.ts";

/** How a graph gets at the earlier keys and values: given and returned with each call, or part of the graph. */
type Cache = "io" | "constant";

interface Graph {
  model: OnnxModel;
  /** [T, H·d], [T, G·d] × 2 */
  q: string;
  k: string;
  v: string;
}

function dense(model: OnnxModel, x: string, w: Float32Array, bias: Float32Array, inputs: number): string {
  return model.node("Gemm", [x, model.constant(w, [inputs, bias.length]), model.constant(bias, [bias.length])]);
}

function projections(p: Problem): Graph {
  const { D, T } = p.case;
  const model = new OnnxModel();
  const x = model.input("x", [T, D]);
  return {
    model,
    q: dense(model, x, p.wq, p.bq, D),
    k: dense(model, x, p.wk, p.bk, D),
    v: dense(model, x, p.wv, p.bv, D),
  };
}

/** [G, S, d] to [G, d, S]. */
function transposedKeys(p: Problem): Float32Array {
  const { G, d, cached } = p.case;
  const out = new Float32Array(p.pastKeys.length);
  for (let g = 0; g < G; ++g)
    for (let s = 0; s < cached; ++s)
      for (let e = 0; e < d; ++e) out[(g * d + e) * cached + s] = p.pastKeys[(g * cached + s) * d + e] as number;
  return out;
}

/** The layer out of MatMul and Softmax. Heads in front, [H, T, d]; with groups [G, H/G·T, d], as T is 1 then. */
function plainGraph(p: Problem, cache: Cache): OnnxModel {
  const { H, G, d, T, cached, causal, weights } = p.case;
  const S = cached + T;
  const { model, q, k, v } = projections(p);
  const rows = (H / G) * T;
  const scaled = model.node("Mul", [q, model.constant(new Float32Array([1 / Math.sqrt(d)]), [])]);
  const split = (x: string, n: number, perm: readonly number[]) => {
    const apart = model.node("Reshape", [x, model.integers(T, n, d)]);
    return model.node("Transpose", [apart], { perm });
  };
  const queries = H === G ? split(scaled, H, [1, 0, 2]) : model.node("Reshape", [scaled, model.integers(G, rows, d)]);
  let context: string;
  let mixed: string;
  if (cached > 0 && cache === "constant") {
    // The softmax runs over the cached scores and the new ones side by side; the products stay apart.
    const old = model.node("MatMul", [queries, model.constant(transposedKeys(p), [G, d, cached])]);
    const fresh = model.node("MatMul", [queries, split(k, G, [1, 2, 0])]);
    mixed = model.node("Softmax", [model.node("Concat", [old, fresh], { axis: 2 })], { axis: 2 });
    const parts = [`${mixed}old`, `${mixed}new`];
    model.node("Split", [mixed, model.integers(cached, T)], { axis: 2 }, parts);
    const values = model.constant(p.pastValues, [G, cached, d]);
    context = model.node("Add", [
      model.node("MatMul", [parts[0] as string, values]),
      model.node("MatMul", [parts[1] as string, split(v, G, [1, 0, 2])]),
    ]);
  } else {
    let keys = split(k, G, [1, 0, 2]);
    let values = split(v, G, [1, 0, 2]);
    if (cached > 0) {
      const concat = (past: string, x: string, present: string) => {
        model.output(present, [G, S, d]);
        return model.node("Concat", [model.input(past, [G, cached, d]), x], { axis: 1 }, [present]);
      };
      keys = concat("pastKeys", keys, "presentKeys");
      values = concat("pastValues", values, "presentValues");
      keys = model.node("Transpose", [keys], { perm: [0, 2, 1] });
    } else keys = split(k, G, [1, 2, 0]);
    let scores = model.node("MatMul", [queries, keys]);
    if (causal) {
      const hidden = new Float32Array(T * S);
      for (let i = 0; i < T; ++i) hidden.fill(-1e9, i * S + cached + i + 1, (i + 1) * S);
      scores = model.node("Add", [scores, model.constant(hidden, [T, S])]);
    }
    mixed = model.node("Softmax", [scores], { axis: 2 });
    context = model.node("MatMul", [mixed, values]);
  }
  if (H === G) context = model.node("Transpose", [context], { perm: [1, 0, 2] });
  const concat = model.node("Reshape", [context, model.integers(T, H * d)]);
  finish(p, model, concat);
  if (weights) {
    model.node("Identity", [mixed], {}, ["weights"]);
    model.output("weights", [G, rows, S]);
  }
  return model;
}

/** The layer around ai.onnx Attention-23. Its third mode of qk_matmul_output is the softmax: the weights. */
function attentionGraph(p: Problem, cache: Cache): OnnxModel {
  const { H, G, d, T, cached, causal, weights } = p.case;
  const S = cached + T;
  const { model, q, k, v } = projections(p);
  const batched = (x: string, width: number) => model.node("Reshape", [x, model.integers(1, T, width)]);
  const inputs = [batched(q, H * d), batched(k, G * d), batched(v, G * d)];
  const outputs = ["context"];
  if (cached > 0) {
    const shape = [1, G, cached, d];
    const past =
      cache === "io"
        ? [model.input("pastKeys", shape), model.input("pastValues", shape)]
        : [model.constant(p.pastKeys, shape), model.constant(p.pastValues, shape)];
    inputs.push("", ...past);
    outputs.push("presentKeys", "presentValues");
    if (cache === "io") for (const name of outputs.slice(1)) model.output(name, [1, G, S, d]);
  } else if (weights) outputs.push("", "");
  if (weights) outputs.push("weights");
  model.node(
    "Attention",
    inputs,
    {
      ...{ q_num_heads: H, kv_num_heads: G, scale: { float: 1 / Math.sqrt(d) } },
      ...(causal && { is_causal: 1 }),
      ...(weights && { qk_matmul_output_mode: 3 }),
    },
    outputs,
  );
  finish(p, model, model.node("Reshape", ["context", model.integers(T, H * d)]));
  if (weights) model.output("weights", [1, H, T, S]);
  return model;
}

/** Attention-23 alone, on heads that are projected already. */
function coreGraph(p: Problem): OnnxModel {
  const { H, T, d, causal } = p.case;
  const model = new OnnxModel();
  const inputs = ["q", "k", "v"].map((name) => model.input(name, [1, H, T, d]));
  const attributes = { scale: { float: 1 / Math.sqrt(d) }, ...(causal && { is_causal: 1 }) };
  model.node("Attention", inputs, attributes, ["output"]);
  model.output("output", [1, H, T, d]);
  return model;
}

function finish(p: Problem, model: OnnxModel, concat: string): void {
  const { D, H, d, T } = p.case;
  const w = model.constant(p.wo, [H * d, D]);
  model.node("Gemm", [concat, w, model.constant(p.bo, [D])], {}, ["output"]);
  model.output("output", [T, D]);
}

let runtime: Promise<typeof import("onnxruntime-web/wasm")> | undefined;

async function start(): Promise<typeof import("onnxruntime-web/wasm")> {
  const ort = await import("onnxruntime-web/wasm");
  ort.env.logLevel = "error";
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmBinary = await peerBytes("onnxruntime-web/dist/ort-wasm-simd-threaded.wasm");
  return ort;
}

/** `past`: the shape of the cache where a call is given one. */
async function session(p: Problem, model: OnnxModel, past: readonly number[] | undefined): Promise<Prepared> {
  runtime ??= start();
  const { InferenceSession, Tensor } = await runtime;
  const made = await InferenceSession.create(model.bytes(), {
    executionProviders: ["wasm"],
    graphOptimizationLevel: "all",
  });
  const { D, T, H, d, core } = p.case;
  const run = async (): Promise<Answer> => {
    const tensor = (data: Float32Array, shape: readonly number[]) => new Tensor("float32", data, shape);
    const heads = (data: Float32Array) => tensor(data, [1, H, T, d]);
    const feeds: Record<string, InstanceType<typeof Tensor>> = core
      ? { q: heads(p.q), k: heads(p.k), v: heads(p.v) }
      : { x: tensor(p.x, [T, D]) };
    if (past) {
      feeds.pastKeys = tensor(p.pastKeys, past);
      feeds.pastValues = tensor(p.pastValues, past);
    }
    const { output, weights } = await made.run(feeds);
    return { output: (output as { data: Float32Array }).data, weights: weights?.data };
  };
  return { run, dispose: () => made.release() };
}

function contender(name: string, graph: "plain" | "attention", cache: Cache): Contender {
  return {
    name,
    tolerance: 1e-4,
    takes: (c: Case) => (c.core ? graph === "attention" && cache === "io" : cache === "io" || c.cached > 0),
    prepare(problem) {
      const { G, d, cached, core } = problem.case;
      if (core) return session(problem, coreGraph(problem), undefined);
      const model = graph === "plain" ? plainGraph(problem, cache) : attentionGraph(problem, cache);
      const shape = graph === "plain" ? [G, cached, d] : [1, G, cached, d];
      return session(problem, model, cached > 0 && cache === "io" ? shape : undefined);
    },
  };
}

/** ONNX Runtime Web on its WASM backend, one thread, by either way to write the layer. */
export const ort: readonly Contender[] = [
  contender("ORT matmul", "plain", "io"),
  contender("ORT Attention", "attention", "io"),
  contender("ORT matmul, constant cache", "plain", "constant"),
  contender("ORT Attention, constant cache", "attention", "constant"),
];
