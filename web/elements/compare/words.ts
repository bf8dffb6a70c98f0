/** The words of `<head-compare>`. */

import type { Words } from "../strings.js";

export const words = {
  head: ["head {head}", "第 {head} 头"],
  left: ["left", "左"],
  right: ["right", "右"],
  minus: ["{right} minus {left}", "{right} 减 {left}"],
  grid: ["Weights, {name}: rows are queries, columns are keys.", "权重，{name}：行是查询，列是键。"],
  gridDifference: ["Difference, {name}: rows are queries, columns are keys.", "差值，{name}：行是查询，列是键。"],
  choose: ["Head on the {side}", "{side}侧的头"],
  legend: ["Colours from {from} through 0 to {to}", "颜色从 {from} 经 0 到 {to}"],
  less: ["{right} reads less", "{right}读得更少"],
  more: ["{right} reads more", "{right}读得更多"],
  cell: [
    "query {query}, key {key}: {before} ({left}), {after} ({right}), difference {difference}",
    "查询 {query}，键 {key}：{before}（{left}），{after}（{right}），差值 {difference}",
  ],
  cellNone: [
    "query {query}, key {key}: {before} ({left}), {after} ({right})",
    "查询 {query}，键 {key}：{before}（{left}），{after}（{right}）",
  ],
  row: [
    "query {query}: {share} of its attention goes elsewhere, most at key {key}, {difference}",
    "查询 {query}：其注意力有 {share} 移到别处，变化最大的是键 {key}，{difference}",
  ],
  rowEqual: ["query {query} reads the same on both sides", "查询 {query} 在两侧读取的内容相同"],
  largest: [
    "Largest difference {difference}: query {query}, key {key}. On average {share} of a query's attention goes elsewhere.",
    "最大差值 {difference}：查询 {query}，键 {key}。平均每个查询有 {share} 的注意力移到别处。",
  ],
  largestOnly: [
    "Largest difference {difference}: query {query}, key {key}.",
    "最大差值 {difference}：查询 {query}，键 {key}。",
  ],
  rowNoShare: [
    "query {query}: the largest difference is at key {key}, {difference}; the row holds what is not a number",
    "查询 {query}：差值最大的是键 {key}，{difference}；该行含有不是数的值",
  ],
  noNumbers: ["No two numbers differ; some cells are not numbers.", "没有不同的数；有些格子不是数。"],
  equal: ["Both maps are equal.", "两张图相同。"],
  hint: ["Point at a cell in any of the maps to read both sides.", "在任意一张图上指向格子，即可读出两侧的值。"],
  outside: ["this cell is not on both sides", "并非两侧都有这个格子"],
  shape: [
    "No difference can be drawn: {left} has {leftSize}, {right} has {rightSize} (queries × keys), so that no cell has a counterpart.",
    "无法画出差值图：{left}为 {leftSize}，{right}为 {rightSize}（查询 × 键），格子没有对应。",
  ],
  queries: [
    "No difference is drawn: query {at} is {leftToken} on one side and {rightToken} on the other, so that a cell would compare different tokens.",
    "未画差值图：第 {at} 个查询一侧是 {leftToken}，另一侧是 {rightToken}，同一格比较的会是不同的词元。",
  ],
  keys: [
    "No difference is drawn: key {at} is {leftToken} on one side and {rightToken} on the other, so that a cell would compare different tokens.",
    "未画差值图：第 {at} 个键一侧是 {leftToken}，另一侧是 {rightToken}，同一格比较的会是不同的词元。",
  ],
  anyway: ["Compare by position", "按位置比较"],
  only: ["There is one head only: nothing to compare it with.", "只有一个头：没有可比较的对象。"],
} as const satisfies Record<string, Words>;
