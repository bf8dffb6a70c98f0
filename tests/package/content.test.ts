import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { packAndInstall, projectRoot } from "./packed.ts";

const { files, tarball } = packAndInstall();
const read = (file: string) => readFileSync(path.join(projectRoot, file));
const text = (file: string) => read(file).toString("utf8");
/** cli.js is Node's alone, and no entry of the package. */
const scripts = files.filter((file) => file.endsWith(".js") && file !== "dist/cli.js");

/** The static imports of a script, and those of its imports. */
function closure(entry: string, seen = new Set<string>()): Set<string> {
  if (seen.has(entry)) return seen;
  seen.add(entry);
  for (const [, name] of text(entry).matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) closure(`dist/${name}`, seen);
  return seen;
}

test("npm pack ships the modules, both builds, declarations and the usual papers, and nothing else", () => {
  const expected =
    /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|dist\/((index|core|models|inspect|worker|worker-script|elements|elements-define|cli|relaxed|chunk-\w+)\.js|(simd|relaxed)\.wasm|[\w/-]+\.d\.ts|tokenizers\.LICENSE\.txt))$/;
  assert.deepEqual(
    files.filter((file) => !expected.test(file)),
    [],
  );
  for (const file of ["index.js", "index.d.ts", "core.js", "core.d.ts", "relaxed.js", "simd.wasm", "relaxed.wasm"]) {
    assert.ok(files.includes(`dist/${file}`), `dist/${file} is missing`);
  }
});

test("the version is the same in package.json, in the facade and in both modules", () => {
  const { version } = JSON.parse(text("package.json"));
  assert.match(text("bindings/version.ts"), new RegExp(`"${version.replaceAll(".", "\\.")}"`));
  for (const variant of ["simd", "relaxed"]) {
    assert.ok(read(`dist/${variant}.wasm`).includes(version), `${variant}.wasm was built with another version`);
  }
});

test("the package has no dependencies, no side effects but of the two scripts that run by themselves, and asks for Node.js 20", () => {
  const { dependencies, peerDependencies, sideEffects, engines, license } = JSON.parse(text("package.json"));
  assert.deepEqual({ dependencies, peerDependencies }, { dependencies: undefined, peerDependencies: undefined });
  assert.deepEqual(
    { sideEffects, engines, license },
    {
      sideEffects: ["./dist/worker-script.js", "./dist/elements-define.js"],
      engines: { node: ">=20" },
      license: "MIT",
    },
  );
});

test("what browsers get has no import.meta, no node: module, no eval and no top-level await", () => {
  for (const file of scripts) {
    const source = text(file);
    assert.doesNotMatch(source, /import\.meta|["']node:|\brequire\s*\(|\beval\s*\(|new Function\b|\bFunction\(/, file);
    // A script can be compiled as a function body only when nothing awaits outside of an async function.
    const body = source
      .replace(/\bimport\s*(\{[^}]*\}\s*from\s*)?"[^"]+";?/g, "")
      .replace(/\bexport\s*(\{[^}]*\}|\*)[^;]*;?/g, "");
    assert.doesNotThrow(() => new Function(body), file);
  }
});

test("the bytes of the relaxed build come by a dynamic import alone", () => {
  assert.ok(!closure("dist/index.js").has("dist/relaxed.js"));
  assert.match([...closure("dist/index.js")].map(text).join("\n"), /import\("\.\/relaxed\.js"\)/);
  assert.ok(
    [...closure("dist/core.js")].every((file) => !/[\w+/=]{1000,}/.test(text(file))),
    "core.js holds wasm bytes",
  );
});

test("the default entry is at most 60 KB gzipped, wasm, glue and facade together", () => {
  const sizes = [...closure("dist/index.js")].map((file) => gzipSync(read(file), { level: 9 }).length);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(total <= 60_000, `${total} bytes`);
});

// What a page pays for each entry. Recorded, so that a change of size is seen when it is made: [limit, what it holds].
const LIMITS: Readonly<Record<string, readonly [bytes: number, what: string]>> = {
  worker: [8_000, "the page's side alone: no wasm, no glue, no model code"],
  "worker-script": [105_000, "one file: the baseline build, the facade, models, tokenizers, the inspector"],
  elements: [60_000, "all seven elements, no wasm"],
};

for (const [name, [limit, what]] of Object.entries(LIMITS)) {
  test(`headscope/${name} is at most ${limit / 1000} KB gzipped: ${what}`, (t) => {
    const files = [...closure(`dist/${name}.js`)];
    const total = files.reduce((sum, file) => sum + gzipSync(read(file), { level: 9 }).length, 0);
    t.diagnostic(`${total} bytes in ${files.length} files`);
    assert.ok(total <= limit, `${total} bytes`);
    const holdsWasm = files.some((file) => /[\w+/=]{10000,}/.test(text(file)));
    assert.equal(holdsWasm, name === "worker-script");
  });
}

test("the worker's script and the elements are whole in one file, so that a copy of it is all a host needs", () => {
  for (const name of ["worker-script", "elements"]) {
    assert.deepEqual([...closure(`dist/${name}.js`)], [`dist/${name}.js`]);
    assert.ok(!/\bimport\(/.test(text(`dist/${name}.js`)), `${name} imports something later`);
  }
  assert.deepEqual([...closure("dist/elements-define.js")], ["dist/elements-define.js", "dist/elements.js"]);
});

test("publint finds nothing, warnings included", async () => {
  const { publint } = await import("publint");
  const { formatMessage } = await import("publint/utils");
  const { messages } = await publint({ pkgDir: projectRoot, strict: true, level: "warning" });
  const pkg = JSON.parse(text("package.json"));
  assert.deepEqual(
    messages.map((message) => formatMessage(message, pkg)),
    [],
  );
});

test("the types resolve for Node's ESM and for bundlers (are the types wrong)", () => {
  const attw = path.join(projectRoot, "node_modules/@arethetypeswrong/cli/dist/index.js");
  const wasm = ["./simd.wasm", "./relaxed.wasm"];
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [attw, tarball, "--profile", "esm-only", "--no-emoji", "--no-color", "--exclude-entrypoints", ...wasm],
    { encoding: "utf8" },
  );
  assert.equal(status, 0, `${stdout}\n${stderr}`);
});
