/** Vite plugin: makes the pages of the documentation and adds them to the site. There are no files of them. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import { apiPage } from "./api-page.js";
import { pages as elements } from "./content/elements.js";
import { elementPage } from "./element-page.js";
import { overviewPage } from "./overview-page.js";
import { type NavigationEntry, type Page, render } from "./template.js";

const web = fileURLToPath(new URL("../..", import.meta.url));

/** The parts of the site; what another part of the project has not brought yet is left out. */
export function navigation(): NavigationEntry[] {
  const entries: NavigationEntry[] = [
    { address: "./", title: ["Playground", "演练场"] },
    { address: "./tutorials.html", title: ["Tutorials", "教程"] },
    { address: "./elements.html", title: ["Elements", "元素"] },
    { address: "./api.html", title: ["API", "API"] },
  ];
  return entries.filter(({ address }) => address !== "./tutorials.html" || existsSync(join(web, address)));
}

export function allPages(): Page[] {
  return [overviewPage(), ...elements.map(elementPage), apiPage()];
}

export function docs(): Plugin {
  const make = new Map<string, () => Page>([
    ["elements", overviewPage],
    ["api", apiPage],
    ...elements.map((each) => [each.tag, () => elementPage(each)] as const),
  ]);
  /** The page that a file or a path names. */
  const named = (file: string) => make.get(/([\w-]+)\.html$/.exec(file)?.[1] ?? "");
  const html = (page: () => Page) => render(page(), navigation());
  return {
    name: "headscope-docs",
    config: () => ({
      build: {
        rollupOptions: {
          input: {
            index: join(web, "index.html"),
            ...Object.fromEntries([...make.keys()].map((name) => [name, join(web, `${name}.html`)])),
          },
        },
      },
    }),
    resolveId: {
      order: "pre",
      handler: (id) => (id.startsWith(web) && named(id) ? id : undefined),
    },
    load(id) {
      const page = id.startsWith(web) ? named(id) : undefined;
      return page && html(page);
    },
    transform: {
      order: "pre",
      handler: (code, id) =>
        // The playground computes in a worker and has an entry without wasm under this name; figures take the plain one.
        id.includes("/docs/figures/") ? code.replaceAll('from "headscope"', 'from "headscope/inline"') : undefined,
    },
    configureServer(server) {
      server.middlewares.use(async (request, response, next) => {
        const path = new URL(request.url ?? "/", "http://localhost").pathname;
        const page = named(path);
        if (!page) return next();
        response.setHeader("Content-Type", "text/html; charset=utf-8");
        response.end(await server.transformIndexHtml(path, html(page)));
      });
    },
  };
}
