/**
 * Vite plugin: tells public/theme.js where the words of each language are, so that a visit fetches one of them, at once,
 * and not after the code that asks for it.
 */

import type { Plugin } from "vite";

const SCRIPT = 'src="./theme.js"';

/** @param files the module that holds what a page opens with, by language */
export function languageFiles(files: Readonly<Record<string, string>>): Plugin {
  return {
    name: "headscope-language-files",
    transformIndexHtml: {
      order: "post",
      handler(html, { path, bundle }) {
        // The other pages hold both languages. While developing nothing has another name yet.
        if (path !== "/index.html" || !bundle) return html;
        if (!html.includes(SCRIPT)) throw new Error(`index.html has no ${SCRIPT}`);
        const places = Object.entries(files).map(([language, file]) => {
          const chunk = Object.values(bundle).find((one) => one.type === "chunk" && one.moduleIds.includes(file));
          if (!chunk) throw new Error(`no chunk holds ${file}`);
          return `data-${language}="./${chunk.fileName}"`;
        });
        return html.replace(SCRIPT, [SCRIPT, ...places].join(" "));
      },
    },
  };
}
