import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { nodeFlags } from "../../tools/lib/node-flags.js";
import { browserEngine } from "./browsers.ts";
import type { EngineName } from "./options.ts";
import type { Job, Report } from "./run.ts";

export interface Engine {
  /** What the program calls itself. */
  readonly description: string;
  run(job: Job, report: (report: Report) => void): Promise<void>;
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** A Node.js program; relaxed SIMD is switched on where it needs to be. */
async function nodeEngine(program: string): Promise<Engine> {
  // The flags are found out by the program itself: what this one needs says nothing about that one.
  const probe = `(${nodeFlags})().concat(process.version).join(" ")`;
  const found = (await lines(program, ["-p", probe], () => {})).trim().split(" ");
  const version = found.pop();
  return {
    description: `Node.js ${version?.slice(1)}`,
    async run(job, report) {
      const args = ["--import", "tsx", ...found, here("in-node.ts"), JSON.stringify(job)];
      await lines(program, args, (line) => report(JSON.parse(line)));
    },
  };
}

function lines(program: string, args: readonly string[], each: (line: string) => void): Promise<string> {
  return new Promise((done, failed) => {
    const child = spawn(program, args, { cwd: here("../.."), stdio: ["ignore", "pipe", "inherit"] });
    let all = "";
    let rest = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      all += text;
      const complete = (rest + text).split("\n");
      rest = complete.pop() as string;
      complete.forEach(each);
    });
    child.on("error", failed);
    child.on("close", (code) => {
      if (code === 0) done(all);
      else failed(new Error(`${program} ended with code ${code}`));
    });
  });
}

export async function startEngine(name: EngineName): Promise<Engine> {
  switch (name) {
    case "node":
    case "node20":
      if (name === "node20" && !process.version.startsWith("v20.")) {
        throw new Error(`node20 is the Node.js that runs the bench, and this is ${process.version}`);
      }
      return nodeEngine(process.execPath);
    case "node24":
    case "node26":
      return nodeEngine(here(`engines/node_modules/${name}/bin/node`));
    default:
      return browserEngine(name);
  }
}
