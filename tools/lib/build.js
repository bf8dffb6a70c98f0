// Everything that is made from the sources, in order, and only what changed.
import { cmakeBuild } from "./cmake.js";
import { withLock } from "./lock.js";
import { buildPackage } from "./package.js";
import { installDependencies, toolchain } from "./setup.js";
import { buildSite } from "./site.js";

const targets = /** @type {const} */ (["wasm", "package", "site"]);
/** @typedef {typeof targets[number]} Target */

/** Builds up to and including `last`. */
export async function build(/** @type {Target} */ last = "site") {
  await withLock(async () => {
    await installDependencies();
    const env = await toolchain(["wasm"]);
    await cmakeBuild("wasm-simd", env);
    await cmakeBuild("wasm-relaxed", env);
    if (last === "wasm") return;
    await buildPackage();
    if (last === "package") return;
    await buildSite();
  });
}

export const isTarget = (/** @type {string} */ name) => targets.includes(/** @type {Target} */ (name));
