/** The module that computes, in a worker of its own, so that typing waits for nothing. */

import type { WorkerHeadscope } from "headscope/worker";
import { loadWorker } from "headscope/worker";
import parts from "headscope/worker-parts?worker&url";
import whole from "headscope/worker-script?url";

const NAME = "headscope";

export class CoreWorker {
  readonly ready: Promise<WorkerHeadscope>;
  private worker: Worker | null = null;

  constructor() {
    this.ready = this.start();
  }

  private async start(): Promise<WorkerHeadscope> {
    this.worker = startWorker();
    // The baseline build, not the relaxed one: a link then shows the same digits on every machine.
    return loadWorker({ worker: this.worker, variant: "simd" });
  }

  /** A model is on its way: the worker fetches what reads it meanwhile. */
  expectModel(): void {
    this.worker?.postMessage({ headscope: "models" });
  }
}

/**
 * The script in parts where workers may be modules. Before Firefox 114 they are not, whatever is asked for, and nobody
 * looks at the type: there the script that is one file.
 */
function startWorker(): Worker {
  let modules = false;
  const options: WorkerOptions = {
    name: NAME,
    get type(): WorkerType {
      modules = true;
      return "module";
    },
  };
  const worker = new Worker(new URL(parts, import.meta.url), options);
  if (modules) return worker;
  worker.terminate();
  return new Worker(new URL(whole, import.meta.url), { name: NAME });
}
