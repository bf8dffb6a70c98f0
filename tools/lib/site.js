// web/ and dist/, and for the worker bindings/ → build/site/: static files for any path. web/vite.config.ts says how.
import { join } from "node:path";
import { filesBelow, unlessFresh } from "./freshness.js";
import { root, say } from "./process.js";

export const viteOptions = {
  root: join(root, "web"),
  configFile: join(root, "web/vite.config.ts"),
  clearScreen: false,
};

export async function buildSite() {
  return unlessFresh("site", {
    inputs: [...filesBelow(["web", "dist", "bindings"]), "package.json", "package-lock.json", "tsconfig.json"],
    outputs: ["build/site"],
    async work() {
      say("Building the page");
      const { build } = await import("vite");
      await build({ ...viteOptions, logLevel: "warn" });
    },
  });
}
