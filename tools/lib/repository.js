// What must never be in a tracked file: names of package mirrors, paths of one machine, tests that were switched off.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root, run } from "./process.js";

// Written in pieces, so that this file does not contain what it looks for.
const words = (/** @type {string[][]} */ ...parts) => new RegExp(parts.map((each) => each.join("")).join("|"));
const RULES = [
  {
    what: "names a package mirror",
    pattern: words(
      ["npm", "js\\.(org|com)"],
      ["deb\\.de", "bian"],
      ["pypi\\.", "org"],
      ["python", "hosted"],
      ["regis", "try\\.yarn"],
    ),
  },
  {
    what: "holds a path of one machine",
    pattern: words(
      ["(?<![\\w.])/wo", "rk/"],
      ["(?<![\\w.])/ro", "ot/"],
      ["(?<![\\w.])/ho", "me/\\w"],
      ["/tmp/", "\\w"],
    ),
  },
  {
    what: "switches tests off",
    pattern: words(["\\b(?:test|it|describe)\\.", "only\\("], ["\\b(?:test|it|describe)\\.", "todo\\("]),
    files: /^tests\//,
  },
  { what: "is unfinished", pattern: words(["\\bTO", "DO\\b"], ["\\bFIX", "ME\\b"], ["not imple", "mented"]) },
  { what: "stores a download address", pattern: words(['"reso', 'lved":']), files: /^package-lock\.json$/ },
];

/** @returns {Promise<string[]>} one line for each finding */
export async function checkRepository() {
  const { code, stdout } = await run("git", ["ls-files", "-z"], { stdout: "pipe" });
  if (code !== 0) return []; // a copy without its history, as from an archive
  /** @type {string[]} */
  const findings = [];
  for (const file of stdout.split("\0").filter(Boolean)) {
    let text;
    try {
      text = readFileSync(join(root, file), "utf8");
    } catch {
      continue; // deleted, not yet committed
    }
    if (text.includes("\0")) continue; // pictures
    for (const { what, pattern, files } of RULES) {
      if (files && !files.test(file)) continue;
      const lines = text.split("\n");
      const line = lines.findIndex((each) => pattern.test(each));
      if (line >= 0) findings.push(`${file}:${line + 1} ${what}: ${lines[line]?.trim().slice(0, 100)}`);
    }
  }
  return findings;
}
