/** Heads taken out one after the other, the least important first: what is left of the model, on the visitor's text. */

import { el, setText } from "../../elements/dom.js";
import { formatInteger } from "../../elements/format.js";
import { language, say } from "../../i18n/index.js";
import type { Answer } from "../answer.js";
import { table } from "../inspector/table.js";
import type { Lab, LabModule } from "../lab.js";
import { segments } from "../labs/controls.js";
import { Measuring, MeasuringLine } from "../measuring.js";
import type { Scene } from "../shell.js";
import { HeadWorth } from "../sources/head-worth.js";
import type { HeadSource, PruneReport } from "../sources/source.js";
import type { Curve } from "./chart.js";
import { chart } from "./chart.js";
import { MEASURED } from "./measured.js";

/** After the last keystroke: it runs the model some eighty times. */
const PAUSE = 500;
/** How many heads the sentence names. */
const NAMED = 3;

const SCOPES = { model: "prune.of.model", layer: "prune.of.layer" } as const;
type Scope = keyof typeof SCOPES;
const scopes = ["model", "layer"] as const;

class PruneLab implements Lab {
  private readonly about = el("p", { class: "soft" });
  private readonly controls = el("div", { class: "lab-controls" });
  private readonly figure = el("div", { class: "prune-figure" });
  private readonly line = new MeasuringLine(() => this.measuring?.start());
  private readonly note = el("p", { class: "note", role: "status" });
  private readonly words = el("p", {});
  private readonly numbers = el("details", { class: "part" });
  private scene: Scene | null = null;
  private measuring: Measuring<PruneReport> | null = null;
  /** What `measuring` is of. */
  private subject: { text: string; source: HeadSource; layer: number | null } | null = null;
  /** Language and scope of the controls. */
  private made = "";
  /** Null until the visitor chooses: all heads where that is quick, else those of the layer. */
  private chosen: Scope | null = null;
  private timer = 0;
  private interrupted = false;

  constructor(host: HTMLElement) {
    host.append(this.about, this.controls, this.figure, this.line.node, this.note, this.words, this.numbers);
    // Nobody looks at it any more.
    host.closest("details")?.addEventListener("toggle", ({ target }) => {
      if ((target as HTMLDetailsElement).open) this.offer();
      else this.measuring?.stop();
    });
  }

  update(scene: Scene): void {
    const { answer } = scene;
    this.scene = scene;
    const scope = this.scopeOf(answer);
    const layer = scope === "layer" ? answer.options.layer : null;
    this.makeControls(scope);
    const { text, source } = answer;
    const { subject } = this;
    if (subject?.text !== text || subject.source !== source || subject.layer !== layer) {
      this.subject = { text, source, layer };
      this.measuring?.stop();
      this.measuring = this.measurementOf(answer, layer);
      this.offer();
    } else if (this.interrupted) this.measuring?.start();
    this.interrupted = false;
    // The picture first: a newer question of the page is not made to wait.
    answer.options.signal?.addEventListener("abort", () => this.interrupt(), { once: true });
    this.draw();
  }

  private makeControls(scope: Scope): void {
    const wanted = `${language()} ${scope}`;
    if (this.made === wanted) return;
    this.made = wanted;
    const choices = scopes.map((value) => ({ value, label: say(SCOPES[value]) }));
    const choose = (chosen: Scope) => {
      this.chosen = chosen;
      // The button that was pressed keeps the focus.
      this.made = `${language()} ${chosen}`;
      if (this.scene) this.update(this.scene);
    };
    this.controls.replaceChildren(segments(say("prune.of"), choices, scope, choose));
  }

  private scopeOf({ open, tokens }: Answer): Scope {
    if (this.chosen) return this.chosen;
    return open.prune?.(tokens, null, HeadWorth).quick() ? "model" : "layer";
  }

  private measurementOf({ open, tokens }: Answer, layer: number | null): Measuring<PruneReport> | null {
    const measurement = tokens.length < 2 ? undefined : open.prune?.(tokens, layer, HeadWorth);
    if (!measurement) return null;
    const measuring: Measuring<PruneReport> = new Measuring(measurement, () => {
      if (measuring !== this.measuring) return;
      if (measuring.now.is === "running") this.line.render(measuring);
      else this.draw();
    });
    return measuring;
  }

  /** Starts by itself where that is quick. */
  private offer(): void {
    clearTimeout(this.timer);
    const { measuring } = this;
    if (measuring?.measurement.quick()) this.timer = window.setTimeout(() => this.begin(measuring), PAUSE);
  }

  private interrupt(): void {
    if (this.measuring?.now.is !== "running") return;
    this.interrupted = true;
    this.measuring.pause();
  }

  private begin(measuring: Measuring<PruneReport>): void {
    if (measuring === this.measuring) measuring.start();
  }

  private draw(): void {
    const { scene, measuring } = this;
    if (!scene) return;
    const { source, open, tokens, options } = scene.answer;
    const report = measuring?.value ?? null;
    const layer = this.scopeOf(scene.answer) === "layer" ? options.layer : null;
    const heads = source.numHeads * (layer === null ? source.layers : 1);
    const measured = source.id === "tiny" && layer === null;
    const loss = report ? report.measure === "loss" : source.causal === "always";
    const curves: Curve[] = [];
    if (measured) curves.push({ points: MEASURED, className: "measured" });
    if (report) curves.push({ points: report.points, className: "live" });
    setText(this.about, say("prune.about"));
    const parts = [say(loss ? "prune.title" : "prune.titleHidden", { heads })];
    if (report) parts.push(say("prune.live"));
    if (measured) parts.push(say("prune.measured"));
    const labels = {
      title: parts.join(" "),
      across: layer === null ? say("prune.across", { heads }) : say("prune.acrossLayer", { heads, layer }),
      up: say(loss ? "prune.up" : "prune.upHidden"),
    };
    const legend = el(
      "p",
      { class: "prune-legend soft" },
      ...(report ? [el("i", { class: "live" }), ` ${say("prune.live")} `] : []),
      ...(measured ? [el("i", { class: "measured" }), ` ${say("prune.measured")}`] : []),
    );
    this.figure.replaceChildren(
      ...(curves.length > 0 ? [chart(curves, heads, labels, this.figure.clientWidth || undefined), legend] : []),
    );
    this.line.render(measuring);
    // What is measured starts from all heads, whatever is switched off above.
    const note = tokens.length < 2 ? say("prune.short") : options.off.size > 0 ? say("prune.fromAll") : "";
    setText(this.note, note);
    this.note.hidden = note === "" || !open.prune;
    setText(this.words, report ? dearest(report) : "");
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
    this.numbers.hidden = rows.length === 0;
    this.numbers.replaceChildren(el("summary", {}, say("prune.numbers")), table(parts[0] as string, columns, rows));
  }
}

export const mount: LabModule["mount"] = (host) => new PruneLab(host);

function row({ removed, cost }: { removed: number; cost: number }, curve: string, heads: number): string[] {
  const signed = `${cost < 0 ? "−" : "+"}${Math.abs(cost).toFixed(3)}`;
  return [curve, formatInteger(removed), `${Math.round((100 * removed) / heads)} %`, signed];
}

function dearest({ order }: PruneReport): string {
  const name = ({ layer, head }: { layer: number; head: number }) => say("heads.shortLayer", { layer, head });
  const list = (heads: typeof order) => heads.map(name).join(language() === "zh" ? "、" : ", ");
  return say("prune.order", { first: list(order.slice(0, NAMED)), last: list(order.slice(-NAMED)) });
}
