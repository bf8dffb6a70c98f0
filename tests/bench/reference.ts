import { type Contender, isUsual } from "./contender.ts";

type Exports = {
  memory: WebAssembly.Memory;
  _initialize?(): void;
  allocate(bytes: number): number;
  release(address: number): void;
  set_weights(width: number, heads: number, packed: number): void;
  forward(T: number, causal: number, x: number, output: number, mixed: number): void;
};

async function start(): Promise<Exports> {
  const address =
    typeof document === "undefined"
      ? new URL("../../build/wasm-simd/reference.wasm", import.meta.url)
      : new URL("reference.wasm", document.baseURI);
  const bytes =
    address.protocol === "file:"
      ? new Uint8Array(await (await import("node:fs/promises")).readFile(address))
      : await (await fetch(address)).arrayBuffer();
  const { instance } = await WebAssembly.instantiate(bytes, {
    env: { emscripten_notify_memory_growth: () => {} },
    wasi_snapshot_preview1: { proc_exit: () => {}, fd_close: () => 0, fd_write: () => 0, fd_seek: () => 0 },
  });
  const exports = instance.exports as unknown as Exports;
  exports._initialize?.();
  return exports;
}

let runtime: Promise<Exports> | undefined;

/** src/reference.cpp: plain loops in double, the oracle of the native tests. What the kernels gain is seen from here. */
export const reference: Contender = {
  name: "reference",
  tolerance: 4e-6,
  // Columns of W are read across: 128 tokens take it over a second.
  takes: (c) => isUsual(c) && c.cached === 0 && (c.T <= 16 || c.id === "D768 T128"),
  async prepare(p) {
    runtime ??= start();
    const core = await runtime;
    const { D, H, T, causal, weights } = p.case;
    const put = (address: number, ...parts: readonly Float32Array[]) => {
      let at = address;
      for (const part of parts) {
        new Float32Array(core.memory.buffer, at, part.length).set(part);
        at += part.byteLength;
      }
    };
    const packed = core.allocate(4 * (D * D + D) * 4);
    put(packed, p.wq, p.bq, p.wk, p.bk, p.wv, p.bv, p.wo, p.bo);
    core.set_weights(D, H, packed);
    core.release(packed);
    const x = core.allocate(4 * T * D);
    const output = core.allocate(4 * T * D);
    const mixed = weights ? core.allocate(4 * H * T * T) : 0;
    return {
      run() {
        put(x, p.x);
        core.forward(T, Number(causal), x, output, mixed);
        const { buffer } = core.memory;
        return {
          output: new Float32Array(buffer, output, T * D).slice(),
          weights: weights ? new Float32Array(buffer, mixed, H * T * T).slice() : undefined,
        };
      },
      dispose() {
        for (const address of [x, output, mixed]) core.release(address);
      },
    };
  },
};
