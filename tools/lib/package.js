// build/wasm-*/ and bindings/ → dist/: the npm package.
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { filesBelow, unlessFresh } from "./freshness.js";
import { pack } from "./lzma.js";
import { must, root, StepError, say } from "./process.js";

const variants = /** @type {const} */ (["simd", "relaxed"]);
const glueOf = (/** @type {string} */ variant) => join(root, `build/wasm-${variant}/headscope.mjs`);
const wasmOf = (/** @type {string} */ variant) => join(root, `build/wasm-${variant}/headscope.wasm`);
const unpacker = join(root, "build/wasm-simd/unpack.wasm");

/** Writes only what differs, so that watchers and type checkers see no change where there is none. */
function writeIfChanged(/** @type {string} */ file, /** @type {string} */ text) {
  if (existsSync(file) && readFileSync(file, "utf8") === text) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** A module of constants, and its types. */
function writeBytes(
  /** @type {string} */ folder,
  /** @type {string} */ name,
  /** @type {Readonly<Record<string, string>>} */ constants,
) {
  const lines = Object.entries(constants);
  writeIfChanged(
    join(folder, `${name}-bytes.js`),
    lines.map(([each, value]) => `export const ${each} = ${value};\n`).join(""),
  );
  writeIfChanged(
    join(folder, `${name}-bytes.d.ts`),
    lines.map(([each, value]) => `export const ${each}: ${value.startsWith('"') ? "string" : "number"};\n`).join(""),
  );
}

/** bindings/generated/: the glue and the bytes of both builds, each with its types. */
function writeGenerated() {
  const folder = join(root, "bindings/generated");
  const [glue, other] = variants.map((variant) => readFileSync(glueOf(variant), "utf8"));
  if (glue === undefined || glue !== other) {
    // Export names are minified in order, so the same exports give the same glue. One copy then serves both modules.
    throw new StepError("the glue of the two wasm builds differs: their imports or exports are no longer the same.");
  }
  writeIfChanged(join(folder, "glue.mjs"), glue);
  writeIfChanged(
    join(folder, "glue.d.mts"),
    `import type { NativeModule } from "../abi.js";

export default function createModule(options: {
  instantiateWasm(
    imports: WebAssembly.Imports,
    done: (instance: WebAssembly.Instance, module?: WebAssembly.Module) => void,
  ): object;
}): Promise<NativeModule>;
`,
  );
  for (const variant of variants) {
    const bytes = readFileSync(wasmOf(variant));
    writeBytes(folder, variant, {
      size: String(bytes.length),
      packedBase64: JSON.stringify(pack(bytes).toString("base64")),
    });
  }
  writeBytes(folder, "unpacker", { unpackerBase64: JSON.stringify(readFileSync(unpacker).toString("base64")) });
}

/** What browsers and terminals get. */
async function bundle(/** @type {string} */ outdir) {
  const esbuild = await import("esbuild");
  /** @type {import("esbuild").BuildOptions} */
  const common = {
    absWorkingDir: root,
    outdir,
    bundle: true,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    minify: true,
    legalComments: "none",
    logLevel: "warning",
  };
  // Shared code in chunks, so that `instanceof` holds across entries.
  await esbuild.build({
    ...common,
    entryPoints: {
      index: "bindings/index.ts",
      core: "bindings/core.ts",
      models: "bindings/models/index.ts",
      inspect: "bindings/inspect/index.ts",
      worker: "bindings/worker/index.ts",
      relaxed: "bindings/generated/relaxed-bytes.js",
    },
    splitting: true,
    chunkNames: "[name]-[hash]",
  });
  // The worker's script is one file without imports, so that every bundler can take it and every host can serve a copy.
  await esbuild.build({ ...common, entryPoints: { "worker-script": "bindings/worker/script.ts" }, format: "iife" });
  // Elements take prices from the facade and nothing that loads a module. A script tag and an import get the same classes.
  const alias = { headscope: "./bindings/public.ts" };
  await esbuild.build({ ...common, entryPoints: { elements: "web/elements/index.ts" }, alias });
  writeFileSync(join(outdir, "elements-define.js"), 'import{defineElements}from"./elements.js";defineElements();\n');
  // The program for terminals uses the package as anyone does, by its public entries, so that nothing of Node gets into
  // what browsers get and no code is cut in two for its sake.
  await esbuild.build({
    ...common,
    entryPoints: { cli: "bindings/cli/main.ts" },
    external: ["headscope", "headscope/*"],
    platform: "node",
    target: "node20",
  });
}

/** Declarations of a project's files. */
async function tsc(/** @type {string} */ project, /** @type {string} */ outdir) {
  rmSync(outdir, { recursive: true, force: true });
  const options = ["--noEmit", "false", "--emitDeclarationOnly", "--outDir", outdir];
  await must(`the type check of ${project}/`, process.execPath, [
    join(root, "node_modules/typescript/bin/tsc"),
    ...["-p", `${project}/tsconfig.json`, ...options],
  ]);
}

/** Only the declarations that the entries lead to are shipped. */
function ship(/** @type {string} */ from, /** @type {readonly string[]} */ entries, /** @type {string} */ to) {
  /** @type {Set<string>} */
  const wanted = new Set();
  const visit = (/** @type {string} */ file) => {
    if (wanted.has(file) || !existsSync(file)) return;
    wanted.add(file);
    for (const [, specifier = ""] of readFileSync(file, "utf8").matchAll(/(?:from|import\()\s*"(\.[^"]+)\.js"/g)) {
      visit(join(dirname(file), `${specifier}.d.ts`));
    }
  };
  for (const entry of entries) visit(join(from, `${entry}.d.ts`));
  for (const file of wanted) cpSync(file, join(to, relative(from, file)));
}

async function declare(/** @type {string} */ outdir) {
  const types = join(root, "build/types");
  const elementTypes = join(root, "build/types-elements");
  await Promise.all([tsc("bindings", types), tsc("web/elements", elementTypes)]);
  ship(types, ["index", "core", "models/index", "inspect/index", "worker/index", "worker/script"], outdir);
  ship(join(elementTypes, "web/elements"), ["index", "register"], join(outdir, "elements"));
  // Written by hand: they name frameworks that are not there, and are for who has them.
  cpSync(join(root, "web/elements/frameworks"), join(outdir, "elements/frameworks"), { recursive: true });
}

/** Every file by a rename, then what is left over goes: a program that reads dist/ meanwhile never finds half a file. */
function publish(/** @type {string} */ from, /** @type {string} */ to) {
  const fresh = filesBelow([relative(root, from)]).map((file) => relative(from, join(root, file)));
  for (const file of fresh) {
    mkdirSync(dirname(join(to, file)), { recursive: true });
    renameSync(join(from, file), join(to, file));
  }
  for (const file of filesBelow([relative(root, to)])) {
    if (!fresh.includes(relative(to, join(root, file)))) rmSync(join(root, file));
  }
}

export async function buildPackage() {
  const inputs = [
    ...filesBelow(
      ["bindings", "web/elements"],
      (file) => /\.(ts|json)$/.test(file) && !file.startsWith("bindings/generated/"),
    ),
    ...variants.flatMap((variant) => [relative(root, glueOf(variant)), relative(root, wasmOf(variant))]),
    relative(root, unpacker),
    ...["package.json", "package-lock.json", "tsconfig.json", "tools/lib/package.js", "tools/lib/lzma.js"],
  ];
  return unlessFresh("package", {
    inputs,
    outputs: ["dist", "bindings/generated"],
    async work() {
      say("Packing dist/");
      writeGenerated();
      const staging = join(root, "build/dist");
      rmSync(staging, { recursive: true, force: true });
      await bundle(staging);
      await declare(staging);
      for (const variant of variants) cpSync(wasmOf(variant), join(staging, `${variant}.wasm`));
      // Part of models.js, under the Apache licence, whose text goes with it.
      cpSync(join(root, "node_modules/@huggingface/tokenizers/LICENSE"), join(staging, "tokenizers.LICENSE.txt"));
      publish(staging, join(root, "dist"));
      rmSync(staging, { recursive: true, force: true });
    },
  });
}
