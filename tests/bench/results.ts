import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Result } from "./measure.ts";
import type { First, Lengths } from "./special.ts";

export const FOLDER = fileURLToPath(new URL("../../build/bench/", import.meta.url));

/** Everything measured on this machine so far: runs of different engines and cases add up to one file. */
export interface Results {
  readonly machine: string;
  /** The programs behind the engines' names, as they call themselves. */
  readonly engines: Readonly<Record<string, string>>;
  readonly results: readonly Result[];
  /** By engine. */
  readonly first?: Readonly<Record<string, readonly First[]>>;
  readonly lengths?: Readonly<Record<string, readonly Lengths[]>>;
  /** What the default entry weighs: its files that are always loaded, gzipped. */
  readonly entryBytes?: number;
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
    ...old,
    ...fresh,
    first: { ...old.first, ...fresh.first },
    lengths: { ...old.lengths, ...fresh.lengths },
    machine: fresh.machine,
    engines: { ...old.engines, ...fresh.engines },
    results: [...old.results.filter((result) => !measured.has(key(result))), ...fresh.results],
  };
}

export function writeResults(results: Results): void {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(`${FOLDER}results.json`, `${JSON.stringify(results, null, 1)}\n`);
}
