// Fault L02: a bundler's output must hold or find everything, with nothing configured.
import assert from "node:assert/strict";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { build as esbuild } from "esbuild";
import { build as vite } from "vite";
import { ANSWER, PROGRAM, packAndInstall, runNode } from "./packed.ts";

const { project } = packAndInstall();
const entry = path.join(project, "app.js");
writeFileSync(entry, PROGRAM);
writeFileSync(path.join(project, "package.json"), JSON.stringify({ type: "module" }));
const expected = { ...ANSWER, refusal: "HeadscopeError" };

test("L02: esbuild's bundle in one file runs alone", async () => {
  const outfile = path.join(project, "esbuild-one/app.js");
  await esbuild({ entryPoints: [entry], outfile, bundle: true, format: "esm", logLevel: "silent" });
  assert.deepEqual(JSON.parse(runNode(project, [outfile])), expected);
});

test("L02: esbuild's split bundle keeps the relaxed build out of the first file", async () => {
  const outdir = path.join(project, "esbuild-split");
  await esbuild({
    entryPoints: [entry],
    ...{ outdir, bundle: true, splitting: true, format: "esm", minify: true, logLevel: "silent" },
  });
  assert.ok(readdirSync(outdir).length > 1);
  assert.deepEqual(JSON.parse(runNode(project, [path.join(outdir, "app.js")])), expected);
});

test("L02: Vite's (Rollup's) library build runs", async () => {
  const outDir = path.join(project, "vite");
  await vite({
    ...{ root: project, configFile: false, logLevel: "error", clearScreen: false },
    build: { outDir, lib: { entry, formats: ["es"], fileName: "app" } },
  });
  assert.ok(existsSync(path.join(outDir, "app.js")));
  assert.deepEqual(JSON.parse(runNode(project, [path.join(outDir, "app.js")])), expected);
});

test("bundlers keep the scripts that run by themselves, and drop entries from which nothing is taken", async () => {
  const lines = {
    "headscope/elements/define": /customElements\.define/,
    "headscope/worker-script": /addEventListener\("message"/,
    "headscope/elements": null,
    "headscope/worker": null,
    "headscope/models": null,
    headscope: null,
  };
  for (const [name, kept] of Object.entries(lines)) {
    const contents = `import "${name}"; console.log("app");`;
    const { outputFiles } = await esbuild({
      stdin: { contents, resolveDir: project },
      ...{ bundle: true, format: "esm", write: false, logLevel: "silent" },
    });
    const text = outputFiles[0]?.text;
    assert.ok(text);
    if (kept) assert.ok(kept.test(text), `${name} was dropped`);
    else assert.ok(text.length < 200, `${name} left ${text.length} characters`);
  }
});
