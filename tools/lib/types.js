// The type check: what the package promises (bindings/), the page, and the tests with the tools.
import { join } from "node:path";
import { root, run } from "./process.js";

const PROJECTS = ["bindings", "web", "tests"];

/** @returns {Promise<string[]>} the projects that do not type-check */
export async function checkTypes() {
  const failed = [];
  for (const project of PROJECTS) {
    const { code } = await run(process.execPath, [
      join(root, "node_modules/typescript/bin/tsc"),
      "--project",
      join(root, project),
      "--incremental",
      "--tsBuildInfoFile",
      join(root, "build/tsc", `${project}.json`),
    ]);
    if (code !== 0) failed.push(project);
  }
  return failed;
}

export const typeProjects = PROJECTS.length;
