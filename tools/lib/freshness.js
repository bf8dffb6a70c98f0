// Builds only what changed: a stamp holds the hash of everything a step read and of everything it wrote. Contents count,
// not times, so a fresh clone, a switched branch and a touched file all come out right.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { root } from "./process.js";

/**
 * Every file below the given files and folders, sorted, as paths from the project's folder.
 * @param {readonly string[]} paths
 * @param {(path: string) => boolean} [keep]
 */
export function filesBelow(paths, keep = () => true) {
  /** @type {string[]} */
  const found = [];
  const visit = (/** @type {string} */ path) => {
    if (!existsSync(path) || path.endsWith("node_modules")) return;
    if (statSync(path).isDirectory()) for (const name of readdirSync(path)) visit(join(path, name));
    else found.push(relative(root, path).replaceAll("\\", "/"));
  };
  for (const path of paths) visit(join(root, path));
  return found.filter(keep).sort();
}

/** @param {readonly string[]} files */
function hashOf(files) {
  const hash = createHash("sha256");
  for (const file of files)
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update("\0");
  return hash.digest("hex");
}

/**
 * Runs `work` unless its stamp says that the same inputs gave the outputs that are there.
 * @param {string} name
 * @param {{ inputs: readonly string[], outputs: readonly string[], work: () => Promise<void> }} step
 * @returns {Promise<boolean>} whether it worked
 */
export async function unlessFresh(name, { inputs, outputs, work }) {
  const stamp = join(root, "build", `${name}.stamp`);
  const state = () => `${hashOf(inputs)} ${hashOf(filesBelow(outputs))}`;
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === state()) return false;
  // What was read is hashed before the work: a file that changes meanwhile makes the next run work again.
  const read = hashOf(inputs);
  await work();
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, `${read} ${hashOf(filesBelow(outputs))}`);
  return true;
}
