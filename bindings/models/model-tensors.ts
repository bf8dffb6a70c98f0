import { shapeText } from "../describe.js";
import { suggest } from "../suggest.js";
import { fileError, quoted } from "./file-error.js";
import type { TensorInfo } from "./header.js";
import type { LinearPlan, NormPlan } from "./plan.js";

/** What an architecture asks of a file. */
export interface ModelFile {
  readonly name: string;
  readonly format: "gguf" | "safetensors";
  readonly metadata: ReadonlyMap<string, unknown>;
  readonly tensors: ReadonlyMap<string, TensorInfo>;
}

/** The tensors of a model by name, each checked against the shape that the model gives it. */
export class ModelTensors {
  readonly #file: ModelFile;
  readonly #used = new Set<string>();

  constructor(file: ModelFile) {
    this.#file = file;
  }

  has(name: string): boolean {
    return this.#file.tensors.has(name);
  }

  /** The first of several names that the file has; the first of all, which will be missed, where it has none. */
  pick(...names: readonly [string, ...string[]]): string {
    return names.find((name) => this.has(name)) ?? names[0];
  }

  optional(name: string): string | undefined {
    return this.has(name) ? name : undefined;
  }

  info(name: string): TensorInfo {
    const info = this.#file.tensors.get(name);
    if (info !== undefined) return info;
    const names = [...this.#file.tensors.keys()];
    const near = names.length <= 2000 ? suggest(name, names) : "";
    const hint = near.startsWith("did you mean") ? near : "is the file one part of several?";
    throw fileError(this.#file.name, `tensor ${quoted(name)}`, "a tensor of this name", "none", { hint });
  }

  /** A size that only the file knows. */
  size(name: string, axis: number, axes: number): number {
    const { shape } = this.info(name);
    if (shape.length === axes) return shape[axis] as number;
    throw this.#wrongShape(name, `${axes} axes`, shape);
  }

  /** Remembers that the tensor is part of the model. */
  use(name: string, shape: readonly number[]): string {
    const actual = this.info(name).shape;
    if (actual.length !== shape.length || actual.some((size, axis) => size !== shape[axis])) {
      throw this.#wrongShape(name, shapeText(shape), actual);
    }
    this.#used.add(name);
    return name;
  }

  #wrongShape(name: string, expected: string, actual: readonly number[]): Error {
    return fileError(this.#file.name, `tensor ${quoted(name)}`, expected, shapeText(actual), { code: "shape" });
  }

  norm(name: string, width: number, biased: boolean): NormPlan {
    // Files before 2019 call them gamma and beta.
    const weight = this.use(this.pick(`${name}.weight`, `${name}.gamma`), [width]);
    return { weight, bias: biased ? this.use(this.pick(`${name}.bias`, `${name}.beta`), [width]) : undefined };
  }

  linear(
    name: string,
    layout: LinearPlan["layout"],
    depth: number,
    columns: number,
    part: { readonly first: number; readonly total: number } = { first: 0, total: columns },
  ): LinearPlan {
    const { first, total } = part;
    const weight = this.use(`${name}.weight`, layout === "out-in" ? [total, depth] : [depth, total]);
    const bias = this.has(`${name}.bias`) ? this.use(`${name}.bias`, [total]) : undefined;
    return { weight, layout, depth, columns, first, total, bias };
  }

  /** Query, key and value in one matrix: all of q, then all of k, then all of v. */
  fused(
    name: string,
    layout: LinearPlan["layout"],
    depth: number,
    widths: readonly [number, number, number],
  ): { query: LinearPlan; key: LinearPlan; value: LinearPlan } {
    const [q, k, v] = widths;
    const total = q + k + v;
    const part = (first: number, columns: number) => this.linear(name, layout, depth, columns, { first, total });
    return { query: part(0, q), key: part(q, k), value: part(q + k, v) };
  }

  /**
   * Refuses tensors in a block that nothing here uses: a block that has them computes something else (norms of q and k,
   * experts, …), and maps of a model that is only nearly right are wrong maps.
   */
  refuseUnknown(inBlock: RegExp, harmless: RegExp): void {
    for (const name of this.#file.tensors.keys()) {
      if (this.#used.has(name) || !inBlock.test(name) || harmless.test(name)) continue;
      const expected = "only tensors that this architecture has";
      throw fileError(this.#file.name, `tensor ${quoted(name)}`, expected, "one that it does not use", {
        code: "unsupported",
      });
    }
  }
}
