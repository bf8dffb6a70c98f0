import {
  type Comparison,
  type NodeNote,
  type NodeReport,
  type PromptReport,
  REFERENCE_WEIGHTS,
} from "headscope/inspect";
import { escapeText, escapeToken } from "./escape.js";
import { formatDifference, formatNe, formatShape, formatSum, formatValue, formatWeight, NONE } from "./format.js";
import { drawHeatmap, heatmapStyle, type Terminal } from "./heatmap.js";
import { table } from "./table.js";
import { cutTo } from "./width.js";

/** Up to so many tokens the head's weights are printed as numbers too. */
const MOST_NUMBERS = 10;

export function printPrompt(report: PromptReport, head: number, terminal: Terminal): string[] {
  const { layer, numerics, tokens, reference } = report;
  return [
    `Tokens: ${tokens.length}`,
    ...printTokens(report),
    "",
    `Layer ${layer}, numerics ${numerics}: nodes as llama-eval-callback names them`,
    ...printNodes(report.nodes),
    "",
    "Where llama.cpp's graph gets them; building it computes nothing, the values come when a backend runs it",
    ...printSources(report.nodes),
    "",
    `Head ${head} of layer ${layer}`,
    ...drawHeatmap(headOf(report, head), heatmapStyle(terminal), terminal.columns),
    ...(tokens.length <= MOST_NUMBERS ? ["", ...printNumbers(report, head)] : []),
    "",
    `Heads of layer ${layer}: shares of weight, averaged over the rows that can have them`,
    ...printStats(report),
    ...(reference === undefined ? [] : ["", ...printReference(reference)]),
  ];
}

/** A token as the axes show it; its id where nothing else is known. */
function labelOf({ id, text }: PromptReport["tokens"][number]): string {
  return text === undefined ? `#${id}` : escapeToken(text);
}

function printTokens({ tokens }: PromptReport): string[] {
  return table(
    [{ title: "#", right: true }, { title: "id", right: true }, { title: "token" }, { title: "bytes" }, { title: "" }],
    tokens.map((token, i) => [
      String(i),
      String(token.id),
      token.text === undefined ? NONE : cutTo(labelOf(token), 40),
      token.bytes === undefined ? NONE : cutTo(hex(token.bytes), 48),
      [...(token.special ? ["special"] : []), ...(token.partial ? ["part of a character"] : [])].join(", "),
    ]),
  );
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ") || NONE;
}

const NOTES: Readonly<Record<NodeNote, string>> = {
  "padded-keys":
    "the K/V cache hands out a multiple of 256 keys: columns behind the text's own are empty and left out here",
  unscaled: "q·k without 1/√dk, which llama.cpp applies inside its softmax; keys that the mask hides are still there",
  "last-of-name": "the last node of this name, after the rotary turn",
  "rotary-order":
    "this file turns the halves of a head, llama.cpp's the adjacent pairs: same scores, other order inside a head",
  "found-by-weight":
    "llama.cpp numbers this node (node_28, node_29 for GPT-2's block 0): the weight in the operation tells it",
  "flash-attention-off": "only with --flash-attn off: a fused kernel never holds it",
  "half-precision": "rounded to half precision, as the K/V cache keeps it",
};

function printNodes(nodes: readonly NodeReport[]): string[] {
  const used = [...new Set(nodes.flatMap(({ notes }) => notes))];
  const marks = new Map(used.map((note, i) => [note, String(i + 1)]));
  const lines = table(
    [
      { title: "node" },
      { title: "shape" },
      { title: "ne" },
      { title: "first" },
      { title: "last" },
      { title: "sum", right: true },
      { title: "note" },
    ],
    nodes.map((node) => [
      node.name,
      formatShape(node.shape),
      formatNe(node.ne) + (node.validColumns === undefined ? "" : ` ${node.validColumns} valid`),
      node.first.map(formatValue).join(", "),
      node.last.map(formatValue).join(", "),
      formatSum(node.sum),
      node.notes.map((note) => marks.get(note)).join(" "),
    ]),
  );
  const printed = [...nodes].sort((a, b) => a.printed - b.printed).filter(({ id }) => ["q", "k", "v"].includes(id));
  const weights = nodes.flatMap(({ name, weight }) =>
    weight === undefined ? [] : [`${name} reads ${escapeText(weight)}`],
  );
  return [
    ...lines,
    "values in ggml's order, the fastest axis of ne first",
    `llama.cpp prints ${printed.map(({ name }) => name).join(", ")}: the order in which its graph runs, not that of reading`,
    ...weights,
    ...used.map((note) => `${marks.get(note)}: ${NOTES[note]}`),
  ];
}

function printSources(nodes: readonly NodeReport[]): string[] {
  return table(
    [{ title: "node" }, { title: "function" }, { title: "operations" }, { title: "offset in a row", right: true }],
    nodes.map(({ name, source: { builder, operations, offset } }) => [
      name,
      `${builder}()`,
      operations.map((operation) => `${operation}()`).join(" → "),
      offset === undefined ? NONE : `${offset} bytes`,
    ]),
  );
}

function headOf({ weights, visible, tokens }: PromptReport, head: number) {
  const [, queries, keys] = weights.shape as readonly [number, number, number];
  const area = queries * keys;
  return {
    weights: weights.data.subarray(head * area, (head + 1) * area),
    visible,
    queries,
    keys,
    labels: tokens.map(labelOf),
  };
}

function printNumbers(report: PromptReport, head: number): string[] {
  const { weights, visible, queries, keys, labels } = headOf(report, head);
  const columns = [{ title: "query" }, ...labels.map((label) => ({ title: cutTo(label, 14), right: true }))];
  const rows = Array.from({ length: queries }, (_, query) => [
    cutTo(labels[query] as string, 14),
    ...Array.from({ length: keys }, (_, key) => {
      const at = query * keys + key;
      return formatWeight(weights[at] as number, visible[at] === 1);
    }),
  ]);
  return table(columns, rows);
}

const STATS = ["previous", "self", "first", "duplicate", "induction", "rare", "maxWeight"] as const;

function printStats({ stats }: PromptReport): string[] {
  const share = (value: number): string => (Number.isNaN(value) ? NONE : value.toFixed(2));
  const titles = ["head", ...STATS, "entropy", "distance"];
  return table(
    titles.map((title) => ({ title: title === "maxWeight" ? "largest" : title, right: true })),
    stats.map((head, i) => [
      String(i),
      ...STATS.map((name) => share(head[name])),
      share(head.entropy),
      share(head.meanDistance),
    ]),
  );
}

function printReference(comparisons: readonly Comparison[]): string[] {
  const { program, file, prompt, query } = REFERENCE_WEIGHTS;
  const rows = comparisons.flatMap(({ numerics, weights }) =>
    weights.map((each) => [
      numerics,
      String(each.head),
      String(each.key),
      each.reference.toFixed(4),
      each.ours.toFixed(4),
      formatDifference(each.difference),
      each.same ? "yes" : "no",
    ]),
  );
  const verdicts = comparisons.map(({ numerics, same, largestDifference }) => {
    const size = `largest difference ${largestDifference.toFixed(6)}`;
    return `${numerics}: ${same ? "all weights print the same" : "other weights: is it the same file?"}; ${size}`;
  });
  return [
    `GPT-2 small, ${JSON.stringify(prompt)}, query ${query}: beside ${program}, ${file}`,
    ...table(
      [
        { title: "numerics" },
        { title: "head", right: true },
        { title: "key", right: true },
        { title: "llama.cpp", right: true },
        { title: "here", right: true },
        { title: "difference", right: true },
        { title: "same" },
      ],
      rows,
    ),
    ...verdicts,
  ];
}
