import { L } from "./abi.js";
import { Call, execute } from "./call.js";
import { checkInteger, checkNames, checkObject, checkTensor, MAX_SIZE } from "./check.js";
import { type CheckedWeights, checkLayer, countParameters } from "./config.js";
import { shapeText } from "./describe.js";
import { mismatch, wrongType } from "./errors.js";
import { floatArea, type Handle, type Heap, outOfMemory } from "./heap.js";
import { Cache } from "./kv-cache.js";
import { checkOptions, FORWARD_OPTION_NAMES, readOptions, wantsTrace } from "./options.js";
import { disposeSymbol } from "./symbols.js";
import { type LayerTrace, traceLayer } from "./trace.js";
import type {
  AttentionResult,
  ForwardOptions,
  KVCache,
  MultiHeadAttention,
  ResolvedConfig,
  Tensor,
  TraceStep,
  Want,
} from "./types.js";

const PAIRING_NUMBERS = { adjacent: 1, halves: 2 } as const;

/** Multi-head attention with its projections on the wasm heap (Vaswani et al. 2017, section 3.2.2). */
export class Layer implements MultiHeadAttention {
  readonly config: ResolvedConfig;
  readonly parameterCount: number;
  readonly #heap: Heap;
  readonly #handle: Handle;
  readonly #fused: boolean;
  readonly #hasOutput: boolean;
  readonly #hasBias: LayerTrace["bias"];
  readonly #hasOutputBias: boolean;

  constructor(heap: Heap, configValue: unknown, weightsValue: unknown) {
    const [config, weights] = checkLayer(configValue, weightsValue);
    this.config = config;
    this.parameterCount = countParameters(weights);
    this.#heap = heap;
    this.#fused = weights.fused;
    this.#hasOutput = weights.wo !== undefined;
    this.#hasBias = { q: weights.bq !== undefined, k: weights.bk !== undefined, v: weights.bv !== undefined };
    this.#hasOutputBias = weights.bo !== undefined;
    this.#handle = heap.own(this, createNative(heap, config, weights), "layerDestroy");
  }

  forward<const W extends Want = "weights">(query: Tensor, options?: ForwardOptions<W>): AttentionResult<W> {
    this.#alive();
    const { config } = this;
    const given = checkOptions(options, FORWARD_OPTION_NAMES) as ForwardOptions | undefined;
    const { data, shape } = checkTensor("query", query, 3);
    const rank = shape.length;
    if (rank < 2 || shape[rank - 1] !== config.dModel) throw wrongSource("query", shape, "T", "dModel", config.dModel);

    const call = new Call(data);
    call.batched = rank === 3;
    call.batch = rank === 3 ? (shape[0] as number) : 1;
    call.queries = shape[rank - 2] as number;
    call.numHeads = config.numHeads;
    call.numKVHeads = config.numKVHeads;
    call.headDim = config.headDim;
    call.valueHeadDim = config.valueHeadDim;
    if (this.#hasOutput) call.outDim = config.outDim;
    call.scale = config.scale;
    call.softcap = config.softcap;
    call.outputShape = rank === 3 ? [call.batch, call.queries, config.outDim] : [call.queries, config.outDim];
    call.outputLength = call.batch * call.queries * config.outDim;
    this.#readSources(call, given?.key, given?.value);

    const cache = given?.cache === undefined ? undefined : this.#checkCache(given.cache, call);
    const cached = cache === undefined ? 0 : cache.length;
    call.keys = cached + call.newKeys;
    readOptions(call, given, cached);

    // Reading the options may have run the caller's own getters: nothing may have changed under the call.
    this.#alive();
    if (cache !== undefined && this.#checkCache(cache, call).length !== cached) {
      throw mismatch("config", "cache", `length ${cached} as before the options were read`, "another one");
    }
    const result = execute(this.#heap, call, this.#handle.value, cache === undefined ? 0 : cache.native);
    cache?.advance(call.newKeys);
    if (wantsTrace(call.wanted)) (result as { trace: TraceStep[] }).trace = this.#trace(call, cache !== undefined);
    return result as AttentionResult<W>;
  }

  /** Where keys and values come from, and how many there are. */
  #readSources(call: Call, key: unknown, value: unknown): void {
    const { dModel, keyDim, valueDim } = this.config;
    call.newKeys = call.queries;
    if (key !== undefined) {
      const { data, shape } = checkSource("key", key, keyDim, "keyDim", call);
      call.key = data;
      call.newKeys = shape[shape.length - 2] as number;
    } else if (keyDim !== dModel) {
      throw wrongType("key", `a tensor, as keyDim ${keyDim} is not dModel ${dModel}`, key);
    }
    if (value !== undefined) {
      const { data, shape } = checkSource("value", value, valueDim, "valueDim", call);
      call.value = data;
      if (shape[shape.length - 2] !== call.newKeys) {
        throw mismatch("shape", "value.shape", `as many rows as keys, ${call.newKeys}`, shapeText(shape));
      }
    } else if (valueDim !== keyDim) {
      throw wrongType("value", `a tensor, as valueDim ${valueDim} is not keyDim ${keyDim}`, value);
    }
  }

  #checkCache(value: unknown, call: Call): Cache {
    if (!(value instanceof Cache)) throw wrongType("cache", "a cache made by this layer's createCache", value);
    if (!value.belongsTo(this)) {
      throw mismatch("config", "cache", "a cache made by this layer's createCache", "a cache of another layer");
    }
    value.checkAlive();
    if (value.batch !== call.batch) {
      throw mismatch("shape", "cache", `a cache of the query's batch ${call.batch}`, `a cache of batch ${value.batch}`);
    }
    if (value.length + call.newKeys > value.capacity) {
      const actual = `length ${value.length} of capacity ${value.capacity}`;
      throw mismatch("memory", "cache", `room for ${call.newKeys} more tokens`, actual);
    }
    return value;
  }

  createCache(options: { readonly capacity: number; readonly batch?: number | undefined }): KVCache {
    this.#alive();
    const given = checkObject("options", options, "an object { capacity, batch }");
    checkNames("options", given, ["capacity", "batch"]);
    const capacity = checkInteger("capacity", given.capacity, 1, MAX_SIZE);
    const batch = given.batch === undefined ? 1 : checkInteger("batch", given.batch, 1, MAX_SIZE);
    this.#alive();
    return new Cache(this.#heap, this, this.#handle, capacity, batch);
  }

  dispose(): void {
    this.#heap.release(this.#handle);
  }

  [disposeSymbol](): void {
    this.dispose();
  }

  #alive(): void {
    if (this.#handle.value === 0) throw mismatch("disposed", "layer", "a live layer", "one that was disposed");
  }

  #trace(call: Call, cached: boolean): TraceStep[] {
    const masks = [call.mask, call.bias, call.keyMask, call.keyLengths];
    return traceLayer({
      config: this.config,
      batch: call.batched ? call.batch : undefined,
      queries: call.queries,
      newKeys: call.newKeys,
      keys: call.keys,
      cached,
      keySource: call.key !== undefined,
      valueSource: call.value !== undefined,
      fused: this.#fused,
      bias: this.#hasBias,
      outputProjection: this.#hasOutput,
      outputBias: this.#hasOutputBias,
      softcap: call.softcap !== 0,
      masked: call.flags !== 0 || masks.some((mask) => mask !== undefined),
      gated: call.headGate !== undefined,
    });
  }
}

function wrongSource(argument: string, shape: readonly number[], rows: string, name: string, width: number): Error {
  const expected = `[${rows}, ${width}] or [B, ${rows}, ${width}] (${name} ${width})`;
  return mismatch("shape", `${argument}.shape`, expected, shapeText(shape));
}

function checkSource(argument: string, value: unknown, width: number, name: string, call: Call): Tensor {
  const tensor = checkTensor(argument, value, 3);
  const { shape } = tensor;
  const rank = shape.length;
  if (rank < 2 || shape[rank - 1] !== width) throw wrongSource(argument, shape, "S", name, width);
  if ((rank === 3 ? shape[0] : 1) !== call.batch) {
    throw mismatch("shape", `${argument}.shape`, `the query's batch ${call.batch}`, shapeText(shape));
  }
  return tensor;
}

/** Copies the weights to the arena, from where the module packs them into memory of its own. */
function createNative(heap: Heap, c: ResolvedConfig, weights: CheckedWeights): number {
  const { fused, layout, wq, wk, wv, wo, bq, bk, bv, bo } = weights;
  const inOut = layout === "in-out";
  const q = c.numHeads * c.headDim;
  const k = c.numKVHeads * c.headDim;
  const v = c.numKVHeads * c.valueHeadDim;
  // Fused parts are views of one array and are copied with the first of them.
  const arrays = fused ? [wq, wo, bq, bo] : [wq, wk, wv, wo, bq, bk, bv, bo];
  let bytes = 0;
  for (const array of arrays) bytes += array === undefined ? 0 : floatArea(array.length) * 16;
  let next = heap.reserve("weights", bytes);
  const place = (array: Float32Array | undefined): number => {
    if (array === undefined) return 0;
    const at = next;
    heap.write(at, array);
    next += floatArea(array.length) * 16;
    return at;
  };
  const part = (whole: number, of: Float32Array | undefined, array: Float32Array | undefined): number => {
    if (!fused || of === undefined || array === undefined) return place(array);
    return whole + array.byteOffset - of.byteOffset;
  };

  const { u32, f32, words: w } = heap;
  u32[w + L.dModel] = c.dModel;
  u32[w + L.keyDim] = c.keyDim;
  u32[w + L.valueDim] = c.valueDim;
  u32[w + L.outDim] = c.outDim;
  u32[w + L.numHeads] = c.numHeads;
  u32[w + L.numKVHeads] = c.numKVHeads;
  u32[w + L.headDim] = c.headDim;
  u32[w + L.valueHeadDim] = c.valueHeadDim;
  u32[w + L.layout] = inOut ? 0 : 1;
  const wqAt = place(wq);
  u32[w + L.wq] = wqAt;
  u32[w + L.wk] = part(wqAt, wq, wk);
  u32[w + L.wv] = part(wqAt, wq, wv);
  u32[w + L.wo] = place(wo);
  const bqAt = place(bq);
  u32[w + L.bq] = bqAt;
  u32[w + L.bk] = part(bqAt, bq, bk);
  u32[w + L.bv] = part(bqAt, bq, bv);
  u32[w + L.bo] = place(bo);
  u32[w + L.strideQ] = inOut ? (fused ? q + k + v : q) : c.dModel;
  u32[w + L.strideK] = inOut ? (fused ? q + k + v : k) : c.keyDim;
  u32[w + L.strideV] = inOut ? (fused ? q + k + v : v) : c.valueDim;
  u32[w + L.ropePairing] = c.rope.dims === 0 ? 0 : PAIRING_NUMBERS[c.rope.pairing];
  u32[w + L.ropeDims] = c.rope.dims;
  f32[w + L.ropeBase] = c.rope.base;
  const layer = heap.native.layerCreate();
  if (layer === 0) throw outOfMemory("weights", "a layer", bytes);
  return layer;
}
