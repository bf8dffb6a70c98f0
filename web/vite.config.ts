import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { offline } from "./offline/plugin.js";

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
      { find: /^headscope$/, replacement: path("../dist/index.js") },
      // The core's other build, which the page never asks for: 27 KB of the site.
      { find: /^\.\/relaxed\.js$/, replacement: path("offline/no-relaxed.ts") },
      { find: /^headscope\/(models|inspect)$/, replacement: path("../dist/$1.js") },
    ],
  },
  build: {
    outDir: path("../build/site"),
    emptyOutDir: true,
    target: ["chrome91", "firefox89", "safari16.4"],
    // The policy `default-src 'self'` forbids data: addresses, and the polyfill is for browsers without simd128.
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
  },
  server: { host: "127.0.0.1" },
  preview: { host: "127.0.0.1" },
  plugins: [offline()],
});
