/**
 * Vite plugin: the scripts in public/ without what is there for readers of the source. They are not modules, and Vite
 * copies them as they are: 0.3 KB of the gzipped page.
 */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { transform } from "esbuild";
import type { Plugin } from "vite";

export function tightScripts(): Plugin {
  let publicDir = "";
  let target: string[] = [];
  return {
    name: "headscope-tight-scripts",
    apply: "build",
    configResolved(config) {
      publicDir = config.publicDir;
      target = [config.build.target || []].flat();
    },
    async generateBundle() {
      for (const fileName of readdirSync(publicDir).filter((name) => name.endsWith(".js"))) {
        const { code } = await transform(readFileSync(join(publicDir, fileName), "utf8"), { minify: true, target });
        this.emitFile({ type: "asset", fileName, source: code });
      }
    },
  };
}
