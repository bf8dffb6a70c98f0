import type { Words } from "../strings.js";

export const gridWords = {
  label: [
    "All heads. Arrow keys move, Enter looks at a head, Space switches it off or on.",
    "所有的头。方向键移动，回车查看，空格关闭或打开一个头。",
  ],
  labelFixed: ["All heads. Arrow keys move, Enter looks at a head.", "所有的头。方向键移动，回车查看一个头。"],
  short: ["H{head}", "H{head}"],
  use: ["Use head {head}", "使用第 {head} 头"],
  spoken: ["head {head}: {percent} % on {kind}", "第 {head} 头：{percent}% 在{kind}上"],
  spokenKind: ["head {head}: {kind}", "第 {head} 头：{kind}"],
  off: ["switched off", "已关闭"],
  previous: ["previous token", "前一个词元"],
  self: ["itself", "自身"],
  next: ["next token", "后一个词元"],
  first: ["first token", "第一个词元"],
  spread: ["spread out", "分散"],
  alone: ["the only key", "唯一的键"],
} as const satisfies Record<string, Words>;
