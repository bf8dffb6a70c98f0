/** Vite plugin: writes the service worker with the list of files of this build and a version made of their contents. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

/** The worker's script in one file. */
const CLASSIC = /worker-script/;

const here = fileURLToPath(new URL(".", import.meta.url));

export function offline(): Plugin {
  let publicDir = "";
  return {
    name: "headscope-offline",
    apply: "build",
    configResolved(config) {
      publicDir = config.publicDir;
    },
    generateBundle: {
      order: "post",
      handler(_options, bundle) {
        const hash = createHash("sha256");
        const files: string[] = [];
        const classic: string[] = [];
        for (const name of Object.keys(bundle).sort()) {
          const output = bundle[name];
          if (!output) continue;
          const list = CLASSIC.test(name) ? classic : files;
          list.push(name === "index.html" ? "./" : `./${name}`);
          hash.update(name).update(output.type === "chunk" ? output.code : output.source);
        }
        for (const name of readdirSync(publicDir).sort()) {
          if (name in bundle) continue; // tight-scripts.ts
          files.push(`./${name}`);
          hash.update(name).update(readFileSync(join(publicDir, name)));
        }
        const template = readFileSync(join(here, "service-worker.js"), "utf8");
        const version = hash.update(template).digest("hex").slice(0, 12);
        const source = template
          .replace(/const FILES = .*;/, `const FILES = ${JSON.stringify(files)};`)
          .replace(/const CLASSIC = .*;/, `const CLASSIC = ${JSON.stringify(classic)};`)
          .replace(/const VERSION = .*;/, `const VERSION = ${JSON.stringify(version)};`);
        this.emitFile({ type: "asset", fileName: "service-worker.js", source });
      },
    },
  };
}
