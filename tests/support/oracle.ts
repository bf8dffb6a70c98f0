import type { AttentionConfig, AttentionOptions, AttentionWeights, ForwardOptions, Tensor, Want } from "headscope";
import { product } from "./random.js";
import type { Exact } from "./tensor.js";

// Multi-head attention in double precision, written from the formula and nothing else:
//
//   score[i,j]  = scale · q[i]·k[j]                          scale = 1/√dk unless given
//   capped      = cap · tanh(score / cap)                    where a softcap is given
//   masked      = capped + bias, or −∞ where j is hidden from i
//   weights[i]  = softmax over the visible j; all 0 where none is visible
//   head[i]     = Σ_j weights[i,j] · v[j]                    over visible j only
//   concat[i]   = gate[h] · head[h][i], head after head
//   output[i]   = concat[i] · Wo + bo
//
// It shares no code with the product, takes the product's own option objects, and is itself held against the data of
// others in tests/conformance/oracle.test.ts.

type Numbers = ArrayLike<number>;
interface Source {
  readonly data: Numbers;
  readonly shape: readonly number[];
}

export interface ExactAttention {
  output: Exact;
  weights: Exact;
  /** The scores of each stage, [B,H,T,S]. */
  scaled: Exact;
  capped: Exact;
  masked: Exact;
  heads: Exact;
  concat: Exact;
}

export interface ExactForward extends ExactAttention {
  q: Exact;
  k: Exact;
  v: Exact;
  contributions?: Exact;
}

type AnyOptions = Omit<AttentionOptions<Want>, "want" | "out">;

/** The value of a tensor at (b, h, i, j) under right-aligned broadcasting to [B,H,T,S]. */
function broadcast(source: Source, full: readonly number[]): (b: number, h: number, i: number, j: number) => number {
  const shape = [1, 1, 1, 1].slice(source.shape.length).concat([...source.shape]);
  shape.forEach((n, axis) => {
    if (n !== 1 && n !== full[axis]) throw new Error(`[${source.shape}] does not broadcast to [${full}]`);
  });
  const [, nh, nt, ns] = shape as [number, number, number, number];
  const at = (n: number, index: number): number => (n === 1 ? 0 : index);
  const nb = shape[0] as number;
  return (b, h, i, j) => source.data[((at(nb, b) * nh + at(nh, h)) * nt + at(nt, i)) * ns + at(ns, j)] as number;
}

/** Query i stands at position i + offset, key j at position j. */
function queryOffset(options: AnyOptions, cached: number): number {
  return typeof options.causal === "object" ? options.causal.offset : cached;
}

/** Which key each query may see, and what is added to its score. `offset` is the default: the cached length. */
function visibility(full: readonly number[], options: AnyOptions, cached: number) {
  const [batch, , , keys] = full as [number, number, number, number];
  const causal = options.causal;
  const offset = queryOffset(options, cached);
  const allow: ((b: number, h: number, i: number, j: number) => boolean)[] = [];
  if (causal) allow.push((_b, _h, i, j) => j <= i + offset);
  const left = options.window?.left;
  const right = options.window?.right;
  if (left !== undefined) allow.push((_b, _h, i, j) => j >= i + offset - left);
  if (right !== undefined) allow.push((_b, _h, i, j) => j <= i + offset + right);
  const mask = options.mask;
  if (mask) {
    const inverted = "blocked" in mask;
    const { data, shape } = inverted ? mask.blocked : mask;
    const bit = broadcast({ data: Array.from(data, Number), shape }, full);
    allow.push((b, h, i, j) => (bit(b, h, i, j) !== 0) !== inverted);
  }
  const padding = options.keyPadding;
  if (padding) {
    if (padding.length === batch * keys) allow.push((b, _h, _i, j) => padding[b * keys + j] !== 0);
    else allow.push((b, _h, _i, j) => j < (padding[b] as number));
  }
  const added = options.bias ? broadcast(options.bias, full) : () => 0;
  const visible = (b: number, h: number, i: number, j: number): boolean =>
    allow.every((rule) => rule(b, h, i, j)) && added(b, h, i, j) !== Number.NEGATIVE_INFINITY;
  return { visible, added };
}

/** q [B,H,T,dk], k [B,G,S,dk], v [B,G,S,dv]. `cached` is how many of the S keys were there before this call. */
export function exactAttention(q: Source, k: Source, v: Source, options: AnyOptions = {}, cached = 0): ExactAttention {
  const [batch, heads, queries, dk] = q.shape as [number, number, number, number];
  const [, groups, keys] = k.shape as [number, number, number, number];
  const dv = v.shape[3] as number;
  const full = [batch, heads, queries, keys];
  const scale = options.scale ?? 1 / Math.sqrt(dk);
  const cap = options.softcap;
  const { visible, added } = visibility(full, options, cached);

  const scaled = new Float64Array(product(full));
  const capped = new Float64Array(product(full));
  const masked = new Float64Array(product(full));
  const weights = new Float64Array(product(full));
  const head = new Float64Array(batch * heads * queries * dv);
  for (let b = 0; b < batch; ++b) {
    for (let h = 0; h < heads; ++h) {
      const g = b * groups + Math.floor(h / (heads / groups));
      for (let i = 0; i < queries; ++i) {
        const row = ((b * heads + h) * queries + i) * keys;
        const seen: number[] = [];
        for (let j = 0; j < keys; ++j) {
          let dot = 0;
          for (let d = 0; d < dk; ++d) {
            dot +=
              (q.data[((b * heads + h) * queries + i) * dk + d] as number) *
              (k.data[(g * keys + j) * dk + d] as number);
          }
          scaled[row + j] = scale * dot;
          capped[row + j] = cap === undefined ? scale * dot : cap * Math.tanh((scale * dot) / cap);
          const sees = visible(b, h, i, j);
          masked[row + j] = sees ? (capped[row + j] as number) + added(b, h, i, j) : Number.NEGATIVE_INFINITY;
          if (sees) seen.push(j);
        }
        const largest = seen.reduce((m, j) => Math.max(m, masked[row + j] as number), Number.NEGATIVE_INFINITY);
        let sum = 0;
        for (const j of seen) {
          weights[row + j] = Math.exp((masked[row + j] as number) - largest);
          sum += weights[row + j] as number;
        }
        const out = ((b * heads + h) * queries + i) * dv;
        for (const j of seen) {
          weights[row + j] = (weights[row + j] as number) / sum;
          for (let d = 0; d < dv; ++d) {
            head[out + d] =
              (head[out + d] as number) + (weights[row + j] as number) * (v.data[(g * keys + j) * dv + d] as number);
          }
        }
      }
    }
  }

  const gated = new Float64Array(head.length);
  const concat = new Float64Array(head.length);
  for (let b = 0; b < batch; ++b) {
    for (let h = 0; h < heads; ++h) {
      const gate = options.headMask ? (options.headMask[h] as number) : 1;
      for (let i = 0; i < queries; ++i) {
        for (let d = 0; d < dv; ++d) {
          const at = ((b * heads + h) * queries + i) * dv + d;
          const value = gate === 0 ? 0 : gate * (head[at] as number); // 0 ablates even a NaN
          gated[at] = value;
          concat[(b * queries + i) * heads * dv + h * dv + d] = value;
        }
      }
    }
  }
  return {
    output: { data: gated, shape: [batch, heads, queries, dv] },
    weights: { data: weights, shape: full },
    scaled: { data: scaled, shape: full },
    capped: { data: capped, shape: full },
    masked: { data: masked, shape: full },
    heads: { data: head, shape: [batch, heads, queries, dv] },
    concat: { data: concat, shape: [batch, queries, heads * dv] },
  };
}

type Sizes = "numKVHeads" | "headDim" | "valueHeadDim" | "keyDim" | "valueDim" | "outDim" | "scale";
export type ExactConfig = Omit<AttentionConfig, Sizes> & Record<Sizes, number>;

/** The defaults of AttentionConfig. Without wo the output is the concatenation. */
export function resolveConfig(config: AttentionConfig, hasOutputProjection = true): ExactConfig {
  const headDim = config.headDim ?? config.dModel / config.numHeads;
  const valueHeadDim = config.valueHeadDim ?? headDim;
  const keyDim = config.keyDim ?? config.dModel;
  return {
    ...config,
    numKVHeads: config.numKVHeads ?? config.numHeads,
    headDim,
    valueHeadDim,
    keyDim,
    valueDim: config.valueDim ?? keyDim,
    outDim: config.outDim ?? (hasOutputProjection ? config.dModel : config.numHeads * valueHeadDim),
    scale: config.scale ?? 1 / Math.sqrt(headDim),
  };
}

interface Projection {
  in: number;
  out: number;
  at(i: number, o: number): number;
  bias?: Numbers | undefined;
}

function projection(
  layout: string,
  w: Numbers,
  inputs: number,
  outputs: number,
  first = 0,
  total = outputs,
): Projection {
  if (w.length !== inputs * total) throw new Error(`weight holds ${w.length} values, expected ${inputs} × ${total}`);
  return {
    in: inputs,
    out: outputs,
    at: (i, o) =>
      layout === "in-out" ? (w[i * total + first + o] as number) : (w[(first + o) * inputs + i] as number),
  };
}

/** [R,in] to [R,out]. */
function project(x: Numbers, rows: number, p: Projection): Float64Array {
  const y = new Float64Array(rows * p.out);
  for (let r = 0; r < rows; ++r) {
    for (let o = 0; o < p.out; ++o) {
      let sum = p.bias ? (p.bias[o] as number) : 0;
      for (let i = 0; i < p.in; ++i) sum += (x[r * p.in + i] as number) * p.at(i, o);
      y[r * p.out + o] = sum;
    }
  }
  return y;
}

/** Turns each pair of x by its angle: (a, b) → (a·cos − b·sin, a·sin + b·cos), over the first 2·cos.length numbers. */
export function rotate(x: Float64Array, at: number, cos: Numbers, sin: Numbers, pairing: "adjacent" | "halves"): void {
  const pairs = cos.length;
  for (let p = 0; p < pairs; ++p) {
    const first = at + (pairing === "adjacent" ? 2 * p : p);
    const second = at + (pairing === "adjacent" ? 2 * p + 1 : p + pairs);
    const a = x[first] as number;
    const b = x[second] as number;
    x[first] = a * (cos[p] as number) - b * (sin[p] as number);
    x[second] = a * (sin[p] as number) + b * (cos[p] as number);
  }
}

export class ExactCache {
  length = 0;
  /** Projected and rotated keys and values of each batch item and K/V head, [B][G][S·width]. */
  keys: number[][] = [];
  values: number[][] = [];
}

/** The projection-owning layer. */
export class ExactLayer {
  readonly config: ExactConfig;
  readonly #q: Projection;
  readonly #k: Projection;
  readonly #v: Projection;
  readonly #o: Projection | undefined;

  constructor(config: AttentionConfig, weights: AttentionWeights) {
    const c = resolveConfig(config, weights.wo !== undefined);
    this.config = c;
    const layout = weights.layout;
    const nq = c.numHeads * c.headDim;
    const nk = c.numKVHeads * c.headDim;
    const nv = c.numKVHeads * c.valueHeadDim;
    if ("wqkv" in weights) {
      const total = nq + nk + nv;
      this.#q = projection(layout, weights.wqkv, c.dModel, nq, 0, total);
      this.#k = projection(layout, weights.wqkv, c.keyDim, nk, nq, total);
      this.#v = projection(layout, weights.wqkv, c.valueDim, nv, nq + nk, total);
      this.#q.bias = weights.bqkv?.subarray(0, nq);
      this.#k.bias = weights.bqkv?.subarray(nq, nq + nk);
      this.#v.bias = weights.bqkv?.subarray(nq + nk);
    } else {
      this.#q = { ...projection(layout, weights.wq, c.dModel, nq), bias: weights.bq };
      this.#k = { ...projection(layout, weights.wk, c.keyDim, nk), bias: weights.bk };
      this.#v = { ...projection(layout, weights.wv, c.valueDim, nv), bias: weights.bv };
    }
    if (weights.wo) {
      this.#o = { ...projection(layout, weights.wo, c.numHeads * c.valueHeadDim, c.outDim), bias: weights.bo };
    }
  }

  /** Shapes come back with the batch axis, [1,…] where the query had none. */
  forward(query: Tensor, options: Omit<ForwardOptions<Want>, "cache"> = {}, cache?: ExactCache): ExactForward {
    const c = this.config;
    const x = withBatch(query);
    const keySource = withBatch(options.key ?? query);
    const valueSource = withBatch(options.value ?? options.key ?? query);
    const [batch, queries] = x.shape as [number, number, number];
    const fresh = keySource.shape[1] as number;
    const cached = cache?.length ?? 0;
    const keys = cached + fresh;

    const q = this.#heads(project(x.data, batch * queries, this.#q), batch, queries, c.numHeads, c.headDim);
    const k = this.#heads(project(keySource.data, batch * fresh, this.#k), batch, fresh, c.numKVHeads, c.headDim);
    const v = this.#heads(
      project(valueSource.data, batch * fresh, this.#v),
      batch,
      fresh,
      c.numKVHeads,
      c.valueHeadDim,
    );
    this.#rope(q.data, batch * c.numHeads, queries, queryOffset(options, cached));
    this.#rope(k.data, batch * c.numKVHeads, fresh, cached);
    const allKeys = joinCache(cache?.keys, k, keys);
    const allValues = joinCache(cache?.values, v, keys);
    if (cache) cache.length = keys;

    const softcap = options.softcap ?? c.softcap;
    const result = exactAttention(
      q,
      allKeys,
      allValues,
      { ...options, scale: options.scale ?? c.scale, ...(softcap === undefined ? {} : { softcap }) },
      cached,
    );
    const concat = result.concat;
    const o = this.#o;
    if (!o) return { ...result, q, k: allKeys, v: allValues, output: concat };
    const output = { data: project(concat.data, batch * queries, o), shape: [batch, queries, c.outDim] };
    return { ...result, q, k: allKeys, v: allValues, output, contributions: this.#contributions(concat, o) };
  }

  /** Each head's own part of the output, [B,H,T,outDim]: they and bo add up to it. */
  #contributions(concat: Exact, o: Projection): Exact {
    const c = this.config;
    const [batch, queries] = concat.shape as [number, number, number];
    const width = c.valueHeadDim;
    const data = new Float64Array(batch * c.numHeads * queries * c.outDim);
    for (let b = 0; b < batch; ++b)
      for (let h = 0; h < c.numHeads; ++h)
        for (let i = 0; i < queries; ++i)
          for (let e = 0; e < c.outDim; ++e) {
            let sum = 0;
            for (let d = 0; d < width; ++d) {
              const column = h * width + d;
              sum += (concat.data[(b * queries + i) * c.numHeads * width + column] as number) * o.at(column, e);
            }
            data[((b * c.numHeads + h) * queries + i) * c.outDim + e] = sum;
          }
    return { data, shape: [batch, c.numHeads, queries, c.outDim] };
  }

  /** [B,R,N·w] to [B,N,R,w]. */
  #heads(
    x: Float64Array,
    batch: number,
    rows: number,
    heads: number,
    width: number,
  ): { data: Float64Array; shape: number[] } {
    const data = new Float64Array(x.length);
    for (let b = 0; b < batch; ++b)
      for (let h = 0; h < heads; ++h)
        for (let r = 0; r < rows; ++r)
          for (let d = 0; d < width; ++d)
            data[((b * heads + h) * rows + r) * width + d] = x[
              (b * rows + r) * heads * width + h * width + d
            ] as number;
    return { data, shape: [batch, heads, rows, width] };
  }

  #rope(x: Float64Array, heads: number, rows: number, firstPosition: number): void {
    const rope = this.config.rope;
    if (!rope) return;
    const width = this.config.headDim;
    const dims = rope.dims ?? width;
    for (let r = 0; r < rows; ++r) {
      const angles = Array.from(
        { length: dims / 2 },
        (_, p) => (firstPosition + r) / (rope.base ?? 10000) ** ((2 * p) / dims),
      );
      const cos = angles.map(Math.cos);
      const sin = angles.map(Math.sin);
      for (let h = 0; h < heads; ++h) rotate(x, (h * rows + r) * width, cos, sin, rope.pairing);
    }
  }
}

function withBatch(t: Tensor): Source {
  return t.shape.length === 2 ? { data: t.data, shape: [1, ...t.shape] } : t;
}

/** What the cache held and then the new rows, [B,N,S,w]; the cache keeps both. */
function joinCache(store: number[][] | undefined, fresh: { data: Float64Array; shape: number[] }, keys: number): Exact {
  if (!store) return fresh;
  const [batch, heads, rows, width] = fresh.shape as [number, number, number, number];
  const data = new Float64Array(batch * heads * keys * width);
  for (let n = 0; n < batch * heads; ++n) {
    const all = (store[n] ?? []).concat(Array.from(fresh.data.subarray(n * rows * width, (n + 1) * rows * width)));
    store[n] = all;
    data.set(all, n * keys * width);
  }
  return { data, shape: [batch, heads, keys, width] };
}
