/** Steps of a trace as a reader takes them in: the same thing done to q, k and v is one stage. */

import type { TraceStep } from "headscope";

export interface Stage {
  /** What happens, by the name in `STAGES`; null for a step that this page has no word for. */
  readonly name: StageName | null;
  /** At least one. */
  readonly steps: readonly TraceStep[];
  /** Sums of the steps. */
  readonly bytes: number;
  readonly flops: number;
}

const STAGES = {
  input: "input",
  keyInput: "keyInput",
  valueInput: "keyInput",
  qkv: "fused",
  qProjection: "project",
  kProjection: "project",
  vProjection: "project",
  qView: "split",
  kView: "split",
  vView: "split",
  qRotary: "rotary",
  kRotary: "rotary",
  q: "transpose",
  k: "transpose",
  v: "transpose",
  kCached: "cached",
  vCached: "cached",
  scores: "scores",
  capped: "capped",
  weights: "weights",
  heads: "heads",
  gated: "gated",
  headsTransposed: "back",
  concat: "concat",
  output: "output",
} as const;

export type StageName = (typeof STAGES)[keyof typeof STAGES];

function nameOf(step: TraceStep): StageName | null {
  return Object.keys(STAGES).includes(step.id) ? STAGES[step.id as keyof typeof STAGES] : null;
}

/** Steps of one name, shape and place in memory become one stage, at the place of the first of them. */
export function stages(trace: readonly TraceStep[]): Stage[] {
  const groups: { name: StageName | null; steps: TraceStep[] }[] = [];
  for (const step of trace) {
    const name = nameOf(step);
    const alike =
      name === null ? undefined : groups.find((group) => group.name === name && alikeSteps(group.steps[0], step));
    if (alike) alike.steps.push(step);
    else groups.push({ name, steps: [step] });
  }
  return groups.map(({ name, steps }) => ({
    name,
    steps,
    bytes: steps.reduce((sum, step) => sum + step.bytes, 0),
    flops: steps.reduce((sum, step) => sum + step.flops, 0),
  }));
}

function alikeSteps(a: TraceStep | undefined, b: TraceStep): boolean {
  return a !== undefined && a.shape.join() === b.shape.join() && a.strides.join() === b.strides.join();
}

/** Whether neighbours in the shape are neighbours in memory, all the way. */
export function contiguous({ shape, strides }: Pick<TraceStep, "shape" | "strides">): boolean {
  let expected = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    if (shape[axis] !== 1 && strides[axis] !== expected) return false;
    expected *= shape[axis] as number;
  }
  return true;
}

/** What is wrong with something that should be a trace, in words for its author; null for a trace. */
export function traceFault(value: unknown): string | null {
  if (!Array.isArray(value)) return 'an array of steps, as forward(…, { want: ["trace"] }).trace gives';
  for (const [i, step] of value.entries()) {
    const shape: unknown = step?.shape;
    const strides: unknown = step?.strides;
    if (!isSizes(shape) || !isSizes(strides) || shape.length !== strides.length) {
      return `shape and strides of one length in step ${i}`;
    }
    if (typeof step.id !== "string" || typeof step.formula !== "string") return `id and formula in step ${i}`;
    if (!Number.isFinite(step.bytes) || !Number.isFinite(step.flops)) return `bytes and flops in step ${i}`;
  }
  return null;
}

function isSizes(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((size) => Number.isInteger(size) && size >= 0);
}
