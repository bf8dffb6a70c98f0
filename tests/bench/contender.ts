import type { Case } from "./cases.ts";
import type { Problem } from "./problem.ts";

/** [T, D], and [H, T, S] where the case asks for weights; arrays of JavaScript that the library no longer owns. */
export interface Answer {
  readonly output: Float32Array;
  readonly weights?: Float32Array | undefined;
}

export interface Prepared {
  /** The whole of what a user would do for one call, from arrays to arrays. */
  run(): Answer | Promise<Answer>;
  dispose(): void | Promise<void>;
}

/** Heads that are parts of the model's width, each with keys and values of its own: what most peers are written for. */
export const isUsual = (c: Case): boolean => !c.core && c.G === c.H && c.H * c.d === c.D;

/** Layers that slow contenders take: small ones, and the larger ones once, since they are slow with and without masks. */
export function isSlowCase(c: Case): boolean {
  return !isUsual(c) || (c.D > 8 && (c.T > 128 || c.weights || c.causal));
}

/** Someone who can do the work of (some) cases. */
export interface Contender {
  readonly name: string;
  /** Largest error of the output, relative to its largest number, that still counts as the same work. */
  readonly tolerance: number;
  /** Whether the case is done at all; what is not is left out of the table. */
  takes(c: Case): boolean;
  /** Weights packed, session made: what is not timed. */
  prepare(problem: Problem): Promise<Prepared>;
}
