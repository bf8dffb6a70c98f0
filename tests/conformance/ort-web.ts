import type { Tensor } from "headscope";
import { product } from "../support/random.js";
import { concatRows, type Exact, mergeHeads, sliceColumns, splitHeads, toFloat32 } from "../support/tensor.js";
import type { ConformanceCase, LayerCall, Options } from "./cases.js";
import { readJson } from "./data.js";
import { identityLayer } from "./layers.js";

interface OrtTensor {
  data: number[] | null;
  dims?: number[];
  type: string;
}

interface OrtTest {
  name: string;
  operator: string;
  attributes: Record<string, number>;
  cases: { name: string; inputs: OrtTensor[]; outputs: OrtTensor[] }[];
}

/** ONNX Runtime Web's own bound for these operators on its backends, which round to float32 in another order. */
const TOLERANCE = { absolute: 5e-4, relative: 5e-4 };

/**
 * Two MultiHeadAttention cases hold a past and expect the answer without it: their own siblings that also ask for
 * present_key expect the answer with it.
 */
const IGNORES_ITS_PAST = new Set([
  "MultiHeadAttention Basic, one head and head-size=1 with pastKey and pastValue",
  "MultiHeadAttention Basic, one head and head-size=4 with pastKey and pastValue",
]);

/** Which operators the file holds, each case with a name of its own. */
export function ortWebCases(file: string): ConformanceCase[] {
  const adapters: Record<string, (t: OrtTest, inputs: (Exact | undefined)[], outputs: Exact[]) => Adapted> = {
    Attention: fusedAttention,
    MultiHeadAttention: multiHeadAttention,
    GroupQueryAttention: groupQueryAttention,
  };
  const out: ConformanceCase[] = [];
  for (const group of readJson<OrtTest[]>(`ort-web/${file}.json`)) {
    if (IGNORES_ITS_PAST.has(group.name)) continue;
    const adapter = adapters[group.operator];
    if (!adapter) throw new Error(`no adapter for ${group.operator}`);
    for (const one of group.cases) {
      const outputs = one.outputs.map((t) => read(t) as Exact);
      const adapted = adapter(group, one.inputs.map(read), outputs);
      const name = `${group.name.trim()} ${one.name} #${out.length}`;
      out.push({ name, tolerance: TOLERANCE, ...adapted });
    }
  }
  return out;
}

type Adapted = Pick<ConformanceCase, "attention" | "layer">;

function read(t: OrtTensor): Exact | undefined {
  if (!t.data || !t.dims) return undefined;
  if (product(t.dims) !== t.data.length) throw new Error(`[${t.dims}] holds ${t.data.length} values`);
  return { data: Float64Array.from(t.data), shape: t.dims };
}

/** x · W + b with W [in, Q + K + V], all heads the same width: the layer's fused weights. */
function fusedAttention(t: OrtTest, inputs: (Exact | undefined)[], [y]: Exact[]): Adapted {
  const [x, w, bias, ...rest] = inputs;
  if (!x || !w || !y || rest.some(Boolean)) throw new Error(`${t.name}: input, weights and bias were expected`);
  const heads = t.attributes.num_heads as number;
  const hidden = (w.shape[1] as number) / 3;
  const call: LayerCall = {
    config: { dModel: w.shape[0] as number, numHeads: heads, headDim: hidden / heads, outDim: hidden },
    weights: {
      layout: "in-out",
      wqkv: Float32Array.from(w.data),
      ...(bias ? { bqkv: Float32Array.from(bias.data) } : {}),
    },
    query: toFloat32(x),
    options: t.attributes.unidirectional ? { causal: true } : {},
    output: y,
  };
  return { attention: [], layer: [call] };
}

/** query, key, value, bias [Q+K+V], key_padding_mask, attention_bias, past_key, past_value. */
function multiHeadAttention(t: OrtTest, inputs: (Exact | undefined)[], outputs: Exact[]): Adapted {
  const [query, key, value, bias, padding, added, pastKey, pastValue] = inputs;
  if (!query || !key || !value || padding) throw new Error(`${t.name}: query, key, value and no padding were expected`);
  const heads = t.attributes.num_heads as number;
  const flat = (x: Exact): Exact => (x.shape.length === 4 ? mergeHeads(x) : x); // key and value may come as [B,H,S,d]
  const options: Options = {
    ...(t.attributes.scale ? { scale: t.attributes.scale } : {}),
    ...(added ? { bias: toFloat32(added) } : {}),
    ...(t.attributes.unidirectional ? { causal: true } : {}),
  };
  return projectedHeads(flat(query), flat(key), flat(value), heads, heads, pastKey, pastValue, options, outputs, bias);
}

/** query [B,T,H·d] or packed [B,T,(H+2G)·d], key, value, past_key, past_value, seqlens_k, total_sequence_length. */
function groupQueryAttention(t: OrtTest, inputs: (Exact | undefined)[], outputs: Exact[]): Adapted {
  const [first, keyInput, valueInput, pastKey, pastValue, lengths, total] = inputs;
  const heads = t.attributes.num_heads as number;
  const groups = t.attributes.kv_num_heads as number;
  if (!first || !lengths || !total) throw new Error(`${t.name}: query and lengths were expected`);
  const width = (first.shape[2] as number) / (keyInput ? heads : heads + 2 * groups);
  const packed = (from: number, to: number): Exact => sliceColumns(first, from * width, to * width);
  const query = packed(0, heads);
  const key = keyInput ?? packed(heads, heads + groups);
  const value = valueInput ?? packed(heads + groups, heads + 2 * groups);
  const keys = (pastKey?.shape[2] ?? 0) + (key.shape[1] as number);
  // seqlens_k is one less than the number of real keys; every case here fills its sequence.
  if (lengths.data.some((n) => n + 1 !== keys) || total.data[0] !== keys) throw new Error(`${t.name}: padded`);
  // Causal by its definition, the last query seeing the last key.
  const options: Options = { causal: { offset: keys - (query.shape[1] as number) } };
  return projectedHeads(query, key, value, heads, groups, pastKey, pastValue, options, outputs);
}

function projectedHeads(
  query: Exact,
  key: Exact,
  value: Exact,
  heads: number,
  groups: number,
  pastKey: Exact | undefined,
  pastValue: Exact | undefined,
  options: Options,
  [y, presentKey, presentValue]: Exact[],
  bias?: Exact,
): Adapted {
  if (!y) throw new Error("an output was expected");
  const dk = (query.shape[2] as number) / heads;
  const dv = (value.shape[2] as number) / groups;
  const nq = heads * dk;
  const nk = groups * dk;
  const parts = bias && {
    bq: Float32Array.from(bias.data.subarray(0, nq)),
    bk: Float32Array.from(bias.data.subarray(nq, nq + nk)),
    bv: Float32Array.from(bias.data.subarray(nq + nk)),
  };
  if (parts && pastKey) throw new Error("the bias would be added to the past as well");
  const layer: LayerCall = {
    ...identityLayer(heads, groups, dk, dv, parts),
    ...(pastKey && pastValue && pastKey.shape[2]
      ? { past: { key: toFloat32(mergeHeads(pastKey)), value: toFloat32(mergeHeads(pastValue)) } }
      : {}),
    query: toFloat32(query),
    key: toFloat32(key),
    value: toFloat32(value),
    options,
    output: y,
    ...(presentKey ? { presentKey } : {}),
    ...(presentValue ? { presentValue } : {}),
  };
  const split = (x: Exact, n: number, b?: Float32Array): Exact => splitHeads(b ? plusRow(x, b) : x, n);
  const joined = (past: Exact | undefined, fresh: Exact): Tensor => toFloat32(past ? concatRows(past, fresh) : fresh);
  return {
    attention: [
      {
        q: toFloat32(split(query, heads, parts?.bq)),
        k: joined(pastKey, split(key, groups, parts?.bk)),
        v: joined(pastValue, split(value, groups, parts?.bv)),
        options,
        output: splitHeads(y, heads),
      },
    ],
    layer: [layer],
  };
}

function plusRow(x: Exact, row: Float32Array): Exact {
  return { shape: x.shape, data: x.data.map((value, i) => value + (row[i % row.length] as number)) };
}
