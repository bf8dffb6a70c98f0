// Small model files on disk, and the program run on them.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import type { GgufValue } from "../models/write-files.ts";
import { strings, text } from "../models/write-files.ts";

export const CLI = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

/** A folder that goes when the tests of the file end. */
export function temporaryFolder(): (name: string, bytes: Uint8Array | string) => string {
  const folder = mkdtempSync(path.join(tmpdir(), "headscope-inspect-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return (name, bytes) => {
    const file = path.join(folder, name);
    writeFileSync(file, bytes);
    return file;
  };
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Not spawnSync: a server in this process has to answer meanwhile. */
export function headscope(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CLI, ...args], { env: { ...process.env, NO_COLOR: "", ...env } });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (piece: string) => {
      stdout += piece;
    });
    child.stderr.setEncoding("utf8").on("data", (piece: string) => {
      stderr += piece;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

/** Pieces of the words of "How are", on top of the 256 bytes, and how they merge. */
const MERGES = ["H o", "Ho w", "Ġ a", "Ġa r", "Ġar e"];
export const HOW_ARE = [257, 260];
export const VOCABULARY = 256 + MERGES.length;

/** GPT-2's printable characters for the bytes: those that print, then 256 and on. */
function byteCharacters(): string[] {
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const prints = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
    return String.fromCodePoint(prints ? byte : next++);
  });
}

/** A byte-level tokenizer as keys of a GGUF file. */
export const TOKENIZER_KEYS: [string, GgufValue][] = [
  ["tokenizer.ggml.model", text("gpt2")],
  ["tokenizer.ggml.pre", text("gpt-2")],
  ["tokenizer.ggml.tokens", strings([...byteCharacters(), ...MERGES.map((merge) => merge.replace(" ", ""))])],
  ["tokenizer.ggml.merges", strings(MERGES)],
];

/** What kind of value is where: `{ a: "number", b: ["string"] }`. Arrays by their first element. */
export function structureOf(value: unknown): unknown {
  if (value === null) return "null";
  if (Array.isArray(value)) return value.length === 0 ? [] : [structureOf(value[0])];
  if (typeof value !== "object") return typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, structureOf(each)]));
}
