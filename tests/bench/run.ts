import type { Case } from "./cases.ts";
import type { Contender } from "./contender.ts";
import { headscope, loadVariants, projectPast } from "./headscope.ts";
import { Machine } from "./machine.ts";
import { EFFORT, measureCase, type Result } from "./measure.ts";
import { jax } from "./peers/jax.ts";
import { mlMatrix } from "./peers/ml-matrix.ts";
import { ort } from "./peers/ort.ts";
import { plain } from "./peers/plain.ts";
import { ruvector } from "./peers/ruvector.ts";
import { tfjs } from "./peers/tfjs.ts";
import { reference } from "./reference.ts";
import { type First, type Lengths, measureFirst, measureLengths } from "./special.ts";

/** What is to be measured in an engine; plain data, since it goes into pages. */
export interface Job {
  readonly engine: string;
  readonly cases: readonly Case[];
  readonly quick: boolean;
  /** Names of contenders, or what they begin with; all where there are none. */
  readonly who: readonly string[];
  /** Instead of cases: one sample of what only a fresh process can tell, or of long inputs. */
  readonly special?: { readonly kind: "first" | "lengths"; readonly variant: "simd" | "relaxed" };
}

/** A result of a case, or of what `special` asks for. */
export type Report = { readonly result: Result } | { readonly first: First } | { readonly lengths: Lengths };

/** The same in Node.js and in a page. */
export async function runJob(job: Job, report: (report: Report) => void | Promise<void>): Promise<void> {
  if (job.special?.kind === "first") return report({ first: await measureFirst(job.special.variant) });
  if (job.special?.kind === "lengths") return report({ lengths: await measureLengths(job.special.variant) });
  const variants = await loadVariants();
  const first = variants[0];
  if (!first) throw new Error("no build of headscope runs here");
  const all: Contender[] = [...variants.map(headscope), ...ort, ...tfjs, jax, mlMatrix, ruvector, plain, reference];
  const contenders = all.filter(
    ({ name }) => job.who.length === 0 || job.who.some((one) => name.startsWith(one)) || name === first.variant,
  );
  const machine = await Machine.start();
  for (const c of job.cases) {
    const effort = job.quick ? EFFORT.quick : EFFORT.normal;
    await report({ result: await measureCase(job.engine, c, contenders, machine, projectPast(first), effort) });
  }
}
