import { readdirSync } from "node:fs";
import type { Tensor } from "headscope";
import type { Tolerance } from "../support/compare.js";
import {
  batchItem,
  concatRows,
  decodeTensor,
  type Exact,
  mergeHeads,
  padLast,
  type StoredTensor,
  splitHeads,
  toFloat32,
} from "../support/tensor.js";
import type { AttentionCall, ConformanceCase, LayerCall, Options } from "./cases.js";
import { CONFORMANCE, readJson } from "./data.js";
import { identityLayer } from "./layers.js";

export interface NodeCase {
  case: string;
  op: string;
  opset: number;
  attributes: Record<string, number>;
  inputs: (StoredTensor | null)[];
  outputs: (StoredTensor | null)[];
}

/** The expected values are ONNX's reference in float32: its own rounding is what the tolerance leaves room for. */
const FLOAT32: Tolerance = { absolute: 2e-6, relative: 4e-6 };
/** float16 cases: the reference rounds every step to 11 bits, we only the inputs. */
const FLOAT16: Tolerance = { absolute: 1e-3, relative: 1e-3 };

/** qk_matmul_output_mode 0, 1 and 2 in their order of computation; 3 is the weights. */
const STAGES = ["scaled", "capped", "masked"] as const;

export function onnxNames(): { attention: string[]; window: string[] } {
  const index = readJson<{ case: string; op: string }[]>("onnx/index.json");
  const files = readdirSync(new URL("onnx/", CONFORMANCE));
  return {
    attention: index.filter((c) => c.op === "Attention").map((c) => c.case),
    window: files.filter((f) => f.includes("window")).map((f) => f.replace(/\.json$/, "")),
  };
}

export function onnxCase(name: string): ConformanceCase {
  const node = readJson<NodeCase>(`onnx/${name}.json`);
  const [q, k, v, mask, pastKey, pastValue, lengths] = Array.from({ length: 7 }, (_, i) => read(node.inputs[i]));
  const [y, presentKey, presentValue, qk] = Array.from({ length: 4 }, (_, i) => read(node.outputs[i]));
  if (!q || !k || !v || !y) throw new Error(`${name}: Q, K, V and Y are never absent`);

  const attributes = node.attributes;
  const heads = attributes.q_num_heads ?? (q.shape[1] as number);
  const groups = attributes.kv_num_heads ?? (k.shape[1] as number);
  const split = (t: Exact, n: number): Exact => (t.shape.length === 3 ? splitHeads(t, n) : t);
  const whole = { q: split(q, heads), k: split(k, groups), v: split(v, groups), y: split(y, heads) };
  const past = pastKey?.shape[2] ?? 0;
  const keys = past + (whole.k.shape[2] as number);
  const maskIsBool = node.inputs[3]?.dtype === "bool";
  const result: ConformanceCase = {
    name,
    tolerance: node.inputs[0]?.dtype === "float16" ? FLOAT16 : FLOAT32,
    attention: [],
    layer: [],
  };

  // nonpad_kv_seqlen gives each batch item its own causal offset, so the items run one by one.
  const items = lengths ? Array.from({ length: lengths.data.length }, (_, b) => b) : [undefined];
  for (const b of items) {
    const item = (t: Exact): Exact => (b === undefined ? t : batchItem(t, b));
    const itemMask = mask && b !== undefined && mask.shape.length === 4 ? batchItem(mask, b) : mask;
    const length = b === undefined ? undefined : (lengths?.data[b] as number);
    const queries = whole.q.shape[2] as number;
    const options: Options = {
      ...scaling(attributes),
      ...masking(itemMask, maskIsBool, keys),
      ...(length === undefined ? {} : { keyPadding: Int32Array.of(length) }),
    };
    const offset = length === undefined ? past : length - queries;
    Object.assign(options, position(attributes, offset));
    if (attributes.qk_matmul_output_mode !== 3) {
      const stage = STAGES[attributes.qk_matmul_output_mode ?? 0];
      if (stage) options.scoresStage = stage;
    }
    const wantsWeights = qk && attributes.qk_matmul_output_mode === 3;
    const both = {
      ...(wantsWeights ? { weights: item(qk) } : {}),
      ...(qk && !wantsWeights ? { scores: item(qk) } : {}),
    };
    const all = { q: item(whole.q), k: item(whole.k), v: item(whole.v), y: item(whole.y) };
    const pastItem = pastKey && pastValue ? { k: item(pastKey), v: item(pastValue) } : undefined;
    result.attention.push({
      q: toFloat32(all.q),
      k: toFloat32(pastItem ? concatRows(pastItem.k, all.k) : all.k),
      v: toFloat32(pastItem ? concatRows(pastItem.v, all.v) : all.v),
      options,
      output: all.y,
      ...both,
    } satisfies AttentionCall);
    const layer = identityLayer(heads, groups, whole.q.shape[3] as number, whole.v.shape[3] as number);
    result.layer.push({
      ...layer,
      ...(pastItem ? { past: { key: merged(pastItem.k), value: merged(pastItem.v) } } : {}),
      query: merged(all.q),
      key: merged(all.k),
      value: merged(all.v),
      options,
      output: mergeHeads(all.y),
      ...(both.weights ? { attention: both.weights } : {}),
      ...(both.scores ? { scores: both.scores } : {}),
      ...(presentKey ? { presentKey } : {}),
      ...(presentValue ? { presentValue } : {}),
    } satisfies LayerCall);
  }
  return result;
}

function read(stored: StoredTensor | null | undefined): Exact | undefined {
  return stored ? decodeTensor(stored) : undefined;
}

function merged(t: Exact): Tensor {
  return toFloat32(mergeHeads(t));
}

function scaling(attributes: Record<string, number>): Options {
  return {
    ...(attributes.scale === undefined ? {} : { scale: attributes.scale }),
    ...(attributes.softcap ? { softcap: attributes.softcap } : {}), // 0 means none
  };
}

/** A mask shorter than the keys hides the rest. */
function masking(mask: Exact | undefined, isBool: boolean, keys: number): Options {
  if (!mask) return {};
  if (isBool) {
    const padded = padLast(mask, keys, 0);
    return { mask: { data: Uint8Array.from(padded.data), shape: padded.shape } };
  }
  return { bias: toFloat32(padLast(mask, keys, Number.NEGATIVE_INFINITY)) };
}

/** Query i stands at i + offset; −1 leaves that side of the window open. */
function position(attributes: Record<string, number>, offset: number): Options {
  const left = attributes.left_window_size ?? -1;
  const right = attributes.right_window_size ?? -1;
  const options: Options = {};
  if (attributes.is_causal) options.causal = { offset };
  else if (offset !== 0 && (left >= 0 || right >= 0)) throw new Error("a window off the origin needs a causal offset");
  if (left >= 0 || right >= 0) {
    options.window = { ...(left >= 0 ? { left } : {}), ...(right >= 0 ? { right } : {}) };
  }
  return options;
}
