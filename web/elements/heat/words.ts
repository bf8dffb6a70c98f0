import type { Words } from "../strings.js";

export const heatWords = {
  axes: ["query ↓ key →", "查询 ↓ 键 →"],
  grid: ["Weights of head {head}: rows are queries, columns are keys.", "第 {head} 头的权重：行是查询，列是键。"],
  keys: [
    "Arrow keys move, Enter pins, Escape unpins, + and − zoom, [ and ] change the head.",
    "方向键移动，回车固定，Esc 取消固定，+ 和 − 缩放，[ 和 ] 换头。",
  ],
  cell: ["query {query}, key {key}: {weight}", "查询 {query}，键 {key}：{weight}"],
  hiddenCell: ["query {query} cannot see key {key}: hidden", "查询 {query} 看不到键 {key}：被掩码遮住"],
  spoken: [
    "query {query}, key {key}, weight {weight}, head {head}",
    "查询 {query}，键 {key}，权重 {weight}，第 {head} 头",
  ],
  sentence: [
    "query {query} reads key {key} with weight {weight} · head {head}",
    "查询 {query} 以权重 {weight} 读取键 {key} · 第 {head} 头",
  ],
  sentenceHidden: [
    "query {query} cannot see key {key}: {weight}, hidden by the mask · head {head}",
    "查询 {query} 看不到键 {key}：{weight}，被掩码遮住 · 第 {head} 头",
  ],
  strongest: [
    "query {query} reads most from key {key}, weight {weight} · head {head}",
    "查询 {query} 读得最多的是键 {key}，权重 {weight} · 第 {head} 头",
  ],
  hint: ["Point at a cell to read its weight, click to keep it.", "指向一个格子查看权重，点击固定。"],
  zoomIn: ["Zoom in", "放大"],
  zoomOut: ["Zoom out", "缩小"],
  fit: ["Show all", "显示全部"],
  map: ["The part in view", "当前显示的部分"],
  legend: ["Colours from {from} to {to}", "颜色从 {from} 到 {to}"],
  hidden: ["hidden by the mask", "被掩码遮住"],
  rows: ["each row sums to 1", "每行之和为 1"],
  rowsOther: ["not every row sums to 1", "并非每行之和都为 1"],
  even: ["1/n: the even share of the n keys a query sees", "1/n：查询可见的 n 个键平分时的份额"],
  small: ["· is less than the digits can show", "· 表示小到这几位数字显示不出"],
  scale: ["Scale", "色标"],
  unit: ["0–1", "0–1"],
  head: ["head maximum", "该头最大值"],
  uniform: ["even share in the middle", "以平分份额为中点"],
  log: ["logarithmic", "对数"],
} as const satisfies Record<string, Words>;
