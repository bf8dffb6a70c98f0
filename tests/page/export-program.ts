/** Runs the programs that the page hands out, as a visitor would: as a module beside the installed package. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Tensor } from "headscope";

// Inside the package, where its own name leads to what is built.
const build = fileURLToPath(new URL("../../build", import.meta.url));
mkdirSync(build, { recursive: true });
export const folder = mkdtempSync(join(build, "export-code-"));
after(() => rmSync(folder, { recursive: true }));

let programs = 0;

/** Its weights, and the lines that it prints. */
export async function runProgram(code: string): Promise<{ weights: Tensor; lines: string[] }> {
  const file = join(folder, `program-${programs++}.mjs`);
  writeFileSync(file, `${code}export { weights };\n`);
  const lines: string[] = [];
  const { log } = console;
  console.log = (...parts: unknown[]) => void lines.push(parts.map(String).join(" "));
  try {
    const { weights } = await import(pathToFileURL(file).href);
    return { weights, lines };
  } finally {
    console.log = log;
  }
}
