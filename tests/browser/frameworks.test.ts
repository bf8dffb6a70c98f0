// The elements in pages of React, Vue and Svelte, on a static page, and the worker out of webpack: each as its own docs
// would have it, under the strict policy.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import test, { after } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import type { Page } from "playwright-core";
import { packAndInstall, projectRoot } from "../package/packed.ts";
import { printed, writePage } from "./app.ts";
import { CSP, launchChromium, type ServedSite, serveSite } from "./launch.ts";
import { until } from "./until.ts";
import { EXPECTED, NEW_URL, workerApp } from "./worker-app.ts";

const sources = fileURLToPath(new URL("../package/frameworks/", import.meta.url));
const require = createRequire(path.join(sources, "package.json"));
/** A module of the frameworks' own folder, for Node. CommonJS may have all its names in `default`. */
async function load(name: string, wanted: string) {
  const module = await import(pathToFileURL(require.resolve(name)).href);
  return wanted in module ? module : module.default;
}

const { project } = packAndInstall();
const modules = path.join(project, "node_modules");
for (const name of readdirSync(path.join(sources, "node_modules"))) {
  if (!name.startsWith(".")) symlinkSync(path.join(sources, "node_modules", name), path.join(modules, name));
}
for (const name of ["data.ts", "react.tsx", "types.ts"])
  copyFileSync(path.join(sources, name), path.join(project, name));
writeFileSync(path.join(project, "package.json"), JSON.stringify({ type: "module", private: true }));
const browser = await launchChromium();
after(() => browser.close());

/** Bundles one entry of the project into a page with a place for the app. */
async function bundle(name: string, entry: string, define: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = path.join(project, name);
  mkdirSync(folder);
  await build({
    absWorkingDir: project,
    entryPoints: [entry],
    outfile: path.join(folder, "main.js"),
    define: { "process.env.NODE_ENV": '"production"', ...define },
    ...{ bundle: true, format: "esm", jsx: "automatic", logLevel: "silent", conditions: ["browser"] },
  });
  writePage(folder, "./main.js", '<div id="app"></div>');
  return folder;
}

/** Opens a page that has nothing to complain about, and closes it and its server however that ends. */
async function opened(folder: string, body: (page: Page, site: ServedSite) => Promise<void>): Promise<void> {
  const site = await serveSite(folder, { csp: CSP });
  const page = await browser.newPage();
  try {
    const complaints: string[] = [];
    page.on("console", (message) => complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(error.message));
    await page.goto(site.url);
    await body(page, site);
    assert.deepEqual(complaints, []);
  } finally {
    await page.close();
    await site.close();
  }
}

/** Both elements are on the page, with their properties; clicks on the second head. */
async function tryElements(page: Page): Promise<void> {
  const cards = page.locator("head-grid.heads [part~=card]");
  await cards.nth(1).waitFor();
  const given = await page.evaluate(() => {
    const [grid, map] = [document.querySelector("head-grid"), document.querySelector("head-heatmap")];
    const weights = grid?.weights;
    return {
      shape: weights && "shape" in weights ? weights.shape : undefined,
      tokens: grid?.tokens,
      causal: grid?.causal,
      scale: map?.scale,
      head: map?.head,
    };
  });
  assert.deepEqual(given, { shape: [2, 3, 3], tokens: ["a", "b", "c"], causal: true, scale: "head", head: 0 });
  await cards.nth(1).click();
  await page.locator("output", { hasText: "head 1" }).waitFor();
  await until(page, () => document.querySelector("head-heatmap")?.head === 1);
}

test("React 19 sets the elements' properties and hears their events", async () => {
  await opened(await bundle("react", "react.tsx"), tryElements);
});

test("Vue 3 sets the elements' properties and hears their events", async () => {
  const { compileScript, parse } = await load("vue/compiler-sfc", "parse");
  const { descriptor } = parse(readFileSync(path.join(sources, "App.vue"), "utf8"));
  const templateOptions = { compilerOptions: { isCustomElement: (tag: string) => tag.includes("-") } };
  const { content } = compileScript(descriptor, { id: "app", inlineTemplate: true, templateOptions });
  writeFileSync(path.join(project, "App.vue.ts"), content);
  writeFileSync(
    path.join(project, "vue.ts"),
    'import { createApp } from "vue"; import App from "./App.vue.ts"; createApp(App).mount("#app");',
  );
  const flags = ["__VUE_OPTIONS_API__", "__VUE_PROD_DEVTOOLS__", "__VUE_PROD_HYDRATION_MISMATCH_DETAILS__"];
  const folder = await bundle("vue", "vue.ts", Object.fromEntries(flags.map((flag) => [flag, "false"])));
  await opened(folder, tryElements);
});

test("Svelte 5 sets the elements' properties and hears their events", async () => {
  const { compile } = await load("svelte/compiler", "compile");
  const { js } = compile(readFileSync(path.join(sources, "App.svelte"), "utf8"), {
    generate: "client",
    css: "external",
  });
  writeFileSync(path.join(project, "App.svelte.js"), js.code);
  writeFileSync(
    path.join(project, "svelte.js"),
    'import { mount } from "svelte"; import App from "./App.svelte.js"; mount(App, { target: document.querySelector("#app") });',
  );
  await opened(await bundle("svelte", "svelte.js"), tryElements);
});

test("JSX, Vue's templates and Svelte's markup are checked against the elements", () => {
  const options = {
    ...{
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      jsx: "react-jsx",
      types: [],
      allowImportingTsExtensions: true,
    },
    ...{ target: "ES2022", module: "ESNext", moduleResolution: "bundler", lib: ["ES2022", "DOM", "DOM.Iterable"] },
  };
  const config = { compilerOptions: options, files: ["react.tsx", "types.ts"] };
  writeFileSync(path.join(project, "tsconfig.json"), JSON.stringify(config));
  const tsc = path.join(projectRoot, "node_modules/typescript/bin/tsc");
  const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", project], { encoding: "utf8" });
  assert.equal(status, 0, stdout);
});

test("one script tag on a static page shows a file of weights, under a policy without inline scripts", async () => {
  const folder = path.join(project, "static");
  mkdirSync(folder);
  for (const file of ["elements.js", "elements-define.js"]) {
    copyFileSync(path.join(modules, "headscope/dist", file), path.join(folder, file));
  }
  copyFileSync(path.join(projectRoot, "web/public/attention.json"), path.join(folder, "attention.json"));
  writePage(folder, "./elements-define.js", '<head-heatmap src="./attention.json" causal head="4"></head-heatmap>');
  await opened(folder, async (page, site) => {
    // The strongest cell of the last row of head 4, as the file has it.
    await page.locator("head-heatmap [role=grid][aria-rowcount='16']").waitFor({ state: "attached" });
    const shown = await page.evaluate(() => {
      const map = document.querySelector("head-heatmap");
      const weights = map?.weights;
      const shape = weights && "shape" in weights ? weights.shape : undefined;
      return [map?.problem, shape, map?.tokens[0], map?.causal];
    });
    assert.deepEqual(shown, [null, [8, 16, 16], "the", true]);
    assert.deepEqual(
      site.requests.filter((request) => !request.endsWith("icon.svg")),
      ["/", "/elements-define.js", "/elements.js", "/attention.json"],
    );
  });
});

test("webpack finds the worker's script by new URL", async () => {
  const { default: webpack } = await load("webpack", "default");
  const folder = path.join(project, "webpack");
  mkdirSync(folder);
  writeFileSync(path.join(project, "webpack.js"), workerApp("", NEW_URL));
  const problems = await new Promise<unknown>((resolve, reject) => {
    webpack(
      {
        context: project,
        entry: "./webpack.js",
        output: { path: folder, filename: "main.js", module: true, chunkFormat: "module" },
        experiments: { outputModule: true },
        ...{ mode: "production", devtool: false, optimization: { minimize: false }, performance: false },
      },
      (error: Error | null, stats: { toJson(): { errors: unknown[]; warnings: unknown[] } } | undefined) =>
        error || !stats ? reject(error) : resolve([...stats.toJson().errors, ...stats.toJson().warnings]),
    );
  });
  assert.deepEqual(problems, []);
  writePage(folder, "./main.js");
  assert.deepEqual(await printed(browser, folder, { csp: `${CSP}; worker-src 'self'` }), EXPECTED);
});
