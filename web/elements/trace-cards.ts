/** <shape-trace>: the shapes the numbers go through, step by step: which step copies, which is only another view. */

import type { TraceStep } from "headscope";
import type { MessageKey } from "../i18n/index.js";
import { say } from "../i18n/index.js";
import { el } from "./dom.js";
import { formatBytes, formatCount, formatShape } from "./format.js";

interface Stage {
  readonly title: string;
  readonly steps: readonly TraceStep[];
}

/** Steps of one stage stand in one card where they have one shape: the same thing done to q, k and v. */
const STAGES: Readonly<Record<string, MessageKey>> = {
  input: "trace.input",
  qkv: "trace.fused",
  qProjection: "trace.project",
  kProjection: "trace.project",
  vProjection: "trace.project",
  qView: "trace.split",
  kView: "trace.split",
  vView: "trace.split",
  q: "trace.transpose",
  k: "trace.transpose",
  v: "trace.transpose",
  scores: "trace.scores",
  weights: "trace.weights",
  heads: "trace.heads",
  gated: "trace.gated",
  headsTransposed: "trace.back",
  concat: "trace.concat",
  output: "trace.output",
};

export class TraceCards extends HTMLElement {
  update(trace: readonly TraceStep[], scale: string): void {
    const list = el("ol", { class: "trace" });
    for (const { title, steps } of stages(trace, scale)) {
      const first = steps[0] as TraceStep;
      const times = steps.length > 1 ? `${steps.length} × ` : "";
      const bytes = steps.reduce((sum, step) => sum + step.bytes, 0);
      const flops = steps.reduce((sum, step) => sum + step.flops, 0);
      const facts: string[] = [];
      if (first.copied) facts.push(say("trace.copy"));
      facts.push(bytes > 0 ? formatBytes(bytes) : say("trace.view"));
      if (flops > 0) facts.push(say("trace.flops", { flops: formatCount(flops) }));
      list.append(
        el(
          "li",
          { class: "card step", title: steps.map((step) => step.formula).join("\n") },
          el("b", {}, title),
          el("code", {}, times + formatShape(first.shape)),
          contiguous(first)
            ? null
            : el("code", { class: "strides" }, say("trace.strides", { strides: formatShape(first.strides) })),
          el("span", {}, facts.join(" · ")),
        ),
      );
    }
    const scroller = el(
      "div",
      { class: "trace-scroll", role: "group", tabindex: 0, "aria-label": say("trace.title") },
      list,
    );
    this.replaceChildren(scroller);
  }
}

function stages(trace: readonly TraceStep[], scale: string): Stage[] {
  const found: { title: string; steps: TraceStep[] }[] = [];
  for (const step of trace) {
    const key = STAGES[step.id];
    const title = key ? say(key, { scale }) : step.formula;
    const alike = found.find((stage) => stage.title === title && sameShape(stage.steps[0], step));
    if (alike) alike.steps.push(step);
    else found.push({ title, steps: [step] });
  }
  return found;
}

function sameShape(a: TraceStep | undefined, b: TraceStep): boolean {
  return a !== undefined && formatShape(a.shape) === formatShape(b.shape);
}

function contiguous({ shape, strides }: TraceStep): boolean {
  let expected = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    if (strides[axis] !== expected) return false;
    expected *= shape[axis] as number;
  }
  return true;
}
