import { checkNames, checkObject, checkWord } from "../check.js";
import { supports } from "../engine.js";
import { VERSION } from "../version.js";
import { Connection } from "./connection.js";
import { fromPage, RemoteHeadscope } from "./headscope.js";
import { openWorker } from "./host.js";
import type { StartOptions } from "./protocol.js";
import type { LoadWorkerOptions, WorkerHeadscope } from "./types.js";

export { HeadscopeError, type HeadscopeErrorCode } from "../errors.js";
export type {
  CallOptions,
  LoadWorkerOptions,
  NodeWorker,
  WorkerAttentionOptions,
  WorkerForwardOptions,
  WorkerHandle,
  WorkerHeadscope,
  WorkerKVCache,
  WorkerModel,
  WorkerMultiHeadAttention,
  WorkerRunOptions,
  WorkerTensorFile,
} from "./types.js";

/**
 * Starts the module in a worker. The page names the worker's script, because only its bundler knows where that will be:
 *
 *     loadWorker({ worker: new Worker(new URL("headscope/worker-script", import.meta.url), { type: "module" }) })
 *
 * in Vite and webpack; elsewhere the address of a copy of `headscope/worker-script`, which is one file without imports.
 *
 * @throws HeadscopeError as `load`; `"format"` also for a script that is another one, of another version, or not there;
 * TypeError for wrong options.
 */
export async function loadWorker(options: LoadWorkerOptions): Promise<WorkerHeadscope> {
  const given = checkObject("options", options, "an object { worker, variant, module, signal }");
  checkNames("options", given, ["worker", "variant", "module", "signal"]);
  const { worker, variant = "auto", module, signal } = options;
  checkWord("variant", variant, ["auto", "simd", "relaxed"]);
  const connection = new Connection(openWorker(worker));
  try {
    const start: StartOptions = {
      version: VERSION,
      variant,
      module: fromPage(module) as StartOptions["module"],
      relaxed: module === undefined && variant !== "simd" ? await fetchRelaxed() : undefined,
    };
    const running = await connection.call<Pick<WorkerHeadscope, "version" | "variant">>("load", "start", {
      args: { options: start },
      signal,
    });
    connection.started();
    return new RemoteHeadscope(connection, running);
  } catch (error) {
    void connection.end();
    throw error;
  }
}

/**
 * The build that few engines lack, fetched by the page: a worker's script that imports nothing stays one file in every
 * bundler.
 */
async function fetchRelaxed(): Promise<StartOptions["relaxed"]> {
  if (!supports("relaxed")) return undefined;
  try {
    const { size, packedBase64 } = await import("../generated/relaxed-bytes.js");
    return { size, packedBase64 };
  } catch {
    return undefined; // the baseline always works; who asked for this one is told by the worker
  }
}
