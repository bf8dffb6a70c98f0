import { readFileSync } from "node:fs";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { type LoadWorkerOptions, loadWorker, type WorkerHeadscope } from "headscope/worker";

export const SCRIPT = fileURLToPath(import.meta.resolve("headscope/worker-script"));
/** The model of the playground, small enough for every test to open it. */
export const MODEL = readFileSync(new URL("../../web/models/headscope.gguf", import.meta.url));

/** A worker of this file's tests, which ends with them. */
export async function startWorker(options: Omit<LoadWorkerOptions, "worker"> = {}): Promise<WorkerHeadscope> {
  const worker = await loadWorker({ worker: new Worker(SCRIPT), ...options });
  after(() => worker.dispose());
  return worker;
}
