// What the page of the bench loads (browsers.ts bundles and serves it): the same code as in Node.js.
import { type Job, runJob } from "./run.ts";

/** What the bench calls in the page, and what the page calls in the bench. */
export interface PageGlobals {
  runBench(job: Job): Promise<void>;
  report(text: string): Promise<void>;
}

const page = globalThis as unknown as PageGlobals;
page.runBench = (job) => runJob(job, (report) => page.report(JSON.stringify(report)));
