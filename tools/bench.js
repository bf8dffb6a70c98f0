// npm run bench: builds the package and measures it (tests/bench/bench.ts).
import { build } from "./lib/build.js";
import { nodeFlags } from "./lib/node-flags.js";
import { run, script } from "./lib/process.js";

script(async () => {
  await build("package");
  return (await run(process.execPath, ["--import", "tsx", ...nodeFlags(), "tests/bench/bench.ts"])).code;
});
