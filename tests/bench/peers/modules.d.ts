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

declare module "@tensorflow/tfjs-core" {
  export interface TfTensor {
    dataSync(): Float32Array;
    dispose(): void;
  }
  export function tensor(data: Float32Array, shape: readonly number[]): TfTensor;
  export function reshape(x: TfTensor, shape: readonly number[]): TfTensor;
  export function transpose(x: TfTensor, permutation: readonly number[]): TfTensor;
  export function matMul(a: TfTensor, b: TfTensor, transposeA?: boolean, transposeB?: boolean): TfTensor;
  export function mul(a: TfTensor, b: TfTensor | number): TfTensor;
  export function add(a: TfTensor, b: TfTensor): TfTensor;
  export function concat(parts: readonly TfTensor[], axis: number): TfTensor;
  export function split(x: TfTensor, sizes: readonly number[], axis: number): TfTensor[];
  export function softmax(x: TfTensor): TfTensor;
  export function tidy(call: () => void): void;
  export function setBackend(name: "wasm"): Promise<boolean>;
  export function ready(): Promise<void>;
  export function env(): { set(flag: string, value: boolean): void };
  export const fused: { matMul(options: { a: TfTensor; b: TfTensor; bias: TfTensor }): TfTensor };
}

declare module "@tensorflow/tfjs-backend-wasm" {
  export function setWasmPaths(prefix: string): void;
}

declare module "@jax-js/jax" {
  export interface JaxArray {
    /** The array itself, to be used once more: every use gives one reference back. */
    readonly ref: JaxArray;
    reshape(shape: readonly number[]): JaxArray;
    transpose(permutation: readonly number[]): JaxArray;
    add(other: JaxArray): JaxArray;
    mul(factor: number): JaxArray;
    dataSync(): Float32Array;
    dispose(): void;
  }
  export const numpy: {
    array(data: Float32Array, options: { shape: readonly number[] }): JaxArray;
    matmul(a: JaxArray, b: JaxArray): JaxArray;
    concatenate(parts: readonly JaxArray[], axis: number): JaxArray;
  };
  export const nn: { softmax(x: JaxArray, axis: number): JaxArray };
  export function init(device: "wasm"): Promise<unknown>;
  export function defaultDevice(device: "wasm"): unknown;
  export function jit(call: (...args: JaxArray[]) => JaxArray[]): (...args: JaxArray[]) => JaxArray[];
}

declare module "ml-matrix" {
  export class Matrix {
    constructor(rows: number, columns: number);
    static from1DArray(rows: number, columns: number, data: ArrayLike<number>): Matrix;
    readonly rows: number;
    readonly columns: number;
    mmul(other: Matrix): Matrix;
    transpose(): Matrix;
    addRowVector(row: ArrayLike<number>): this;
    mul(factor: number): this;
    subMatrix(firstRow: number, lastRow: number, firstColumn: number, lastColumn: number): Matrix;
    setSubMatrix(part: Matrix, row: number, column: number): this;
    get(row: number, column: number): number;
    set(row: number, column: number, value: number): this;
    to1DArray(): number[];
  }
}

declare module "@ruvector/attention-wasm" {
  export function initSync(options: { module: Uint8Array }): unknown;
  export class WasmMultiHeadAttention {
    constructor(width: number, heads: number);
    compute(query: Float32Array, keys: Float32Array[], values: Float32Array[]): Float32Array;
    free(): void;
  }
}
