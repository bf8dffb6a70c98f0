import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { docs } from "./docs/pages/plugin.js";
import { languageFiles } from "./language-files.js";
import { lateImports } from "./late-imports.js";
import { firstPicture } from "./offline/first-picture.js";
import { offline } from "./offline/plugin.js";
import { tightScripts } from "./tight-scripts.js";
import { tightStyles } from "./tight-styles.js";
import { later } from "./worker-parts.js";

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

export default defineConfig({
  root: path("."),
  // Relative addresses: the built page works under any path of any static host.
  base: "./",
  publicDir: path("public"),
  cacheDir: path("../build/vite"),
  resolve: {
    // The built package, by the name that everybody uses. Vite does not resolve a package's own name.
    alias: [
      // The page computes in a worker. What it takes from here needs no wasm: the entry without the inline bytes.
      { find: /^headscope$/, replacement: path("../dist/core.js") },
      // The core's other build, which the page never asks for: 27 KB of the site.
      { find: /^\.\/relaxed\.js$/, replacement: path("offline/empty.ts") },
      { find: /^headscope\/(models|inspect|worker)$/, replacement: path("../dist/$1.js") },
      { find: /^headscope\/elements$/, replacement: path("elements/index.ts") },
      // What `headscope` is in the figures of the documentation (docs/plugin.ts).
      { find: /^headscope\/inline$/, replacement: path("../dist/index.js") },
      // One file without imports, which stays as it is and gets an address.
      { find: /^headscope\/worker-script/, replacement: path("../dist/worker-script.js") },
      // The same in parts, of which a visit fetches what it needs: cut here, where the page is, and so from the sources.
      { find: /^headscope\/worker-parts/, replacement: path("../bindings/worker/parts.ts") },
    ],
  },
  build: {
    outDir: path("../build/site"),
    emptyOutDir: true,
    // As the package itself: its private fields came with Firefox 90.
    target: ["chrome91", "firefox90", "safari16.4"],
    // The policy `default-src 'self'` forbids data: addresses, and the polyfill is for browsers without simd128.
    assetsInlineLimit: 0,
    // What an entry imports is named by its markup, and comes together with it. What is imported later names no more.
    modulePreload: {
      polyfill: false,
      resolveDependencies: (_url, files, { hostType }) => (hostType === "html" ? files : []),
    },
    reportCompressedSize: false,
  },
  worker: {
    format: "es",
    plugins: () => [
      // Everything else is needed for the model that comes with the page.
      later({
        [path("../bindings/models/remote-source.ts")]: ["openRemote"],
        [path("../bindings/models/safetensors.ts")]: ["readSafetensors"],
        [path("../bindings/models/library-tokenizer.ts")]: ["libraryRules"],
        [path("../bindings/models/bert.ts")]: ["bert"],
        [path("../bindings/models/llama.ts")]: ["llama"],
      }),
    ],
    rollupOptions: {
      output: {
        entryFileNames: "assets/worker-[name]-[hash].js",
        chunkFileNames: "assets/worker-[name]-[hash].js",
        experimentalMinChunkSize: 1000,
      },
    },
  },
  server: { host: "127.0.0.1" },
  preview: { host: "127.0.0.1" },
  plugins: [
    docs(),
    tightStyles(path("elements/")),
    tightScripts(),
    lateImports(),
    firstPicture(path("../dist/index.js")),
    languageFiles({ en: path("i18n/en.ts"), zh: path("i18n/zh.ts") }),
    offline(),
  ],
});
