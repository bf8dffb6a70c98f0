#!/usr/bin/env node
// The program `headscope`, the one file of the package that Node alone can run.
import { VERSION } from "../version.js";
import { escapeLine } from "./escape.js";
import type { Terminal } from "./heatmap.js";
import { inspect } from "./inspect.js";
import { printFile } from "./print-file.js";
import { printPrompt } from "./print-prompt.js";
import { toJson } from "./to-json.js";
import { HELP, readCall, UsageError } from "./usage.js";

const DEFAULT_COLUMNS = 100;

async function answer(words: readonly string[]): Promise<string> {
  const call = readCall(words);
  if (call === "help") return HELP;
  if (call === "version") return `${VERSION}\n`;
  const { file, prompt, refusal, bytesRead } = await inspect(call);
  if (call.json) return `${toJson(VERSION, file, prompt, call.head, bytesRead)}\n`;
  const columns = process.stdout.columns ?? DEFAULT_COLUMNS;
  const terminal: Terminal = { isTTY: process.stdout.isTTY === true, columns, env: process.env };
  const lines = [
    ...printFile(file, columns),
    ...(refusal === undefined ? [] : ["", `Its model cannot be run: ${escapeLine(refusal)}`]),
    ...(prompt === undefined ? [] : ["", ...printPrompt(prompt, call.head ?? 0, terminal)]),
  ];
  return `${lines.join("\n")}\n`;
}

async function main(): Promise<void> {
  // A pager that was closed has seen enough.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
  try {
    process.stdout.write(await answer(process.argv.slice(2)));
  } catch (error) {
    const usage = error instanceof UsageError;
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`headscope: ${escapeLine(message)}${usage ? " (headscope --help)" : ""}\n`);
    process.exitCode = usage ? 2 : 1;
  }
}

main();
