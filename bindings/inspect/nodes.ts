import { toNe } from "../models/header.js";
import type { AttentionTensors } from "../models/layer-names.js";
import type { Tensor } from "../types.js";

/** What one has to know to hold a node's numbers against llama.cpp's. */
export type NodeNote =
  /** llama.cpp's K/V cache hands out a multiple of 256 keys; the columns behind the text's own are empty. */
  | "padded-keys"
  /** q·k as it is: llama.cpp scales inside its softmax. Keys that the mask hides are still there. */
  | "unscaled"
  /** The last of several nodes of this name: after the bias, and after the rotary turn. */
  | "last-of-name"
  /** The file has the halves of a head turned, GGUF the adjacent pairs: same scores, other order inside a head. */
  | "rotary-order"
  /** llama.cpp's name is a number that changes with its graph (node_28); the weight in the operation tells it. */
  | "found-by-weight"
  /** Rounded to half precision, as llama.cpp's cache keeps it. */
  | "half-precision"
  /** Only with --flash-attn off: a fused kernel never holds it. */
  | "flash-attention-off";

/**
 * Where llama.cpp's graph gets the node. Building the graph computes nothing: values come when a backend runs it.
 */
export interface NodeSource {
  readonly builder: "build_qkv" | "build_attn_mha" | "build_attn";
  /** In the order of their calls. */
  readonly operations: readonly string[];
  /** For views into the rows of the fused projection: where theirs begin, in bytes. */
  readonly offset: number | undefined;
}

/** One node of llama.cpp's graph, as its llama-eval-callback prints it. */
export interface NodeReport {
  /** `"Qcur-0"`; for the two nodes of the output projection, which have no name that stays, the operation. */
  readonly name: string;
  readonly id: "qkv" | "q" | "k" | "v" | "scores" | "weights" | "heads" | "concat" | "product" | "output";
  /** The weight that the node multiplies with or adds, by its name in this file. */
  readonly weight: string | undefined;
  /** Logical shape: [H,T,dk] for heads, [T,D] for rows. */
  readonly shape: readonly number[];
  /** As ggml prints it: fastest first, padding included. */
  readonly ne: readonly number[];
  /** Place in the order in which llama.cpp computes and prints them, from 0: Q, V, K. */
  readonly printed: number;
  /** Up to three values at either end, in ggml's order, padding left out. */
  readonly first: readonly number[];
  readonly last: readonly number[];
  /** Of all values. Padding adds nothing. */
  readonly sum: number;
  /** Of the columns, how many are the text's own; undefined where none is padding. */
  readonly validColumns: number | undefined;
  readonly source: NodeSource;
  readonly notes: readonly NodeNote[];
}

export interface NodeInputs {
  readonly layer: number;
  readonly tensors: AttentionTensors | undefined;
  /** llama.cpp runs it with a K/V cache: gpt2 and llama, not bert. */
  readonly cached: boolean;
  readonly rotary: "none" | "adjacent" | "halves";
  readonly halfPrecision: boolean;
  readonly q: Tensor;
  readonly k: Tensor;
  readonly v: Tensor;
  readonly weights: Tensor;
  readonly heads: Tensor;
  readonly concat: Tensor;
  readonly output: Tensor;
  /** `[D]` */
  readonly outputBias: Float32Array | undefined;
}

const KEY_PADDING = 256;
/** Of a float32: what nodes hold. */
const BYTES = 4;

/** The nodes of one layer's attention in reading order. */
export function nodeTable(inputs: NodeInputs): NodeReport[] {
  const { layer, tensors, q, k, v, weights, heads, concat, output, outputBias } = inputs;
  const biased = outputBias !== undefined;
  const turned: NodeNote[] = inputs.rotary === "none" ? [] : ["last-of-name"];
  if (inputs.rotary === "halves") turned.push("rotary-order");
  const half: NodeNote[] = inputs.halfPrecision ? ["half-precision"] : [];
  const nodes: NodeReport[] = [];

  if (tensors?.qkv !== undefined && inputs.rotary === "none") {
    nodes.push({
      ...described("qkv", `${tensors.qkvBias ? "wqkv_b" : "wqkv"}-${layer}`, fused(q, k, v), 0),
      weight: tensors.qkv,
      source: from("build_qkv", "build_lora_mm", ...(tensors.qkvBias ? ["ggml_add"] : [])),
      notes: half,
    });
  }
  const isFused = nodes.length > 0;
  let offset = 0;
  const projected = (id: "q" | "k" | "v", name: string, tensor: Tensor, printed: number): NodeReport => {
    const source = isFused
      ? { ...from("build_qkv", "ggml_view_3d"), offset }
      : from("build_qkv", "build_lora_mm", "ggml_reshape_3d");
    offset += (tensor.shape[0] as number) * (tensor.shape[2] as number) * BYTES;
    const notes = [...(id === "v" ? [] : turned), ...half];
    return { ...described(id, `${name}-${layer}`, tensor, printed, byToken(tensor)), source, notes };
  };
  nodes.push(projected("q", "Qcur", q, 1), projected("k", "Kcur", k, 3), projected("v", "Vcur", v, 2));

  const attention = (operation: string): NodeSource => from("build_attn_mha", operation);
  const padded = (node: NodeReport, ...notes: readonly NodeNote[]): NodeReport =>
    padKeys({ ...node, notes: [...notes, "flash-attention-off"] }, inputs.cached);
  const scores = described("scores", `kq-${layer}`, products(q, k), 4);
  const softmax = described("weights", `kq_soft_max-${layer}`, weights, 5);
  const values = described("heads", `kqv-${layer}`, heads, 6);
  nodes.push(
    padded({ ...scores, source: attention("ggml_mul_mat") }, "unscaled"),
    padded({ ...softmax, source: attention("ggml_soft_max_ext") }),
    { ...values, source: attention("ggml_mul_mat"), notes: ["flash-attention-off"] },
    {
      ...described("concat", `kqv_out-${layer}`, concat, 7),
      source: from("build_attn_mha", "ggml_permute", "ggml_cont_2d"),
    },
  );

  const stem = `blk.${layer}.attn_output`;
  const product = biased ? withoutBias(output, outputBias) : output;
  nodes.push({
    ...described("product", `MUL_MAT(${stem}.weight, kqv_out-${layer})`, product, 8),
    weight: tensors?.output,
    source: from("build_attn", "build_lora_mm"),
    notes: ["found-by-weight"],
  });
  if (biased) {
    nodes.push({
      ...described("output", `ADD(…, ${stem}.bias)`, output, 9),
      weight: tensors?.outputBias,
      source: from("build_attn", "ggml_add"),
      notes: ["found-by-weight"],
    });
  }
  return nodes;
}

function from(builder: NodeSource["builder"], ...operations: readonly string[]): NodeSource {
  return { builder, operations, offset: undefined };
}

/** `ordered`: the values in ggml's order where that is not the tensor's own. */
function described(
  id: NodeReport["id"],
  name: string,
  tensor: Tensor,
  printed: number,
  ordered: Tensor = tensor,
): Omit<NodeReport, "source"> {
  const { data } = ordered;
  let sum = 0;
  for (const value of data) sum += value;
  return {
    id,
    name,
    weight: undefined,
    shape: tensor.shape,
    ne: toNe(ordered.shape),
    printed,
    first: [...data.subarray(0, 3)],
    last: [...data.subarray(Math.max(0, data.length - 3))],
    sum,
    validColumns: undefined,
    notes: [],
  };
}

function padKeys(node: NodeReport, cached: boolean): NodeReport {
  if (!cached) return node;
  const [keys = 0, ...rest] = node.ne;
  const padded = Math.ceil(keys / KEY_PADDING) * KEY_PADDING;
  return { ...node, ne: [padded, ...rest], validColumns: keys, notes: [...node.notes, "padded-keys"] };
}

/** `[H,T,d]` to `[T,H,d]`: ggml's order of q, k and v, whose ne is {d, H, T}. */
function byToken({ data, shape }: Tensor): Tensor {
  const [heads, rows, width] = shape as readonly [number, number, number];
  const to = new Float32Array(data.length);
  for (let head = 0; head < heads; ++head) {
    for (let row = 0; row < rows; ++row) {
      const from = (head * rows + row) * width;
      to.set(data.subarray(from, from + width), (row * heads + head) * width);
    }
  }
  return { data: to, shape: [rows, heads, width] };
}

/** q, k and v of each token side by side: what the fused projection gives. */
function fused(...parts: readonly [Tensor, Tensor, Tensor]): Tensor {
  const rows = parts[0].shape[1] as number;
  const widths = parts.map(({ data }) => data.length / rows);
  const total = widths.reduce((a, b) => a + b, 0);
  const data = new Float32Array(rows * total);
  let first = 0;
  parts.forEach((part, i) => {
    const width = widths[i] as number;
    const { data: values } = byToken(part);
    for (let row = 0; row < rows; ++row) {
      data.set(values.subarray(row * width, (row + 1) * width), row * total + first);
    }
    first += width;
  });
  return { data, shape: [rows, total] };
}

/** q·k of every pair, `[H,T,S]`, also of keys that the mask hides: llama.cpp's kq has them. */
function products(q: Tensor, k: Tensor): Tensor {
  const [heads, queries, width] = q.shape as readonly [number, number, number];
  const [groups, keys] = k.shape as readonly [number, number, number];
  const data = new Float32Array(heads * queries * keys);
  let at = 0;
  for (let head = 0; head < heads; ++head) {
    const group = Math.floor(head / (heads / groups));
    for (let query = 0; query < queries; ++query) {
      const a = q.data.subarray((head * queries + query) * width, (head * queries + query + 1) * width);
      for (let key = 0; key < keys; ++key) {
        const b = (group * keys + key) * width;
        let sum = 0;
        for (let i = 0; i < width; ++i) sum += (a[i] as number) * (k.data[b + i] as number);
        data[at++] = sum;
      }
    }
  }
  return { data, shape: [heads, queries, keys] };
}

function withoutBias({ data, shape }: Tensor, bias: Float32Array): Tensor {
  return { data: data.map((value, i) => value - (bias[i % bias.length] as number)), shape };
}
