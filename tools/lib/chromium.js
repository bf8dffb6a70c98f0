// Debian's Chromium for the browser tests: found, or installed where that needs no question (root and apt).
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { run, say } from "./process.js";

const names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

/** The browser on the PATH, or the one that CHROMIUM names. */
export function findChromium() {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const candidates = [process.env.CHROMIUM, ...names.flatMap((name) => folders.map((folder) => join(folder, name)))];
  return candidates.find((file) => {
    if (!file) return false;
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

export const HOW_TO_INSTALL =
  "install Chromium (Debian: sudo apt-get install chromium), or let CHROMIUM name one, and run this again";

/** @returns {Promise<string | undefined>} */
export async function findOrInstallChromium() {
  const found = findChromium();
  if (found || process.getuid?.() !== 0) return found;
  say("Installing Chromium for the browser tests (apt-get install chromium)");
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  const install = ["-y", "-qq", "--no-install-recommends", "install", "chromium"];
  try {
    const first = await run("apt-get", install, { env, stdout: "ignore" });
    if (first.code !== 0) {
      // No package lists yet, or old ones.
      await run("apt-get", ["-qq", "update"], { env, stdout: "ignore" });
      await run("apt-get", install, { env, stdout: "ignore" });
    }
  } catch {
    return undefined; // a system without apt
  }
  return findChromium();
}
