import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Result } from "./measure.ts";

export const FOLDER = fileURLToPath(new URL("../../build/bench/", import.meta.url));

/** Everything measured on this machine so far: runs of different engines and cases add up to one file. */
export interface Results {
  readonly machine: string;
  /** The programs behind the engines' names, as they call themselves. */
  readonly engines: Readonly<Record<string, string>>;
  readonly results: readonly Result[];
}

export function readResults(): Results {
  try {
    return JSON.parse(readFileSync(`${FOLDER}results.json`, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return { machine: "", engines: {}, results: [] };
  }
}

/** New results take the places of those of the same engine and case. */
export function merge(old: Results, fresh: Results): Results {
  const key = (result: Result) => `${result.engine} ${result.case}`;
  const measured = new Set(fresh.results.map(key));
  return {
    machine: fresh.machine,
    engines: { ...old.engines, ...fresh.engines },
    results: [...old.results.filter((result) => !measured.has(key(result))), ...fresh.results],
  };
}

export function writeResults(results: Results): void {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(`${FOLDER}results.json`, `${JSON.stringify(results, null, 1)}\n`);
}
