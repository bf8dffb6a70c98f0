import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

/** Data made by others, beside the repository and no part of it. */
export const CONFORMANCE = new URL("../../../shared/conformance/", import.meta.url);

export const hasConformance = existsSync(new URL("README.md", CONFORMANCE));

export function readJson<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(name, CONFORMANCE), "utf8")) as T;
}

/** Runs `body` where the data is, else leaves one test that says it was skipped and where it looked. */
export function withConformance(what: string, body: () => void): void {
  if (hasConformance) {
    body();
    return;
  }
  const reason = `no conformance data at ${fileURLToPath(CONFORMANCE)}`;
  console.warn(`SKIPPED: ${what}: ${reason}`);
  test(what, { skip: reason }, () => {});
}
