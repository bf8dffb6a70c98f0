/** The words of `<shape-trace>`. */

import type { Words } from "../strings.js";
import type { StageName } from "./stages.js";

/** What happens in a stage. `{scale}` is how scores are scaled: " / √64". */
export const titles = {
  input: ["input X", "输入 X"],
  keyInput: ["input of K, V", "K、V 的输入"],
  fused: ["fused QKV", "合并投影 QKV"],
  project: ["project Q, K, V", "投影 Q、K、V"],
  split: ["split, view", "按头切分（视图）"],
  rotary: ["rotate by position", "按位置旋转"],
  transpose: ["transpose", "转置"],
  cached: ["append to cache", "接到缓存之后"],
  scores: ["scores QKᵀ{scale}", "分数 QKᵀ{scale}"],
  capped: ["soft cap", "软上限"],
  weights: ["mask, softmax", "掩码、softmax"],
  heads: ["× V", "× V"],
  gated: ["× head switches", "× 头的开关"],
  back: ["transpose back", "转置回来"],
  concat: ["concat", "拼接"],
  output: ["× W_O", "× W_O"],
} as const satisfies Readonly<Record<StageName, Words>>;

/** Why a stage costs what it costs. */
export const notes = {
  input: ["What the layer is given: one row for each token.", "本层的输入：每个词元一行。"],
  keyInput: ["Keys and values are read from another sequence.", "键和值取自另一个序列。"],
  fused: [
    "One product makes Q, K and V; the columns of all heads stand side by side. Every head reads the whole input.",
    "一次乘法同时得到 Q、K、V；各头的列并排放置。每个头都读取完整的输入。",
  ],
  project: [
    "The columns of all heads stand side by side in one matrix. Every head reads the whole input.",
    "各头的列并排放在同一个矩阵里。每个头都读取完整的输入。",
  ],
  split: [
    "Only the reading of the indices changes: the last axis becomes heads × width. Nothing is moved.",
    "只改变下标的解释方式：最后一维拆成“头 × 宽度”。不搬动数据。",
  ],
  rotary: ["Pairs of numbers are turned by an angle that grows with the position.", "成对的数按位置转过一个角度。"],
  transpose: [
    "Two axes change places by changing their strides. Nothing is moved, so neighbours are no longer side by side.",
    "只交换两个维度的步长。不搬动数据，因此相邻的数在内存里不再挨着。",
  ],
  cached: ["New keys and values are put behind those of earlier calls.", "新的键和值接在先前调用的后面。"],
  scores: [
    "Each head compares every query with every key: this grows with the number of heads and with T².",
    "每个头把每个查询与每个键比较：这一步随头数和 T² 增长。",
  ],
  capped: ["Scores are held within a limit by tanh.", "用 tanh 把分数限制在范围内。"],
  weights: [
    "Hidden keys get −∞ and so the weight 0; each row then sums to 1.",
    "被遮住的键分数为 −∞，权重为 0；每一行之和为 1。",
  ],
  heads: ["Each head averages its values with its own weights.", "每个头用自己的权重对值求平均。"],
  gated: ["A head that is switched off counts 0.", "被关掉的头按 0 计。"],
  back: [
    "A view again: the heads of a token are named together, but do not stand together.",
    "仍是视图：同一词元的各头归到一起，但在内存里并不相邻。",
  ],
  concat: [
    "This one copies: the numbers of one token's heads have to stand side by side for the next product.",
    "这一步要复制：同一词元各头的数必须挨在一起，才能做下一次乘法。",
  ],
  output: [
    "Row block h of W_O says where head h writes; without it head h could only fill its own columns.",
    "W_O 的第 h 段行决定头 h 写到哪里；没有它，头 h 只能填自己那几列。",
  ],
} as const satisfies Readonly<Record<StageName, Words>>;

export const words = {
  list: ["Shapes on the way, step by step", "形状的变化，逐步"],
  copies: ["copies", "复制"],
  noCopy: ["no copy", "不复制"],
  strides: ["strides {strides}", "步长 {strides}"],
  flop: ["FLOP", "FLOP"],
  details: ["Details: {step}", "细节：{step}"],
  close: ["Close the details", "关闭细节"],
  all: ["Every step", "全部步骤"],
  step: ["step", "步骤"],
  shape: ["shape", "形状"],
  stridesHead: ["strides", "步长"],
  memory: ["memory", "内存"],
  view: ["view", "视图"],
  made: ["new", "新建"],
  copied: ["new, copied", "新建（复制）"],
  bytes: ["bytes", "字节"],
  flops: ["FLOPs", "FLOPs"],
  node: ["llama.cpp node", "llama.cpp 节点"],
  ne: ["ggml ne", "ggml ne"],
  mapSplit: [
    "One row of {width} numbers: which head reads each column (both counted from 1)",
    "一行 {width} 个数：每一列归哪个头（均从 1 数起）",
  ],
  mapJoin: [
    "One row of {width} numbers: which head writes each column (both counted from 1)",
    "一行 {width} 个数：每一列由哪个头写入（均从 1 数起）",
  ],
  mapHead: ["columns {columns} → head {head}", "第 {columns} 列 → 头 {head}"],
  problem: ["trace: expected {expected}.", "trace：应为 {expected}。"],
} as const satisfies Record<string, Words>;
