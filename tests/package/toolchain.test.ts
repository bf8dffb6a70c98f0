import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after } from "node:test";
import { projectRoot } from "./packed.ts";

const folder = mkdtempSync(path.join(tmpdir(), "headscope-toolchain-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** A machine with these programs and no others. */
function machineWith(...programs: string[]): NodeJS.ProcessEnv {
  const bin = mkdtempSync(path.join(folder, "bin-"));
  for (const program of programs) {
    const { stdout } = spawnSync("sh", ["-c", `command -v ${program}`], { encoding: "utf8" });
    symlinkSync(stdout.trim(), path.join(bin, program));
  }
  return { PATH: bin, HOME: mkdtempSync(path.join(folder, "home-")) };
}

const run = (env: NodeJS.ProcessEnv, ...args: string[]) =>
  spawnSync("/bin/bash", [path.join(projectRoot, "tools/toolchain"), ...args], { env, encoding: "utf8" });

test("tools/toolchain says in one line what to install where there is no apt, and leaves nothing behind", () => {
  for (const parts of [[], ["native"], ["lint"]]) {
    const env = machineWith("dirname", "cat", "sed", "grep", "head", "mktemp", "rm");
    const { status, stdout, stderr } = run(env, "--env", ...parts);
    assert.equal(status, 1);
    assert.equal(stdout, "");
    assert.match(stderr, /^toolchain: no apt here .*install .*\n$/);
    assert.deepEqual(readdirSync(env.HOME as string), []);
  }
});

test("tools/toolchain explains itself when an argument is unknown", () => {
  const { status, stderr } = run(machineWith("dirname", "sed"), "everything");
  assert.equal(status, 2);
  assert.match(stderr, /--env/);
});

test("tools/toolchain gives the same answer twice, and again under its own environment", () => {
  const first = run(process.env, "--env");
  assert.equal(first.status, 0, first.stderr);
  const own = Object.fromEntries(
    [...first.stdout.matchAll(/^export (\w+)='(.*)'$/gm)].map(([, name, value]) => [name, value]),
  );
  for (const env of [process.env, { ...process.env, ...own }]) assert.equal(run(env, "--env").stdout, first.stdout);
});
