import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";

export const projectRoot = fileURLToPath(new URL("../..", import.meta.url));

export interface Packed {
  /** The package as `npm publish` would send it. */
  readonly tarball: string;
  readonly files: readonly string[];
  /** A project of a user, with the package in its node_modules and nothing else. */
  readonly project: string;
}

/** Packs the built package and installs it into an empty project, which is removed when the tests of the file end. */
export function packAndInstall(): Packed {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "headscope-package-")));
  after(() => rmSync(folder, { recursive: true, force: true }));

  const npm = process.env.npm_execpath;
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const [command, before] = npm?.endsWith(".js") ? [process.execPath, [npm]] : ["npm", []];
  const output = execFileSync(command, [...before, ...args], { cwd: projectRoot, encoding: "utf8" });
  // npm 9 to 11 answer with a list, later ones may answer by the package's name.
  const [pack] = Object.values(JSON.parse(output)) as [{ filename: string; files: { path: string }[] }];

  const project = path.join(folder, "project");
  const files = pack.files.map((file) => file.path).sort();
  for (const file of files) {
    const to = path.join(project, "node_modules/headscope", file);
    mkdirSync(path.dirname(to), { recursive: true });
    cpSync(path.join(projectRoot, file), to);
  }
  return { tarball: path.join(folder, pack.filename), files, project };
}

/** Runs Node in a folder; the test fails with what it printed when it does not end well. */
export function runNode(cwd: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: "utf8", timeout: 120_000 });
  if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}:\n${stdout}\n${stderr}`);
  return stdout;
}

/** What a first program of a user does: a layer of one head whose query sees two keys. Prints the weights. */
export const PROGRAM = `
import { HeadscopeError, load } from "headscope";

const hs = await load();
const data = new Float32Array([1, 0, 0, 1]);
const q = { data, shape: [1, 1, 2, 2] };
const { weights } = hs.attention(q, q, q);
let refusal = "";
try {
  hs.attention(q, q, { data, shape: [1, 1, 4, 2] });
} catch (error) {
  refusal = error instanceof HeadscopeError ? "HeadscopeError" : error.name;
}
console.log(JSON.stringify({ shape: weights.shape, data: Array.from(weights.data, (x) => +x.toFixed(4)), refusal }));
`;

/** e^(1/√2) / (1 + e^(1/√2)) = 0.6698: each row of the identity attends to itself. */
export const ANSWER = { shape: [1, 1, 2, 2], data: [0.6698, 0.3302, 0.3302, 0.6698] };
