// web/ and dist/ → build/site/: static files that work under any path.
import { join } from "node:path";
import { filesBelow, unlessFresh } from "./freshness.js";
import { root, say } from "./process.js";

/** What the page's build and its development server share. web/vite.config.ts has what the page itself decides. */
export function siteOptions() {
  return {
    root: join(root, "web"),
    base: "./",
    clearScreen: false,
    resolve: { alias: [{ find: /^headscope$/, replacement: join(root, "dist/index.js") }] },
  };
}

export async function buildSite() {
  return unlessFresh("site", {
    inputs: [
      ...filesBelow(["web", "dist"]),
      ...["package.json", "package-lock.json", "tsconfig.json", "tools/lib/site.js"],
    ],
    outputs: ["build/site"],
    async work() {
      say("Building the page");
      const { build } = await import("vite");
      await build({
        ...siteOptions(),
        logLevel: "warn",
        build: { outDir: join(root, "build/site"), emptyOutDir: true, target: "es2022", assetsInlineLimit: 0 },
      });
    },
  });
}
