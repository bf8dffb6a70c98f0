/** Summary, metadata and tensors of a model file. */

import type { Count, FileSummary, MetadataRow, TensorRow } from "headscope/inspect";
import { el } from "../../elements/dom.js";
import { formatBytes, formatInteger, formatShape } from "../../elements/format.js";
import type { MessageKey } from "../../i18n/index.js";
import { say } from "../../i18n/index.js";
import { folded, table } from "./table.js";

export function summaryPart(s: FileSummary): HTMLElement {
  const heads =
    String(s.kvHeads) === String(s.heads) ? counted(s.heads) : `${counted(s.heads)} / ${counted(s.kvHeads)}`;
  const rows: readonly (readonly [MessageKey, string | undefined])[] = [
    ["inspect.file", s.name],
    ["inspect.format", s.version === undefined ? s.format : `${s.format} ${s.version}`],
    ["inspect.size", s.size === undefined ? undefined : `${formatBytes(s.size)} (${formatInteger(s.size)} B)`],
    ["inspect.header", s.dataOffset === undefined ? undefined : `${formatInteger(s.dataOffset)} B`],
    ["inspect.name", s.title],
    ["inspect.architecture", s.architecture],
    ["inspect.layers", counted(s.layers)],
    ["inspect.heads", s.heads === undefined ? undefined : heads],
    ["inspect.width", s.headWidth === undefined ? counted(s.width) : `${counted(s.width)} / ${s.headWidth}`],
    ["inspect.feedForward", counted(s.feedForwardWidth)],
    ["inspect.context", counted(s.contextLength)],
    ["inspect.vocabulary", counted(s.vocabularySize)],
    ["inspect.parameters", `${formatInteger(s.parameters)} (${formatBytes(s.tensorBytes)})`],
    ["inspect.types", s.types.map((t) => `${t.dtype} × ${t.tensors} (${formatBytes(t.bytes)})`).join(", ")],
  ];
  const list = el("dl", { class: "summary" });
  for (const [key, value] of rows) {
    if (value) list.append(el("div", {}, el("dt", {}, say(key)), el("dd", {}, value)));
  }
  return list;
}

function counted(value: Count | undefined): string {
  if (value === undefined) return "";
  return typeof value === "number" ? formatInteger(value) : value.join(", ");
}

export function metadataPart(rows: readonly MetadataRow[]): HTMLElement {
  const title = say("inspect.metadata", { count: rows.length });
  const columns = [
    { title: say("inspect.key"), kind: "code" },
    { title: say("inspect.type"), kind: "code" },
    { title: say("inspect.value") },
  ] as const;
  const cells = rows.map((row) => [row.key, row.type?.replace("[]", `[${row.count ?? ""}]`) ?? "—", shownValue(row)]);
  return folded(title, table(title, columns, cells));
}

function shownValue({ value, count, characters }: MetadataRow): string {
  if (Array.isArray(value)) {
    const first = value.map((each) => JSON.stringify(each)).join(", ");
    return (count ?? 0) > value.length ? `${first}, …` : first;
  }
  const text = JSON.stringify(value);
  return characters === undefined ? text : `${text}… (${formatInteger(characters)})`;
}

export function tensorsPart(rows: readonly TensorRow[]): HTMLElement {
  const title = say("inspect.tensors", { count: rows.length });
  const columns = [
    { title: say("inspect.tensor"), kind: "code" },
    { title: say("inspect.type"), kind: "code" },
    { title: say("inspect.shape"), kind: "code" },
    { title: "ne", kind: "code" },
    { title: say("inspect.bytes"), kind: "number" },
    { title: say("inspect.offset"), kind: "number" },
    { title: say("inspect.layout"), kind: "code" },
  ] as const;
  const cells = rows.map((row) => [
    row.name,
    row.dtype,
    formatShape(row.shape),
    `{${row.ne.join(", ")}}`,
    formatInteger(row.bytes),
    formatInteger(row.offset),
    row.byteLayout ?? "—",
  ]);
  return folded(title, el("p", { class: "soft" }, say("inspect.orders")), table(title, columns, cells));
}
