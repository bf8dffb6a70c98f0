// Debian's browsers for the browser tests: found, or installed where that needs no question (root and apt).
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { run, say } from "./process.js";

/**
 * One browser. `variable` names the environment variable that may name the program.
 * @typedef {object} BrowserProgram
 * @property {string} name
 * @property {string} variable
 * @property {string} howToInstall
 * @property {() => string | undefined} find
 * @property {() => Promise<string | undefined>} findOrInstall
 */

/**
 * @param {string} name
 * @param {string} debianPackage
 * @param {readonly string[]} programs
 * @returns {BrowserProgram}
 */
function browserProgram(name, debianPackage, programs) {
  const variable = name.toUpperCase();
  const find = () => {
    const folders = (process.env.PATH ?? "").split(delimiter);
    const onPath = programs.flatMap((program) => folders.map((folder) => join(folder, program)));
    return [process.env[variable], ...onPath].find((file) => file && isProgram(file));
  };
  const findOrInstall = async () => {
    const found = find();
    if (found || process.getuid?.() !== 0) return found;
    say(`Installing ${name} for the browser tests (apt-get install ${debianPackage})`);
    await installPackage(debianPackage);
    return find();
  };
  const howToInstall = `install ${name} (Debian: sudo apt-get install ${debianPackage}), or let ${variable} name one, and run this again`;
  return { name, variable, howToInstall, find, findOrInstall };
}

/** @param {string} file */
function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** @param {string} debianPackage */
export async function installPackage(debianPackage) {
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  // Another installation may be under way, and a mirror may fail once.
  const patience = ["-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=3"];
  const args = [...patience, "-y", "-qq", "--no-install-recommends", "install", debianPackage];
  try {
    const first = await run("apt-get", args, { env, stdout: "ignore" });
    if (first.code === 0) return;
    // No package lists yet, or old ones.
    await run("apt-get", [...patience, "-qq", "update"], { env, stdout: "ignore" });
    await run("apt-get", args, { env, stdout: "ignore" });
  } catch {
    // A system without apt.
  }
}

export const chromium = browserProgram("Chromium", "chromium", [
  "chromium",
  "chromium-browser",
  "google-chrome-stable",
  "google-chrome",
]);

export const firefox = browserProgram("Firefox", "firefox-esr", ["firefox-esr", "firefox"]);
