import { type Case, projectionBytes } from "./cases.ts";
import { streamModule } from "./limit.ts";

/**
 * What memory alone asks for in a case, whoever computes it, as one call to time: beside registers it is the second
 * limit. A step of decoding reads all weights, keys and values once; weights of long inputs are copied from the heap into
 * fresh arrays, whose pages the system gives one by one as they are touched. undefined where neither is worth a look.
 */
export async function memoryWork(c: Case): Promise<(() => unknown) | undefined> {
  if (c.cached > 0) {
    const cacheBytes = 4 * (c.cached + c.T) * 2 * c.G * c.d;
    return readOnce(projectionBytes(c) + cacheBytes);
  }
  if (c.weights && !c.reused && c.T >= 512) return copyToFresh([c.T * c.D, c.H * c.T * c.T]);
  return undefined;
}

/** Time of memory in a case that computes for so long at the limit: reading overlaps with computing, copying does not. */
export function leastMs(c: Case, computeMs: number, memoryMs: number | undefined): number {
  if (memoryMs === undefined) return computeMs;
  return c.cached > 0 ? Math.max(computeMs, memoryMs) : computeMs + memoryMs;
}

async function readOnce(bytes: number): Promise<() => unknown> {
  const { module, turns } = streamModule(bytes);
  const { instance } = await WebAssembly.instantiate(module);
  // Memory that was never written to is one page of zeros over and over.
  new Float32Array((instance.exports.memory as WebAssembly.Memory).buffer).fill(0.5);
  const read = instance.exports.run as (turns: number) => number;
  return () => read(turns);
}

function copyToFresh(lengths: readonly number[]): () => unknown {
  const longest = Math.max(...lengths);
  const memory = new WebAssembly.Memory({ initial: Math.ceil((longest * 4) / 65536) });
  const heap = new Float32Array(memory.buffer).fill(0.5);
  return () =>
    lengths.map((length) => {
      const copy = new Float32Array(length);
      copy.set(heap.subarray(0, length));
      return copy;
    });
}
