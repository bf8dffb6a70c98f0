// npm test: installs what is missing, builds what changed, then runs the type check, the native tests under sanitizers,
// the tests in Node and the tests in Chromium and Firefox. npm test -- tests/api runs what lies below that path.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { chromium, firefox } from "./lib/browsers.js";
import { build } from "./lib/build.js";
import { cmakeBuild } from "./lib/cmake.js";
import { chineseFont } from "./lib/fonts.js";
import { filesBelow } from "./lib/freshness.js";
import { withLock } from "./lib/lock.js";
import { nodeFlags } from "./lib/node-flags.js";
import { root, run, StepError, say, script } from "./lib/process.js";
import { installFrameworks, installVocabularies, toolchain } from "./lib/setup.js";
import { checkTypes, typeProjects } from "./lib/types.js";

/** @typedef {{ part: string, passed: number, failed: number, skipped: number, note?: string | undefined }} Result */

const onCI = Boolean(process.env.CI) && process.env.CI !== "false";

/**
 * Node's test runner over some files: its own report on the terminal, its closing numbers from a second report.
 * @param {string} part
 * @param {readonly string[]} files
 * @param {{ flags?: readonly string[], env?: Record<string, string> }} [options]
 * @returns {Promise<Result>}
 */
async function nodeTests(part, files, { flags = [], env = {} } = {}) {
  const report = join(root, "build", `test-${part}.tap`);
  mkdirSync(dirname(report), { recursive: true });
  const { code } = await run(
    process.execPath,
    [
      ...["--import", "tsx", ...nodeFlags(), "--test", ...flags],
      ...["--test-reporter=spec", "--test-reporter-destination=stdout"],
      ...["--test-reporter=tap", `--test-reporter-destination=${report}`],
      ...files,
    ],
    { env },
  );
  const text = existsSync(report) ? readFileSync(report, "utf8") : "";
  const count = (/** @type {string} */ name) => Number(text.match(new RegExp(`^# ${name} (\\d+)$`, "m"))?.[1] ?? 0);
  const failed = count("fail") + count("cancelled");
  const result = { part, passed: count("pass"), failed, skipped: count("skipped") + count("todo") };
  // A runner that fell over, or ran nothing, has not passed.
  if (failed === 0 && (code !== 0 || result.passed === 0)) {
    return { ...result, failed: 1, note: `the runner ended with code ${code}` };
  }
  return result;
}

/** @returns {Promise<Result>} */
async function typeTests() {
  const failed = await checkTypes();
  const note = failed.length > 0 ? failed.join(", ") : undefined;
  return {
    part: "types",
    passed: typeProjects - failed.length,
    failed: failed.length,
    skipped: 0,
    ...(note && { note }),
  };
}

/** @returns {Promise<Result>} */
async function nativeTests() {
  const env = await withLock(async () => {
    const found = await toolchain(["native"]);
    await cmakeBuild("native", found);
    return found;
  });
  // The cases that TypeScript tests hold as data, written out for C++.
  const { code: exported } = await run(process.execPath, [
    ...["--import", "tsx"],
    join(root, "tests/conformance/export-native.ts"),
  ]);
  if (exported !== 0) return { part: "native", passed: 0, failed: 1, skipped: 0, note: "no data for the C++ tests" };
  let summary = "";
  const ctest = join(dirname(env.CMAKE ?? ""), "ctest");
  const { code } = await run(ctest, ["--test-dir", join(root, "build/native"), "--output-on-failure"], {
    onLine: (line) => {
      process.stdout.write(`${line}\n`);
      if (/tests? failed out of/.test(line)) summary = line;
    },
  });
  const [, failed = "1", total = "1"] = summary.match(/(\d+) tests? failed out of (\d+)/) ?? [];
  return {
    part: "native",
    passed: Number(total) - Number(failed),
    failed: code === 0 ? 0 : Math.max(1, Number(failed)),
    skipped: 0,
  };
}

/**
 * @param {import("./lib/browsers.js").BrowserProgram} browser
 * @param {readonly string[]} files
 * @returns {Promise<Result>}
 */
async function browserTests({ name, variable, howToInstall, findOrInstall }, files) {
  const part = name.toLowerCase();
  const program = await findOrInstall();
  if (!program) {
    say(`Browser tests: there is no ${name}; ${howToInstall}.`);
    const [failed, skipped] = onCI ? [files.length, 0] : [0, files.length];
    return { part, passed: 0, failed, skipped, note: `no ${name}` };
  }
  // What needs one is skipped without it, and says so.
  if (!(await chineseFont.findOrInstall())) say(`Browser tests: no Chinese font; ${chineseFont.howToInstall}.`);
  // One browser at a time: two would share two cores and time out on slow machines.
  return nodeTests(part, files, { flags: ["--test-concurrency=1"], env: { [variable]: program } });
}

script(async () => {
  const filters = process.argv.slice(2).map((path) => path.replace(/^\.\//, "").replace(/\/$/, ""));
  const files = filesBelow(["tests"], (file) => file.endsWith(".test.ts"));
  const chosen = files.filter(
    (file) => filters.length === 0 || filters.some((path) => file === path || file.startsWith(`${path}/`)),
  );
  const inNode = chosen.filter((file) => !file.startsWith("tests/browser/"));
  const inFirefox = chosen.filter((file) => file.startsWith("tests/browser/firefox/"));
  const inChromium = chosen.filter((file) => !inNode.includes(file) && !inFirefox.includes(file));
  const all = filters.length === 0;
  const native = all || filters.some((path) => path.startsWith("tests/native"));
  const types = all || filters.some((path) => path.startsWith("tests/types"));
  if (!native && !types && chosen.length === 0) throw new StepError(`there are no tests below ${filters.join(", ")}.`);

  await build();
  if (inNode.includes("tests/models/tokenizer.test.ts")) await installVocabularies();
  if (inChromium.includes("tests/browser/frameworks.test.ts")) await installFrameworks();

  /** @type {Result[]} */
  const results = [];
  const part = async (/** @type {string} */ name, /** @type {() => Promise<Result>} */ work) => {
    const begin = performance.now();
    let result;
    try {
      result = await work();
    } catch (error) {
      if (!(error instanceof StepError)) throw error;
      say(error.message);
      result = { part: name, passed: 0, failed: 1, skipped: 0, note: error.message.split("\n")[0] };
    }
    results.push(result);
    say(`${name}: ${((performance.now() - begin) / 1000).toFixed(1)} s`);
  };
  if (types) await part("types", typeTests);
  if (native) await part("native", nativeTests);
  if (inNode.length > 0) await part("node", () => nodeTests("node", inNode));
  if (inChromium.length > 0) await part("chromium", () => browserTests(chromium, inChromium));
  if (inFirefox.length > 0) await part("firefox", () => browserTests(firefox, inFirefox));

  process.stdout.write("\n");
  for (const { part: name, passed, failed, skipped, note } of results) {
    const numbers = `${passed} passed, ${failed} failed, ${skipped} skipped`;
    process.stdout.write(`${name.padEnd(8)} ${numbers}${note ? ` (${note})` : ""}\n`);
  }
  const sum = (/** @type {"passed" | "failed" | "skipped"} */ key) => results.reduce((n, each) => n + each[key], 0);
  process.stdout.write(`\n${sum("passed")} passed, ${sum("failed")} failed, ${sum("skipped")} skipped\n`);
  return sum("failed") === 0 ? 0 : 1;
});
