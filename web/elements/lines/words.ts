/** The words of `<head-lines>`. */

import type { Words } from "../strings.js";

export const words = {
  queries: [
    "Queries. Arrow keys move, across to the keys; Enter pins, Escape unpins.",
    "查询。方向键移动，横向到键；回车固定，Esc 取消。",
  ],
  keys: [
    "Keys. Arrow keys move, across to the queries; Enter pins, Escape unpins.",
    "键。方向键移动，横向到查询；回车固定，Esc 取消。",
  ],
  figure: ["Lines from queries to the keys they read", "从查询到所读键的连线"],
  summary: [
    "{lines} lines. The strongest: query {query} reads key {key} with weight {weight}, {series}.",
    "共 {lines} 条线。最强的一条：查询 {query} 以权重 {weight} 读取键 {key}，{series}。",
  ],
  none: ["No line is left by this filter.", "在此筛选下没有连线。"],
  query: ["query", "查询"],
  key: ["key", "键"],
  head: ["head {head}", "第 {head} 头"],
  short: ["H{head}", "H{head}"],
  mean: ["mean of {count} heads", "{count} 个头的平均"],
  max: ["maximum of {count} heads", "{count} 个头的最大值"],
  toggle: ["Show head {head}", "显示第 {head} 头"],
  off: ["switched off", "已关闭"],
  heads: ["Heads shown", "显示的头"],
  reads: ["query {query} reads", "查询 {query} 读取"],
  readBy: ["key {key} is read by", "读取键 {key} 的有"],
  nothing: ["nothing that this filter leaves", "（此筛选下无）"],
  more: ["and {count} more", "以及另外 {count} 个"],
  hint: ["Point at a token to see its lines alone, click to keep it.", "指向一个词元只看它的连线，点击固定。"],
  legendTop: ["the {top} strongest of each query", "每个查询最强的 {top} 条"],
  legendOne: ["the strongest of each query", "每个查询最强的一条"],
  legendAll: ["all weights", "全部权重"],
  legendFrom: ["from {threshold} on", "不小于 {threshold}"],
  legendWidth: ["width and strength of a line = weight, {from} to {to}", "线的粗细与深浅 = 权重，{from} 到 {to}"],
  cut: [
    "Only the {drawn} strongest of {crossing} lines in view are drawn.",
    "可见的 {crossing} 条线中只画最强的 {drawn} 条。",
  ],
  notNumbers: [
    "Without a line, as they are not numbers (NaN): {count}.",
    "不是数（NaN）、没有连线的权重：{count} 个。",
  ],
  top: ["Lines a query", "每个查询的线数"],
  all: ["all", "全部"],
  threshold: ["Smallest weight", "最小权重"],
  combine: ["Heads", "各头"],
  combineNone: ["each", "分开"],
  combineMean: ["mean", "平均"],
  combineMax: ["maximum", "最大值"],
  direction: ["Direction", "方向"],
  vertical: ["top to bottom", "纵向"],
  horizontal: ["left to right", "横向"],
} as const satisfies Record<string, Words>;
