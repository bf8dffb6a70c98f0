import { HeadscopeError, wrongType } from "../errors.js";

/** What a worker of a browser and one of Node's worker_threads have in common, as far as it is used here. */
export interface WorkerLike {
  postMessage(message: unknown, transfer: Transferable[]): void;
  terminate(): unknown;
}

interface NodeWorker extends WorkerLike {
  on(event: "error", listener: (error: Error) => void): void;
  on(event: "exit", listener: () => void): void;
}

const EXPECTED = "a Worker, or the address of the script headscope/worker-script";

/** The worker itself, made where only its address is given. */
export function openWorker(given: unknown): WorkerLike {
  if (typeof given === "object" && given !== null && "postMessage" in given && "terminate" in given) {
    return given as WorkerLike;
  }
  const kind = Object.prototype.toString.call(given);
  if (typeof given !== "string" && kind !== "[object URL]") throw wrongType("worker", EXPECTED, given);
  if (typeof Worker !== "function") {
    throw wrongType("worker", "a Worker of worker_threads, as there is no global one here", given);
  }
  try {
    return new Worker(given as string | URL, { type: "module", name: "headscope" });
  } catch (cause) {
    throw notStarted(`the script at ${given}`, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

function notStarted(what: string, why: string, cause?: unknown): HeadscopeError {
  const expected = "the script of headscope/worker-script on the page's own host";
  const message = `worker: expected ${expected}, got ${what}: ${why}`;
  return new HeadscopeError("format", message, { argument: "worker", expected, actual: why, cause });
}

/**
 * Tells of a script that does not run. Browsers say so by an event, also where another part of an app's own script fails
 * later; Node only when the worker has ended.
 *
 * @returns whoever listens no longer
 */
export function onFailure(worker: WorkerLike, failed: (error: HeadscopeError, ended: boolean) => void): () => void {
  if ("addEventListener" in worker) {
    const target = worker as Worker;
    const listener = (event: Event) => {
      const { message = "it could not be loaded", error } = event as ErrorEvent;
      failed(notStarted("a worker that failed", message || "it could not be loaded", error), false);
    };
    target.addEventListener("error", listener);
    return () => target.removeEventListener("error", listener);
  }
  const target = worker as NodeWorker;
  target.on("error", (error) => failed(notStarted("a worker that failed", error.message, error), true));
  target.on("exit", () => failed(notStarted("a worker", "it has ended"), true));
  return () => undefined;
}
