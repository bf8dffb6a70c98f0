// Compiled, never run: the API in a worker is the API of the page with promises around it, and nothing of it is missing.
import type { AttentionResult, Headscope, KVCache, MultiHeadAttention, Tensor } from "headscope";
import type { LayerResult, Model, TensorFile } from "headscope/models";
import {
  loadWorker,
  type WorkerHeadscope,
  type WorkerKVCache,
  type WorkerModel,
  type WorkerMultiHeadAttention,
  type WorkerTensorFile,
} from "headscope/worker";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function same<A, B>(yes: Same<A, B>): void;

// Every method and property of the page's objects.
same<Exclude<keyof Headscope, keyof WorkerHeadscope>, never>(true);
same<Exclude<keyof MultiHeadAttention, keyof WorkerMultiHeadAttention>, never>(true);
same<Exclude<keyof KVCache, keyof WorkerKVCache>, never>(true);
same<Exclude<keyof Model, keyof WorkerModel>, never>(true);
same<Exclude<keyof TensorFile, keyof WorkerTensorFile>, never>(true);

declare const worker: WorkerHeadscope;
declare const layer: WorkerMultiHeadAttention;
declare const cache: WorkerKVCache;
declare const pageCache: KVCache;
declare const model: WorkerModel;
declare const x: Tensor;
const { signal } = new AbortController();

void loadWorker({ worker: new Worker("./worker-script.js", { type: "module" }), variant: "simd", signal });
void loadWorker({ worker: new URL("https://example.org/worker-script.js") });
// @ts-expect-error the script has to be named
void loadWorker({});
// @ts-expect-error there is no such build
void loadWorker({ worker: "./worker-script.js", variant: "fast" });

// Results by what was asked for, as on the page.
same<Awaited<ReturnType<typeof worker.attention<"scores">>>, AttentionResult<"scores">>(true);
{
  const result = await layer.forward(x, { want: ["scores", "trace"], cache, causal: true, signal });
  same<typeof result.scores, Tensor>(true);
  // @ts-expect-error weights were not asked for
  result.weights;
  const plain = await layer.forward(x);
  same<typeof plain.weights, Tensor>(true);
  // @ts-expect-error a promise holds no results
  layer.forward(x).output;
}
// @ts-expect-error a cache of the page is no cache of the worker
void layer.forward(x, { cache: pageCache });
// @ts-expect-error results have memory of their own
void layer.forward(x, { out: new Float32Array(4) });
// @ts-expect-error of layers of models too
void model.run([1], { out: { weights: new Float32Array(4) } });
// @ts-expect-error misspelt
void layer.forward(x, { casual: true });
// @ts-expect-error read-only
cache.length = 3;

for await (const result of model.run([1, 2], { want: ["hidden"], output: false, signal })) {
  same<typeof result, LayerResult<"hidden", false>>(true);
  // @ts-expect-error output: false
  result.output;
}
same<Awaited<ReturnType<typeof model.tokenize>>, ReturnType<Model["tokenize"]>>(true);
same<ReturnType<typeof model.loss>, ReturnType<Model["loss"]>>(true);
same<ReturnType<typeof model.read>, ReturnType<Model["read"]>>(true);
{
  await using kept = await worker.openModel("./model.gguf", { signal, onProgress: ({ loaded }) => loaded.toFixed() });
  same<typeof kept, WorkerModel>(true);
  using file = await worker.openTensors("./model.gguf");
  same<typeof file.tensors, TensorFile["tensors"]>(true);
}
