// npm run build: the wasm modules, the package (dist/) and the page (build/site/). npm run build -- wasm|package stops there.
import { build, isTarget } from "./lib/build.js";
import { StepError, script } from "./lib/process.js";

script(async () => {
  const last = process.argv[2] ?? "site";
  if (!isTarget(last)) throw new StepError(`npm run build -- [wasm|package|site], not ${last}.`);
  await build(/** @type {import("./lib/build.js").Target} */ (last));
});
