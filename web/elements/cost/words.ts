/** The words of `<cost-bills>`. */

import type { Words } from "../strings.js";
import type { SizeName } from "./bills.js";

export const sizes = {
  dModel: ["D, width of the model", "D，模型宽度"],
  numHeads: ["H, heads", "H，头数"],
  numKVHeads: ["G, K/V heads", "G，K/V 头数"],
  headDim: ["dk, width of a head", "dk，每头宽度"],
  tokens: ["T, tokens", "T，词元数"],
  layers: ["layers", "层数"],
} as const satisfies Readonly<Record<SizeName, Words>>;

export const words = {
  controls: ["Sizes of the model", "模型的尺寸"],
  preset: ["Model", "模型"],
  own: ["own sizes", "自定义"],
  dtype: ["Numbers", "数值类型"],
  dtypeName: ["{name}, {bytes} B", "{name}，{bytes} 字节"],
  follow: ["dk follows D / H", "dk 随 D / H"],
  slider: ["{name}, slider", "{name}，滑块"],
  range: ["A whole number from {from} to {to}, please.", "请输入 {from} 到 {to} 之间的整数。"],
  bills: ["The bills", "账单"],

  parameters: ["parameters of a layer", "一层的参数"],
  parametersPlain: ["4 · D², the same for any number of heads", "4 · D²，与头数无关"],
  parametersShared: ["2 · D · H · dk + 2 · D · G · dk", "2 · D · H · dk + 2 · D · G · dk"],
  parametersOther: ["W_Q, W_K, W_V and W_O together", "W_Q、W_K、W_V 与 W_O 之和"],
  allLayers: ["{layers} layers: {total}", "{layers} 层：{total}"],
  matrices: [
    "W_Q\u00a0{wq} · W_K\u00a0{wk} · W_V\u00a0{wv} · W_O\u00a0{wo}",
    "W_Q\u00a0{wq} · W_K\u00a0{wk} · W_V\u00a0{wv} · W_O\u00a0{wo}",
  ],

  flops: ["FLOPs for QKᵀ and weights × V, a layer", "一层中 QKᵀ 与权重 × V 的 FLOPs"],
  flopsPlain: ["4 · T² · D, the same for any number of heads", "4 · T² · D，与头数无关"],
  flopsOther: ["4 · T² · H · dk", "4 · T² · H · dk"],
  causal: ["causal, half: {flops}", "因果掩码减半：{flops}"],
  projections: ["with the projections: {flops}", "连同投影：{flops}"],

  scores: ["of scores, a layer", "一层的分数矩阵"],
  scoresFormula: ["H · T² · {bytes} B: grows with the number of heads", "H · T² · {bytes} 字节：随头数增长"],
  exact: ["{bytes} B", "{bytes} 字节"],
  limit: ["4 GiB: all that wasm32 can address", "4 GiB：wasm32 能寻址的全部"],
  limitShort: ["4 GiB", "4 GiB"],
  within: ["{share} of the 4 GiB that wasm32 can address", "占 wasm32 可寻址 4 GiB 的 {share}"],
  filled: [
    "exactly the 4 GiB that wasm32 can address: nothing is left for anything else",
    "正好是 wasm32 可寻址的 4 GiB：别的什么都放不下了",
  ],
  beyond: ["{times} times the 4 GiB that wasm32 can address", "是 wasm32 可寻址 4 GiB 的 {times} 倍"],

  cache: ["of keys and values a token", "每词元的键和值"],
  cacheFormula: ["2 · G · dk · layers = {numbers} numbers", "2 · G · dk · 层数 = {numbers} 个数"],
  cacheOther: ["{numbers} numbers in all layers", "各层共 {numbers} 个数"],
  cacheFull: ["as many K/V heads as heads (MHA)", "K/V 头与头一样多（MHA）"],
  cacheShared: [
    "{share} of what {heads} K/V heads need ({kind}): {times} × the context in the same memory",
    "是 {heads} 个 K/V 头的 {share}（{kind}）：同样的内存可放 {times} 倍上下文",
  ],
  cacheTotal: ["{tokens} tokens: {bytes}", "{tokens} 个词元：{bytes}"],

  lunch: [
    "Change H and watch: parameters and FLOPs stay, the scores grow. More heads are not a free lunch.",
    "改变 H 看看：参数与 FLOPs 不变，分数矩阵却增长。头多并不是“免费的午餐”。",
  ],
  uneven: [
    "{dModel} / {numHeads} is not whole. The heads are {headDim} wide here, together {concat}; W_O leads back to {dModel}. {below} or {above} heads would divide {dModel}.",
    "{dModel} / {numHeads} 不是整数。这里每头宽 {headDim}，合计 {concat}，由 W_O 投回 {dModel}。{below} 或 {above} 个头可以整除 {dModel}。",
  ],
  apart: [
    "H · dk = {numHeads} · {headDim} = {concat} is not D = {dModel}. That is allowed: W_O has {concat} rows and leads back to {dModel}.",
    "H · dk = {numHeads} · {headDim} = {concat}，不等于 D = {dModel}。这是允许的：W_O 有 {concat} 行，投回 {dModel}。",
  ],
  groups: [
    "{numHeads} heads cannot share {numKVHeads} K/V heads evenly, so there is no such layer. These divide {numHeads}:",
    "{numHeads} 个头不能平均共用 {numKVHeads} 个 K/V 头，没有这样的层。能整除 {numHeads} 的有：",
  ],
  use: ["G = {heads}", "G = {heads}"],
  rank: [
    "dk < T: the scores of a head have rank {headDim} at most, so it cannot make every pattern of {tokens} × {tokens}.",
    "dk < T：一个头的分数矩阵秩不超过 {headDim}，不能表示任意的 {tokens} × {tokens} 模式。",
  ],
  problem: [
    "config.{name}: expected a whole number from {from} to {to}, got {value}.",
    "config.{name}：应为 {from} 到 {to} 之间的整数，得到 {value}。",
  ],
  presetProblem: ["preset: expected one of {names}, got {value}.", "preset：应为 {names} 之一，得到 {value}。"],
} as const satisfies Record<string, Words>;
