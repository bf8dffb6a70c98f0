/** The module that computes, in a worker of its own, so that typing waits for nothing. */

import type { WorkerHeadscope } from "headscope/worker";
import { loadWorker } from "headscope/worker";
import script from "headscope/worker-script?url";

export function startCore(): Promise<WorkerHeadscope> {
  // The baseline build, not the relaxed one: a link then shows the same digits on every machine.
  return loadWorker({ worker: new URL(script, import.meta.url), variant: "simd" });
}
