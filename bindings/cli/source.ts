import { openAsBlob } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { UsageError } from "./usage.js";

/** A file that is not there or cannot be read: exit code 1. */
export class FileError extends Error {}

/** What a model is opened from: Node's Blob of a file reads no more than its slices ask for. */
export async function openSource(file: string): Promise<Blob | string> {
  if (isAddress(file)) return file;
  await checkFile(file);
  const blob = await openAsBlob(file);
  // Messages call a File by its name; a Blob has none.
  return Object.defineProperty(blob, "name", { value: basename(file) });
}

function isAddress(file: string): boolean {
  return /^https?:\/\//i.test(file);
}

async function checkFile(file: string): Promise<void> {
  try {
    if (!(await stat(file)).isFile()) throw new FileError(`${file}: expected a file, got a folder or a device`);
  } catch (error) {
    if (error instanceof FileError) throw error;
    throw new FileError(`${file}: ${reason(error)}`);
  }
}

function reason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR") return "there is no such file";
  if (code === "EACCES" || code === "EPERM") return "it may not be read";
  return message;
}

/** config.json or tokenizer.json: the one that was named, else what lies beside the model, else nothing. */
export async function readCompanion(
  option: "config" | "tokenizer",
  named: string | undefined,
  model: string,
): Promise<string | undefined> {
  if (named !== undefined) {
    if (isAddress(named)) throw new UsageError(`--${option}: expected a file on disk, got an address`);
    await checkFile(named);
    return readFile(named, "utf8");
  }
  if (isAddress(model)) return fetchBeside(`${option}.json`, model);
  try {
    return await readFile(join(dirname(model), `${option}.json`), "utf8");
  } catch {
    return undefined;
  }
}

async function fetchBeside(name: string, model: string): Promise<string | undefined> {
  const url = new URL(model);
  url.pathname = url.pathname.replace(/[^/]*$/, name);
  try {
    const response = await fetch(url);
    const text = response.ok ? await response.text() : "";
    return text.trimStart().startsWith("{") ? text : undefined;
  } catch {
    return undefined; // the model's own address says what is wrong, if anything is
  }
}
