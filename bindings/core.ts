import { start } from "./load.js";
import type { Headscope, LoadOptions } from "./types.js";

export * from "./public.js";

/**
 * Starts the module that the caller brings, for workers, edge runtimes and bundlers that treat wasm files themselves:
 * `headscope/simd.wasm` or `headscope/relaxed.wasm`, compiled, as bytes or as an address. Nothing is inlined here.
 *
 * @throws HeadscopeError on every failure: `"unsupported"`, `"format"`, `"config"` or `"aborted"`.
 */
export function load(options: LoadOptions & { module: NonNullable<LoadOptions["module"]> }): Promise<Headscope> {
  return start(options, undefined);
}
