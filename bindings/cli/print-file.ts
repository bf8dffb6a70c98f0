import type { FileReport, FileSummary, MetadataRow, TensorRow } from "headscope/inspect";
import { escapeText } from "./escape.js";
import { formatBytes, formatInteger, formatNe, formatShape, NONE } from "./format.js";
import { table } from "./table.js";
import { cutTo } from "./width.js";

export function printFile({ summary, metadata, tensors }: FileReport, columns: number): string[] {
  return [
    ...printSummary(summary),
    "",
    `Metadata: ${metadata.length} keys`,
    ...(metadata.length === 0 ? [] : printMetadata(metadata, columns)),
    "",
    `Tensors: ${tensors.length}`,
    ...(tensors.length === 0 ? [] : printTensors(tensors)),
    "",
    "shape: row-major, the slowest axis first; ne: as ggml prints it, the fastest first.",
    "bytes as: what is written one after the other. [out][in] is the transpose of W in y = x W.",
  ];
}

function printSummary(s: FileSummary): string[] {
  const version = s.version === undefined ? "" : ` version ${s.version}`;
  const rows: (readonly [string, string | undefined])[] = [
    ["File", escapeText(s.name)],
    ["Format", `${s.format}${version}`],
    ["Size", s.size === undefined ? undefined : `${formatInteger(s.size)} bytes (${formatBytes(s.size)})`],
    ["Header", s.dataOffset === undefined ? undefined : `${formatInteger(s.dataOffset)} bytes, then tensors`],
    ["Name", s.title === undefined ? undefined : escapeText(s.title)],
    ["Architecture", escapeText(s.architecture ?? "unknown")],
    ["Layers", counted(s.layers)],
    ["Heads", headsText(s)],
    ["Width", widthText(s)],
    ["Feed-forward", counted(s.feedForwardWidth)],
    ["Context", counted(s.contextLength)],
    ["Vocabulary", counted(s.vocabularySize)],
    ["Parameters", `${formatInteger(s.parameters)} in ${formatBytes(s.tensorBytes)}`],
    [
      "Types",
      s.types.map((t) => `${escapeText(t.dtype)} × ${t.tensors} (${formatBytes(t.bytes)})`).join(", ") || undefined,
    ],
  ];
  return rows.flatMap(([name, value]) => (value === undefined ? [] : [`${name.padEnd(14)}${value}`]));
}

function headsText({ heads, kvHeads }: FileSummary): string | undefined {
  if (heads === undefined) return undefined;
  return String(kvHeads) === String(heads) ? counted(heads) : `${counted(heads)}, over ${counted(kvHeads)} K/V heads`;
}

function widthText({ width, headWidth }: FileSummary): string | undefined {
  if (width === undefined) return undefined;
  return headWidth === undefined ? formatInteger(width) : `${formatInteger(width)}, of a head ${headWidth}`;
}

function counted(value: number | readonly number[] | undefined): string | undefined {
  if (value === undefined) return undefined;
  return typeof value === "number" ? formatInteger(value) : value.join(", ");
}

function printMetadata(rows: readonly MetadataRow[], columns: number): string[] {
  const cells = rows.map((row) => {
    const type = (row.type ?? NONE).replace("[]", `[${row.count ?? ""}]`);
    return [escapeText(row.key), type, metadataText(row)];
  });
  return table([{ title: "key" }, { title: "type" }, { title: "value" }], cells).map((line) =>
    cutTo(line, Math.max(60, columns)),
  );
}

function metadataText({ value, count, characters }: MetadataRow): string {
  if (Array.isArray(value)) {
    const list = (value as readonly unknown[]).map(valueText).join(", ");
    return (count ?? 0) > value.length ? `${list}, … (${formatInteger(count ?? 0)} in all)` : list;
  }
  const text = valueText(value);
  return characters === undefined ? text : `${text}… (${formatInteger(characters)} characters)`;
}

/** Texts in quotes, so that blanks at their ends are seen. */
function valueText(value: unknown): string {
  return escapeText(typeof value === "string" ? JSON.stringify(value) : String(value));
}

function printTensors(rows: readonly TensorRow[]): string[] {
  return table(
    [
      { title: "name" },
      { title: "type" },
      { title: "shape" },
      { title: "ne" },
      { title: "bytes", right: true },
      { title: "at byte", right: true },
      { title: "bytes as" },
    ],
    rows.map((row) => [
      escapeText(row.name),
      escapeText(row.dtype),
      formatShape(row.shape),
      formatNe(row.ne),
      formatInteger(row.bytes),
      formatInteger(row.offset),
      row.byteLayout ?? NONE,
    ]),
  );
}
