import type { Call } from "./call.js";
import type { ResolvedConfig, TraceStep } from "./types.js";

// The steps are those of the NumPy and llama.cpp walk-throughs: a projection makes new memory, `view` and `transpose`
// only change how it is read, and the reshape that joins the heads again has to copy, because after the transpose the
// heads of one token no longer lie side by side.
//
// ggml names: build_qkv, build_attn_mha and build_attn of llama.cpp. Its K/V cache hands out a multiple of 256 keys.

const KEY_PADDING = 256;

export interface LayerTrace {
  readonly config: ResolvedConfig;
  /** undefined: the input had no batch axis. */
  readonly batch: number | undefined;
  readonly queries: number;
  readonly newKeys: number;
  readonly keys: number;
  readonly cached: boolean;
  readonly keySource: boolean;
  readonly valueSource: boolean;
  /** One product makes q, k and v. */
  readonly fused: boolean;
  readonly bias: { readonly q: boolean; readonly k: boolean; readonly v: boolean };
  readonly outputProjection: boolean;
  readonly outputBias: boolean;
  readonly softcap: boolean;
  readonly masked: boolean;
  readonly gated: boolean;
}

type Ggml = NonNullable<TraceStep["ggml"]>;

/** Collects steps; puts the batch axis in front of everything where there is one. */
class Steps {
  readonly list: TraceStep[] = [];
  readonly #batch: number | undefined;

  constructor(batch: number | undefined) {
    this.#batch = batch;
  }

  /** New memory, dense. */
  make(id: string, formula: string, shape: readonly number[], flops: number, ggml?: Ggml, copied = false): void {
    const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
    const elements = shape.reduce((a, b) => a * b, 1);
    this.#push(id, formula, shape, strides, elements, elements * 4, flops, copied, ggml);
  }

  /** Another reading of memory of which one batch item has `extent` elements. */
  view(id: string, formula: string, shape: readonly number[], strides: readonly number[], extent: number, ggml?: Ggml) {
    this.#push(id, formula, shape, strides, extent, 0, 0, false, ggml);
  }

  #push(
    id: string,
    formula: string,
    shape: readonly number[],
    strides: readonly number[],
    extent: number,
    bytes: number,
    flops: number,
    copied: boolean,
    ggml: Ggml | undefined,
  ): void {
    const batch = this.#batch;
    const step: TraceStep = {
      id,
      formula,
      shape: batch === undefined ? shape : [batch, ...shape],
      strides: batch === undefined ? strides : [extent, ...strides],
      copied,
      bytes: bytes * (batch ?? 1),
      flops: flops * (batch ?? 1),
    };
    if (ggml !== undefined) step.ggml = batch === undefined ? ggml : { name: ggml.name, ne: [...ggml.ne, batch] };
    this.list.push(step);
  }
}

function padded(keys: number): number {
  return Math.ceil(keys / KEY_PADDING) * KEY_PADDING;
}

/** The steps of a layer's forward pass. */
export function traceLayer(t: LayerTrace): TraceStep[] {
  const { config: c, queries: T, newKeys, keys: S } = t;
  const { dModel: D, numHeads: H, numKVHeads: G, headDim: dk, valueHeadDim: dv } = c;
  const qWidth = H * dk;
  const kWidth = G * dk;
  const vWidth = G * dv;
  const steps = new Steps(t.batch);
  const self = !t.keySource && !t.valueSource;

  steps.make("input", "Z", [T, D], 0, { name: "attn_norm-0", ne: [D, T] });
  if (t.keySource) steps.make("keyInput", "Z_K", [newKeys, c.keyDim], 0);
  if (t.valueSource) steps.make("valueInput", "Z_V", [newKeys, c.valueDim], 0);
  const keyName = t.keySource ? "Z_K" : "Z";
  const valueName = t.valueSource ? "Z_V" : keyName;

  if (t.fused && self) {
    const all = qWidth + kWidth + vWidth;
    const biased = t.bias.q;
    const node = { name: biased ? "wqkv_b-0" : "wqkv-0", ne: [all, T] };
    steps.make("qkv", biased ? "QKV = Z W_QKV + b_QKV" : "QKV = Z W_QKV", [T, all], 2 * T * D * all, node);
  }
  const fused = t.fused && self;
  traceHeads(steps, t, "q", fused, { symbol: "Q", source: "Z", rows: T, width: D, heads: H, dim: dk });
  traceHeads(steps, t, "k", fused, { symbol: "K", source: keyName, rows: newKeys, width: c.keyDim, heads: G, dim: dk });
  const value = { symbol: "V", source: valueName, rows: newKeys, width: c.valueDim, heads: G, dim: dv };
  traceHeads(steps, t, "v", fused, value);
  if (t.cached) {
    steps.make("kCached", "K = [K_cached; K]", [G, S, dk], 0, undefined, true);
    steps.make("vCached", "V = [V_cached; V]", [G, S, dv], 0, undefined, true);
  }

  traceScores(steps, { H, G, T, S, dk, dv, softcap: t.softcap, masked: t.masked, gated: t.gated });
  const from = t.gated ? "gated" : "O";
  const concatWidth = H * dv;
  steps.view("headsTransposed", `transpose(${from})`, [T, H, dv], [dv, T * dv, 1], H * T * dv);
  const concatNode = { name: "kqv_out-0", ne: [concatWidth, T] };
  steps.make("concat", "O_cat = reshape(transposed)", [T, concatWidth], 0, concatNode, true);
  if (t.outputProjection) {
    const name = t.outputBias ? "ADD(blk.0.attn_output.bias)" : "MUL_MAT(blk.0.attn_output.weight)";
    const formula = t.outputBias ? "A = O_cat W_O + b_O" : "A = O_cat W_O";
    steps.make("output", formula, [T, c.outDim], 2 * T * concatWidth * c.outDim, { name, ne: [c.outDim, T] });
  } else {
    steps.view("output", "A = O_cat", [T, concatWidth], [concatWidth, 1], T * concatWidth);
  }
  return steps.list;
}

interface Projection {
  readonly symbol: string;
  readonly source: string;
  readonly rows: number;
  readonly width: number;
  readonly heads: number;
  readonly dim: number;
}

/** From a source to `[heads, rows, dim]`: project, view as heads, turn, transpose. */
function traceHeads(steps: Steps, t: LayerTrace, id: "q" | "k" | "v", fused: boolean, p: Projection): void {
  const { symbol, rows, heads, dim } = p;
  const own = heads * dim;
  const { config: c } = t;
  const all = c.numHeads * c.headDim + c.numKVHeads * (c.headDim + c.valueHeadDim);
  let row = fused ? all : own; // from one token to the next, in elements
  if (!fused) {
    const bias = t.bias[id] ? ` + b_${symbol}` : "";
    steps.make(`${id}Projection`, `${symbol} = ${p.source} W_${symbol}${bias}`, [rows, own], 2 * rows * p.width * own);
  }
  const viewOf = fused ? `QKV, columns of ${symbol}` : symbol;
  const node = { name: `${symbol}cur-0`, ne: [dim, heads, rows] };
  steps.view(`${id}View`, `view(${viewOf})`, [rows, heads, dim], [row, dim, 1], rows * row, node);
  if (id !== "v" && c.rope.dims > 0) {
    row = own;
    steps.make(`${id}Rotary`, `rotate(${symbol}, position)`, [rows, heads, dim], 0, node);
  }
  steps.view(id, `transpose(${symbol})`, [heads, rows, dim], [dim, row, 1], rows * row);
}

interface Scores {
  readonly H: number;
  readonly G: number;
  readonly T: number;
  readonly S: number;
  readonly dk: number;
  readonly dv: number;
  readonly softcap: boolean;
  readonly masked: boolean;
  readonly gated: boolean;
}

function traceScores(steps: Steps, s: Scores): void {
  const { H, G, T, S, dk, dv } = s;
  const shape = [H, T, S];
  const shared = G === H ? "h" : `⌊h/${H / G}⌋`;
  const ne = [padded(S), T, H];
  steps.make("scores", `scale · Q_h K_${shared}ᵀ`, shape, 2 * H * T * S * dk, { name: "kq-0", ne });
  if (s.softcap) steps.make("capped", "c · tanh(scores / c)", shape, 0);
  const input = s.softcap ? "capped" : "scores";
  const masked = s.masked ? `${input} + M` : input;
  steps.make("weights", `softmax(${masked})`, shape, 0, { name: "kq_soft_max-0", ne });
  steps.make("heads", `O_h = weights V_${shared}`, [H, T, dv], 2 * H * T * S * dv, { name: "kqv-0", ne: [dv, T, H] });
  if (s.gated) steps.make("gated", "g_h · O_h", [H, T, dv], 0);
}

/** The steps of attention on projected heads. */
export function traceAttention(call: Call): TraceStep[] {
  const { numHeads: H, numKVHeads: G, queries: T, keys: S, headDim: dk, valueHeadDim: dv } = call;
  const steps = new Steps(call.batched ? call.batch : undefined);
  const masks = [call.mask, call.bias, call.keyMask, call.keyLengths];
  const masked = call.flags !== 0 || masks.some((mask) => mask !== undefined);
  const gated = call.headGate !== undefined;
  steps.make("q", "Q", [H, T, dk], 0);
  steps.make("k", "K", [G, S, dk], 0);
  steps.make("v", "V", [G, S, dv], 0);
  traceScores(steps, { H, G, T, S, dk, dv, softcap: call.softcap !== 0, masked, gated });
  steps.view("output", gated ? "gated" : "O", [H, T, dv], [T * dv, dv, 1], H * T * dv);
  return steps.list;
}
