import type { Case } from "./cases.ts";
import type { Contender } from "./contender.ts";
import { headscope, loadVariants, projectPast } from "./headscope.ts";
import { Machine } from "./machine.ts";
import { EFFORT, measureCase, type Result } from "./measure.ts";
import { ort } from "./peers/ort.ts";

/** What is to be measured in an engine; plain data, since it goes into pages. */
export interface Job {
  readonly engine: string;
  readonly cases: readonly Case[];
  readonly quick: boolean;
  /** Names of contenders, or what they begin with; all where there are none. */
  readonly who: readonly string[];
}

/** The same in Node.js and in a page. */
export async function runJob(job: Job, report: (result: Result) => void | Promise<void>): Promise<void> {
  const variants = await loadVariants();
  const first = variants[0];
  if (!first) throw new Error("no build of headscope runs here");
  const all: Contender[] = [...variants.map(headscope), ...ort];
  const contenders = all.filter(
    ({ name }) => job.who.length === 0 || job.who.some((one) => name.startsWith(one)) || name === first.variant,
  );
  const machine = await Machine.start();
  for (const c of job.cases) {
    const effort = job.quick ? EFFORT.quick : EFFORT.normal;
    await report(await measureCase(job.engine, c, contenders, machine, projectPast(first), effort));
  }
}
