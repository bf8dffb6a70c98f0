// Running programs, and where the project is.
import { spawn } from "node:child_process";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** A step that failed for a reason the user should read: printed without a stack. */
export class StepError extends Error {}

/** @param {string} line */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

/**
 * Runs a program in the project's folder and resolves with its exit code and what it printed where that was piped.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ env?: Record<string, string | undefined>, stdout?: "inherit" | "pipe" | "ignore", onLine?: (line: string) => void }} [options]
 * @returns {Promise<{ code: number, stdout: string }>}
 */
export function run(command, args, { env = {}, stdout = "inherit", onLine } = {}) {
  return new Promise((done, failed) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ["ignore", onLine ? "pipe" : stdout, "inherit"],
    });
    let text = "";
    let line = "";
    child.stdout?.setEncoding("utf8").on("data", (/** @type {string} */ data) => {
      if (!onLine) {
        text += data;
        return;
      }
      const lines = (line + data).split("\n");
      line = lines.pop() ?? "";
      for (const each of lines) onLine(each);
    });
    child.on("error", (error) => failed(new StepError(`${command} could not be started: ${error.message}`)));
    child.on("close", (code) => {
      if (onLine && line) onLine(line);
      done({ code: code ?? 1, stdout: text });
    });
  });
}

/**
 * The same, but a failure ends the step.
 * @param {string} what
 * @param {string} command
 * @param {readonly string[]} args
 * @param {Parameters<typeof run>[2]} [options]
 */
export async function must(what, command, args, options) {
  const result = await run(command, args, options);
  if (result.code !== 0) throw new StepError(`${what} failed (exit code ${result.code}).`);
  return result;
}

/**
 * The main function of a script: errors meant for the user are one line, others keep their stack.
 * @param {() => Promise<number | void>} main
 */
export async function script(main) {
  try {
    process.exitCode = (await main()) ?? 0;
  } catch (error) {
    say(
      error instanceof StepError ? `headscope: ${error.message}` : String(error instanceof Error ? error.stack : error),
    );
    process.exitCode = 1;
  }
}
