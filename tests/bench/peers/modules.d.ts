// What the bench uses of its peers, so that the type check does not need them installed.

declare module "onnxruntime-web/wasm" {
  export class Tensor {
    constructor(type: "float32", data: Float32Array, dims: readonly number[]);
    readonly data: Float32Array;
    dispose(): void;
  }
  export class InferenceSession {
    static create(
      model: Uint8Array,
      options: { executionProviders: string[]; graphOptimizationLevel: "all" },
    ): Promise<InferenceSession>;
    run(feeds: Record<string, Tensor>): Promise<Record<string, Tensor>>;
    release(): Promise<void>;
  }
  export const env: { logLevel: string; wasm: { numThreads: number; wasmBinary?: Uint8Array } };
}
