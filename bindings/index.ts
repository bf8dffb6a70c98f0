import * as simd from "./generated/simd-bytes.js";
import { start } from "./load.js";
import type { Headscope, LoadOptions } from "./types.js";
import { unpack } from "./unpack.js";

export * from "./public.js";

/**
 * Starts the module from the bytes inside the package, or from `module`. Every call makes an instance of its own.
 * Importing has no side effect and needs no DOM.
 *
 * @throws HeadscopeError on every failure: `"unsupported"`, `"format"`, `"config"` or `"aborted"`.
 */
export function load(options?: LoadOptions): Promise<Headscope> {
  return start(options, (variant) => unpack(variant === "simd" ? simd : import("./generated/relaxed-bytes.js")));
}
