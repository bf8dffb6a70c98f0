/** The scene as the exports need it: named, described in words, and with what it takes to compute it again. */

import type { AttentionView } from "../../elements/attention-view.js";
import { isHidden, weightAt } from "../../elements/attention-view.js";
import { formatWeight } from "../../elements/format.js";
import { labelText } from "../../elements/token-label.js";
import { say } from "../../i18n/index.js";
import { headPlace, namesOf } from "../head-key.js";
import type { Scene } from "../shell.js";
import type { State } from "../state.js";
import type { CodeSource, CodeView } from "./code.js";
import { shorten } from "./figure.js";
import type { Named } from "./file-name.js";

/** Characters of the text below a picture. */
const LONGEST_TEXT = 240;
/** An isolate: a right-to-left text between the quotes does not turn the words around it. */
const [OPEN, CLOSE] = ["\u2068", "\u2069"];

const TINY_ADDRESS = new URL("../../models/headscope.gguf", import.meta.url).href;

/** The text as far as it was read; empty for a source that reads none. */
function readText({ answer }: Scene): string {
  if (answer.source.input !== "text") return "";
  return answer.cutAt === null ? answer.text : answer.text.slice(0, answer.cutAt);
}

function offOf({ answer }: Scene) {
  return [...answer.options.off].sort((a, b) => a - b).map(headPlace);
}

export function nameOf({ answer, layer }: Scene, head?: number): Named {
  const { id } = answer.source;
  const source = id === "file" ? answer.source.title() : id;
  return head === undefined ? { source, layer } : { source, layer, head };
}

export function titleOf({ answer, captions, layer, head }: Scene): string {
  const name = answer.source.layers > 1 ? say("heads.nameLayer", { layer, head }) : say("heads.name", { head });
  const kind = captions[head]?.name;
  return kind ? `${name} · ${kind}` : name;
}

export function captionOf(scene: Scene): string[] {
  const { answer, view, head, pinned, layout } = scene;
  const { source, tokens, options } = answer;
  const text = shorten(labelOf(readText(scene)), LONGEST_TEXT);
  const mask = say(options.causal ? "export.masked" : "export.unmasked");
  return [
    ...(text === "" ? [] : [say("export.text", { text: OPEN + text + CLOSE })]),
    say("export.caption", { source: OPEN + labelOf(source.title()) + CLOSE, tokens: tokens.length, mask }),
    ...(pinned && pinned.key !== null ? [pickedOf(view, head, pinned.query, pinned.key)] : []),
    ...(options.off.size > 0 ? [say("export.out", { heads: namesOf(options.off, source.layers > 1) })] : []),
    ...(layout.merged ? [say("export.rows")] : []),
    ...(layout.out.size > 0 ? [say("export.left")] : []),
  ];
}

function pickedOf(view: AttentionView, head: number, query: number, key: number): string {
  const token = (text: string | undefined) => OPEN + shorten(labelText(text ?? "")) + CLOSE;
  const weight = formatWeight(weightAt(view, head, query, key), isHidden(view, head, query, key));
  return say("export.picked", { query: token(view.queryTexts[query]), key: token(view.keyTexts[key]), weight });
}

/** A text on one line: spaces stay spaces, and what cannot be seen is written out. */
function labelOf(text: string): string {
  return text.trim().split(/\s+/u).map(labelText).join(" ");
}

/** For programs: what the numbers are of. */
export function metaOf(scene: Scene, state: State): Readonly<Record<string, unknown>> {
  const { answer, layer, layout } = scene;
  return {
    made: "headscope",
    source: nameOf(scene).source,
    layer,
    layers: answer.source.layers,
    causal: answer.options.causal,
    headsOut: offOf(scene),
    rows: layout.merged ? state.rows : "token",
    leftOut: layout.out.size > 0 ? state.hide : "none",
  };
}

export function codeViewOf(scene: Scene): CodeView {
  const { answer, layer, head, layout } = scene;
  const { tokens, options } = answer;
  const regrouped = layout.merged || layout.out.size > 0;
  return { source: codeSourceOf(scene), tokens, causal: options.causal, layer, head, off: offOf(scene), regrouped };
}

function codeSourceOf(scene: Scene): CodeSource {
  const { source, open } = scene.answer;
  if (!open.file) return { kind: source.id === "numpy" ? "numpy" : "built" };
  const { origin } = open.file;
  const name = source.id === "file" ? source.title() : "headscope.gguf";
  const address = source.id === "tiny" ? TINY_ADDRESS : origin instanceof URL ? origin.href : null;
  return {
    kind: "model",
    from: address === null ? { fileName: name } : { address },
    beside: /\.safetensors$/i.test(name),
    text: readText(scene),
  };
}
