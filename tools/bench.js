// npm run bench: builds the package, installs the peers and measures (tests/bench/bench.ts). npm run bench -- --help
import { build } from "./lib/build.js";
import { cmakeBuild } from "./lib/cmake.js";
import { withLock } from "./lib/lock.js";
import { nodeFlags } from "./lib/node-flags.js";
import { run, script } from "./lib/process.js";
import { installBench, toolchain } from "./lib/setup.js";

script(async () => {
  const args = process.argv.slice(2);
  const kernels = args.includes("--kernels");
  await build("package");
  if (!kernels && !args.includes("--help")) {
    await installBench(args.some((arg) => arg.startsWith("--engine")));
    await withLock(async () => cmakeBuild("wasm-simd", await toolchain(["wasm"]), ["reference"]));
  }
  const program = kernels ? "tests/bench/kernels.ts" : "tests/bench/bench.ts";
  const rest = args.filter((arg) => arg !== "--kernels");
  return (await run(process.execPath, ["--import", "tsx", ...nodeFlags(), program, ...rest])).code;
});
