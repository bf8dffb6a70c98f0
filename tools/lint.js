// npm run lint: Biome, clang-format, the type check and the rules for tracked files. npm run format (--fix) rewrites.
import { join } from "node:path";
import { build } from "./lib/build.js";
import { filesBelow } from "./lib/freshness.js";
import { root, run, say, script } from "./lib/process.js";
import { checkRepository } from "./lib/repository.js";
import { installDependencies, toolchain } from "./lib/setup.js";
import { checkTypes } from "./lib/types.js";

script(async () => {
  const fix = process.argv.includes("--fix");
  await installDependencies();
  const { CLANG_FORMAT = "clang-format" } = await toolchain(["wasm", "lint"]);
  const failed = [];

  const biome = join(root, "node_modules/@biomejs/biome/bin/biome");
  const biomeArgs = ["check", "--error-on-warnings", ...(fix ? ["--write"] : []), "."];
  if ((await run(process.execPath, [biome, ...biomeArgs])).code !== 0) failed.push("Biome");

  const sources = filesBelow(["src", "bindings", "tests"], (file) => /\.(h|cpp)$/.test(file));
  const formatArgs = fix ? ["-i"] : ["--dry-run", "-Werror"];
  if ((await run(CLANG_FORMAT, [...formatArgs, ...sources])).code !== 0) failed.push("clang-format");

  if (!fix) {
    const findings = await checkRepository();
    for (const finding of findings) say(finding);
    if (findings.length > 0) failed.push("the rules for tracked files");

    await build("package"); // tests are checked against the package's own declarations
    const untyped = await checkTypes();
    if (untyped.length > 0) failed.push(`the types of ${untyped.join(", ")}`);
  }

  say(failed.length === 0 ? "lint: all well" : `lint: ${failed.join("; ")} found faults`);
  return failed.length === 0 ? 0 : 1;
});
