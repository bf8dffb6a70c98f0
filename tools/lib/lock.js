// One build at a time in this checkout: npm start and npm test may run side by side.
import { mkdirSync, readFileSync, rmSync, statSync, utimes, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { root, say } from "./process.js";

const file = join(root, "build/lock");

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}

const HEARTBEAT_MS = 2_000;
const GIVEN_UP_MS = 30_000;

/** A run that was killed leaves its lock behind: no such process, or one of that number that never touches the file. */
function removeIfAbandoned() {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) return;
  const owner = Number(readFileSync(file, "utf8"));
  const silent = Date.now() - found.mtimeMs > GIVEN_UP_MS;
  if (silent || (owner > 0 && !isAlive(owner))) rmSync(file, { force: true });
}

function tryLock() {
  try {
    writeFileSync(file, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST") throw error;
  }
  try {
    removeIfAbandoned();
  } catch {
    // gone in the meantime: the next try gets it
  }
  return false;
}

/**
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(work) {
  mkdirSync(join(root, "build"), { recursive: true });
  for (let tries = 0; !tryLock(); tries++) {
    if (tries === 2) say("Another build is at work in this checkout: waiting for it.");
    await sleep(250);
  }
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(file, now, now, () => {}); // best effort
  }, HEARTBEAT_MS);
  const release = () => {
    clearInterval(heartbeat);
    rmSync(file, { force: true });
  };
  process.once("exit", release);
  try {
    return await work();
  } finally {
    release();
    process.off("exit", release);
  }
}
