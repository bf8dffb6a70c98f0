/** One layer's nodes as llama-eval-callback prints them, and the tutorial's numbers where they apply. */

import type { Comparison, NodeReport, PromptReport } from "headscope/inspect";
import { REFERENCE_WEIGHTS } from "headscope/inspect";
import { el } from "../../elements/dom.js";
import { formatShape } from "../../elements/format.js";
import { say } from "../../i18n/index.js";
import { table } from "./table.js";

export function nodesPart({ nodes, layer, numerics, tokens }: PromptReport): HTMLElement {
  const used = [...new Set(nodes.flatMap(({ notes }) => notes))];
  const columns = [
    { title: say("inspect.node"), kind: "code" },
    { title: say("inspect.shape"), kind: "code" },
    { title: "ne", kind: "code" },
    { title: say("inspect.first"), kind: "code" },
    { title: say("inspect.last"), kind: "code" },
    { title: say("inspect.sum"), kind: "number" },
    { title: say("inspect.weight"), kind: "code" },
    { title: say("inspect.notes") },
  ] as const;
  const cells = nodes.map((node) => [
    node.name,
    formatShape(node.shape),
    neOf(node),
    node.first.map(value).join(" "),
    node.last.map(value).join(" "),
    value(node.sum),
    node.weight ?? "—",
    node.notes.map((note) => used.indexOf(note) + 1).join(" "),
  ]);
  const title = say("inspect.nodes", { layer, numerics, tokens: tokens.length });
  const notes = el("ol", { class: "soft" }, ...used.map((note) => el("li", {}, say(`node.${note}`))));
  return el("div", {}, table(title, columns, cells), notes);
}

function neOf({ ne, validColumns }: NodeReport): string {
  const shape = `{${ne.join(", ")}}`;
  return validColumns === undefined ? shape : `${shape} ${say("inspect.valid", { count: validColumns })}`;
}

function value(number: number): string {
  const text = Math.abs(number) >= 1e5 ? number.toExponential(4) : number.toFixed(4);
  return text.replace(/-/g, "−");
}

export function referencePart(comparisons: readonly Comparison[]): HTMLElement {
  const { program, file, prompt, query } = REFERENCE_WEIGHTS;
  const columns = [
    { title: say("inspect.numerics"), kind: "code" },
    { title: say("inspect.head"), kind: "number" },
    { title: say("numbers.key"), kind: "number" },
    { title: "llama.cpp", kind: "number" },
    { title: say("inspect.here"), kind: "number" },
    { title: say("inspect.difference"), kind: "number" },
    { title: say("inspect.same") },
  ] as const;
  const cells = comparisons.flatMap(({ numerics, weights }) =>
    weights.map((each) => [
      numerics,
      String(each.head),
      String(each.key),
      each.reference.toFixed(4),
      each.ours.toFixed(4),
      each.difference.toFixed(6).replace("-", "−"),
      say(each.same ? "inspect.yes" : "inspect.no"),
    ]),
  );
  return table(say("inspect.reference", { prompt, query, program, file }), columns, cells);
}
