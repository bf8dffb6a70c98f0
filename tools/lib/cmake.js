// CMake and Ninja: configured once for each set of tools, then Ninja decides what changed.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { must, root, run, StepError, say } from "./process.js";

/**
 * @param {"wasm-simd" | "wasm-relaxed" | "native"} preset
 * @param {import("./setup.js").Environment} env
 * @param {readonly string[]} [targets] other than everything that is built by default
 */
export async function cmakeBuild(preset, env, targets = []) {
  const folder = join(root, "build", preset);
  const stamp = join(folder, "tools.json");
  const tools = JSON.stringify(env, null, 2);
  const cmake = env.CMAKE ?? "cmake";
  const ninja = env.NINJA ?? "ninja";

  // Other tools than last time (a new toolchain, another HOME): CMake's cache would keep the old paths.
  if (!existsSync(join(folder, "build.ninja")) || !existsSync(stamp) || readFileSync(stamp, "utf8") !== tools) {
    say(`Configuring ${preset}`);
    const args = [
      "--fresh",
      "--preset",
      preset,
      `-DCMAKE_MAKE_PROGRAM=${ninja}`,
      `-DXSIMD_INCLUDE=${env.XSIMD_INCLUDE}`,
    ];
    const { code, stdout } = await run(cmake, args, { env, stdout: "pipe" });
    if (code !== 0) throw new StepError(`CMake could not configure ${preset}.\n${stdout}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(stamp, tools);
  }

  // EM_CONFIG is set for the private copy alone.
  const own = preset !== "native" && !env.EM_CONFIG;
  const hint = own
    ? " with the Emscripten installed here (HEADSCOPE_TOOLCHAIN=private takes one that is known to work)"
    : "";

  // Ninja speaks only when it has something to do.
  await must(`building ${preset}${hint}`, ninja, ["-C", folder, ...targets], {
    env: { ...env, NINJA_STATUS: `${preset} [%f/%t] ` },
    onLine: (line) => {
      if (/^ninja: |^-- |Re-checking globbed|Re-running CMake|^cache:INFO/.test(line)) return;
      say(line);
    },
  });
}
