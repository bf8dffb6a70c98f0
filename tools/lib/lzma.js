// LZMA as bindings/unpack.cpp reads it, by Python, which Emscripten needs as well.
import { spawnSync } from "node:child_process";
import { StepError } from "./process.js";

const PROGRAM = `
import lzma, sys
settings = {"id": lzma.FILTER_LZMA1, "preset": 9 | lzma.PRESET_EXTREME, "lc": 3, "lp": 0, "pb": 0}
sys.stdout.buffer.write(lzma.compress(sys.stdin.buffer.read(), lzma.FORMAT_RAW, filters=[settings]))
`;

/** Packs bytes. */
export function pack(/** @type {Uint8Array} */ bytes) {
  const { status, stdout, stderr, error } = spawnSync("python3", ["-c", PROGRAM], { input: bytes, maxBuffer: 2 ** 28 });
  if (status !== 0) throw new StepError(`packing by python3 with its lzma module failed: ${error?.message ?? stderr}`);
  return stdout;
}
