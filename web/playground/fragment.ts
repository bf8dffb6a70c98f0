/** The state in an address, and back: a link gives the same view. */

import { SCALES } from "../elements/scale.js";
import { headCode, parseHeadCode } from "./head-key.js";
import { entryById } from "./sources/index.js";
import type { State } from "./state.js";
import { againsts, combines, directions, tabs, tidyText } from "./state.js";
import { rowKinds } from "./view/groups.js";
import { hides } from "./view/layout.js";
import { sorts } from "./view/sort-heads.js";
import { isSort, TEXT_ORDER } from "./view/table-code.js";

/** From this length on a text is packed, if that makes it shorter. */
const LONG = 200;

/**
 * `#t=…&u=word&s=tiny&c=1&y=2&h=3&q=7&k=1&x=2.1-5&d=head&v=numbers&r=word&w=first&o=kind&g=0.4&n=3&p=0.1&f=mean&a=horizontal&m=text&b=2&e=…&j=k3-&l=zh`;
 * what is left out has its default. `z` is a packed `t`, `i` a packed `e`.
 */
export function toFragment(state: State): string {
  const source = entryById(state.source);
  const fields = new URLSearchParams();
  const set = (name: string, value: string | number, standard: string | number) => {
    if (value !== standard) fields.set(name, String(value));
  };
  if (source.input === "text") {
    fields.set("t", state.text);
    set("u", state.unit, "character");
  }
  fields.set("s", state.source);
  if (state.causal !== source.defaultCausal) fields.set("c", state.causal ? "1" : "0");
  set("y", state.layer, 0);
  fields.set("h", String(state.head));
  if (state.pinned) {
    fields.set("q", String(state.pinned.query));
    if (state.pinned.key !== null) fields.set("k", String(state.pinned.key));
  }
  set(
    "x",
    [...state.off]
      .sort((a, b) => a - b)
      .map(headCode)
      .join("."),
    "",
  );
  set("d", state.scale, "unit");
  set("v", state.tab, "matrix");
  set("r", state.rows, "token");
  set("w", state.hide, "none");
  set("o", state.sort, "index");
  set("g", [...state.lines].sort((a, b) => a - b).join("."), "");
  set("n", state.top, 4);
  set("p", state.threshold, 0.02);
  set("f", state.combine, "none");
  set("a", state.direction, "vertical");
  set("m", state.against, "head");
  set("b", state.otherHead, 0);
  set("e", state.otherText, "");
  set("j", state.table, TEXT_ORDER);
  fields.set("l", state.language);
  return fields.toString();
}

/** Texts as they are, and packed. */
const PACKED = { t: "z", e: "i" } as const;

/** Fetched for long texts only. Where it does not come a link is as in a browser that cannot pack. */
const packing = () => import("./packed-text.js").catch(() => null);

/** The shortest form of a fragment: long texts packed. */
export async function packFragment(fragment: string): Promise<string> {
  const fields = new URLSearchParams(fragment);
  const packed = new Map<string, readonly [name: string, value: string]>();
  for (const [plain, name] of Object.entries(PACKED)) {
    const text = fields.get(plain) ?? "";
    if (text.length < LONG) continue;
    const value = await (await packing())?.packText(text);
    if (value != null && value.length < new URLSearchParams({ t: text }).toString().length)
      packed.set(plain, [name, value]);
  }
  if (packed.size === 0) return fragment;
  return new URLSearchParams([...fields].map((field) => [...(packed.get(field[0]) ?? field)])).toString();
}

export function isPacked(fragment: string): boolean {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  return Object.values(PACKED).some((name) => fields.has(name));
}

/** The fragment with its texts as they are; null where one cannot be unpacked. */
export async function unpackFragment(fragment: string): Promise<string | null> {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  for (const [plain, name] of Object.entries(PACKED)) {
    const packed = fields.get(name);
    if (packed === null) continue;
    const text = await (await packing())?.unpackText(packed);
    if (text == null) return null;
    fields.delete(name);
    fields.set(plain, text);
  }
  return fields.toString();
}

/** Whatever a link holds gives a state that can be shown: unknown or impossible fields fall back to the default. */
export function fromFragment(fragment: string, fallback: State): State {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  if (![..."tush"].some((key) => fields.has(key))) return fallback;
  const { id, defaultCausal, source } = entryById(fields.get("s"));
  // How many layers and heads a model has is known when its file is there; what is too much is cut off then.
  const { layers = 1000, numHeads = 1000 } = source ?? {};
  const query = whole(fields.get("q"));
  const off = list(fields.get("x")).map(parseHeadCode);
  const lines = list(fields.get("g")).map(whole);
  const language = fields.get("l");
  const headOf = (field: string) => Math.min(whole(fields.get(field)) ?? 0, numHeads - 1);
  return {
    text: tidyText(fields.get("t") ?? fallback.text),
    unit: fields.get("u") === "word" ? "word" : fields.has("t") ? "character" : fallback.unit,
    source: id,
    causal: fields.has("c") ? fields.get("c") === "1" : defaultCausal,
    layer: Math.min(whole(fields.get("y")) ?? 0, layers - 1),
    head: headOf("h"),
    pinned: query === null ? null : { query, key: whole(fields.get("k")) },
    off: new Set(off.filter((key): key is number => key !== null && (!source || key < numHeads))),
    scale: among(SCALES, fields.get("d")),
    tab: among(tabs, fields.get("v")),
    language: language === "zh" || language === "en" ? language : fallback.language,
    rows: among(rowKinds, fields.get("r")),
    hide: among(hides, fields.get("w")),
    sort: among(sorts, fields.get("o")),
    lines: new Set(lines.filter((head): head is number => head !== null && head < numHeads)),
    top: Math.min(whole(fields.get("n")) ?? 4, 999),
    threshold: share(fields.get("p")) ?? 0.02,
    combine: among(combines, fields.get("f")),
    direction: among(directions, fields.get("a")),
    against: among(againsts, fields.get("m")),
    otherHead: headOf("b"),
    otherText: tidyText(fields.get("e") ?? ""),
    table: isSort(fields.get("j") ?? "") ? (fields.get("j") as string) : TEXT_ORDER,
  };
}

/** The value if the list has it, else the first of the list. */
function among<Value extends string>(values: readonly Value[], text: string | null): Value {
  return values.find((value) => value === text) ?? (values[0] as Value);
}

function list(text: string | null): string[] {
  return (text ?? "").split(".");
}

function share(text: string | null): number | null {
  return text !== null && /^(0|1|0?\.\d{1,6})$/.test(text) ? Number(text) : null;
}

function whole(text: string | null): number | null {
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : null;
}
