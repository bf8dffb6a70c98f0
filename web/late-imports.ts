/**
 * Vite plugin: what a dynamic import waits for besides its module. Vite's own helper can also preload scripts, which this
 * page does not want (vite.config.ts), and weighs 0.7 KB gzipped; here are style sheets alone, asked for again where they
 * did not come. Should Vite rename its helper, it is back: nothing else changes.
 */

import type { Plugin } from "vite";

const HELPER = `
const sheets = {};
const sheet = (href) => (sheets[href] ??= new Promise((loaded, failed) => {
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = href;
  link.onload = loaded;
  link.onerror = () => {
    delete sheets[href];
    link.remove();
    failed(new Error(href));
  };
  document.head.append(link);
}));
export const __vitePreload = (load, names = [], base) =>
  Promise.all(names.map((name) => sheet(new URL(name, base).href))).then(load);
`;

export function lateImports(): Plugin {
  return {
    name: "headscope-late-imports",
    apply: "build",
    enforce: "pre",
    load: (id) => (id === "\0vite/preload-helper.js" ? HELPER : null),
  };
}
