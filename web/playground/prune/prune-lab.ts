/** Heads taken out one after the other, the least important first: what is left of the model, on the visitor's text. */

import { el, setText } from "../../elements/dom.js";
import { formatInteger } from "../../elements/format.js";
import { say } from "../../i18n/index.js";
import { table } from "../inspector/table.js";
import type { Lab, LabModule } from "../lab.js";
import type { Scene } from "../shell.js";
import type { PruneReport } from "../sources/source.js";
import type { Curve } from "./chart.js";
import { chart } from "./chart.js";
import { MEASURED } from "./measured.js";

/** After the last keystroke: it runs the model some eighty times. */
const PAUSE = 500;
/** How many heads the sentence names. */
const NAMED = 3;

export const mount: LabModule["mount"] = (host) => {
  const about = el("p", { class: "soft" });
  const figure = el("div", { class: "prune-figure" });
  const state = el("p", { class: "soft", role: "status" });
  const words = el("p", {});
  const numbers = el("details", { class: "part" });
  host.append(about, figure, state, words, numbers);

  let shown: Scene["answer"] | null = null;
  let report: PruneReport | null = null;
  let running: AbortController | null = null;
  let timer = 0;

  function draw(scene: Scene): void {
    const measured = scene.answer.source.id === "tiny";
    const heads = scene.answer.source.layers * scene.answer.source.numHeads;
    const loss = report ? report.measure === "loss" : scene.answer.source.causal === "always";
    const curves: Curve[] = [];
    if (measured) curves.push({ points: MEASURED, className: "measured" });
    if (report) curves.push({ points: report.points, className: "live" });
    setText(about, say("prune.about"));
    const parts = [say(loss ? "prune.title" : "prune.titleHidden", { heads })];
    if (report) parts.push(say("prune.live"));
    if (measured) parts.push(say("prune.measured"));
    const labels = {
      title: parts.join(" "),
      across: say("prune.across", { heads }),
      up: say(loss ? "prune.up" : "prune.upHidden"),
    };
    const legend = el(
      "p",
      { class: "prune-legend soft" },
      ...(report ? [el("i", { class: "live" }), ` ${say("prune.live")} `] : []),
      ...(measured ? [el("i", { class: "measured" }), ` ${say("prune.measured")}`] : []),
    );
    figure.replaceChildren(...(curves.length > 0 ? [chart(curves, heads, labels), legend] : []));
    setText(words, report ? dearest(report) : "");
    const rows = [
      ...(report ? report.points.map((point) => row(point, say("prune.here"), heads)) : []),
      ...(measured ? MEASURED.map((point) => row(point, say("prune.card"), heads)) : []),
    ];
    const columns = [
      { title: say("prune.curve") },
      { title: say("prune.removed"), kind: "number" },
      { title: say("prune.share"), kind: "number" },
      { title: labels.up, kind: "number" },
    ] as const;
    numbers.replaceChildren(el("summary", {}, say("prune.numbers")), table(parts[0] as string, columns, rows));
  }

  async function run(scene: Scene): Promise<void> {
    running?.abort();
    const { answer } = scene;
    const stop = new AbortController();
    running = stop;
    const progress = (share: number) => setText(state, say("prune.running", { percent: Math.floor(share * 100) }));
    progress(0);
    try {
      const found = await answer.open.prune?.(answer.tokens, { signal: stop.signal, onProgress: progress });
      if (stop.signal.aborted || !found) return;
      report = found;
      setText(state, "");
      draw(scene);
    } catch (error) {
      if (stop.signal.aborted) return;
      setText(state, say("lab.failed", { reason: error instanceof Error ? error.message : String(error) }));
    }
  }

  const lab: Lab = {
    update(scene) {
      const { answer } = scene;
      const again = shown === null || shown.text !== answer.text || shown.source !== answer.source;
      shown = answer;
      if (again) {
        report = null;
        running?.abort();
        clearTimeout(timer);
        if (answer.tokens.length < 2) setText(state, say("prune.short"));
        else timer = window.setTimeout(() => void run(scene), PAUSE);
      }
      draw(scene);
    },
  };
  return lab;
};

function row({ removed, cost }: { removed: number; cost: number }, curve: string, heads: number): string[] {
  const signed = `${cost < 0 ? "−" : "+"}${Math.abs(cost).toFixed(3)}`;
  return [curve, formatInteger(removed), `${Math.round((100 * removed) / heads)} %`, signed];
}

function dearest({ order }: PruneReport): string {
  const name = ({ layer, head }: { layer: number; head: number }) => say("heads.shortLayer", { layer, head });
  const first = order.slice(0, NAMED).map(name);
  const last = order.slice(-NAMED).map(name);
  return say("prune.order", { first: first.join(", "), last: last.join(", ") });
}
