/** Where the numbers of a model are in its file: what the architectures answer, and all that running one needs to know. */

/** One matrix product: x [rows, depth] to y [rows, columns]. It may be part of a fused matrix. */
export interface LinearPlan {
  readonly weight: string;
  /** As the file has it: `"out-in"` is [total, depth] row-major, `"in-out"` [depth, total]. */
  readonly layout: "in-out" | "out-in";
  readonly depth: number;
  readonly columns: number;
  /** The first of its columns in the stored matrix, and how many that has. */
  readonly first: number;
  readonly total: number;
  /** [total], of which `first` to `first + columns` belong to it. */
  readonly bias?: string | undefined;
}

export interface NormPlan {
  readonly weight: string;
  readonly bias?: string | undefined;
}

/** The projections of a block, in the names of the module's words. */
export interface BlockLinears {
  readonly query: LinearPlan;
  readonly key: LinearPlan;
  readonly value: LinearPlan;
  readonly output: LinearPlan;
  readonly up: LinearPlan;
  /** Only in a gated feed-forward network. */
  readonly gate?: LinearPlan | undefined;
  readonly down: LinearPlan;
}

export interface BlockPlan extends BlockLinears {
  readonly numKVHeads: number;
  readonly scale: number;
  readonly attentionNorm: NormPlan;
  readonly ffnNorm: NormPlan;
}

export type Activation = "gelu_tanh" | "gelu_erf" | "silu" | "relu";

export interface RopePlan {
  readonly pairing: "adjacent" | "halves";
  readonly dims: number;
  readonly base: number;
  /** What the frequency of each pair is divided by [dims / 2]: the numbers, or the tensor that has them. */
  readonly factors?: readonly number[] | string | undefined;
}

export interface ModelPlan {
  readonly architecture: "gpt2" | "bert" | "llama";
  readonly dModel: number;
  readonly numHeads: number;
  readonly headDim: number;
  readonly valueHeadDim: number;
  readonly contextLength: number;
  readonly vocabularySize: number;
  readonly causal: boolean;
  /** How many keys before its own a query sees; undefined: all. */
  readonly windowLeft?: number | undefined;
  readonly rope?: RopePlan | undefined;
  readonly norm: "layer" | "rms";
  readonly postNorm: boolean;
  readonly epsilon: number;
  readonly activation: Activation;
  readonly blocks: readonly BlockPlan[];
  /** [V, D] */
  readonly tokenEmbedding: string;
  /** [P, D] */
  readonly positionEmbedding?: string | undefined;
  /** [token types, D], of which row 0 is added. */
  readonly tokenTypeEmbedding?: string | undefined;
  readonly embeddingNorm?: NormPlan | undefined;
  readonly finalNorm?: NormPlan | undefined;
  /** [V, D], out-in: what gives the next token's logits. The token embedding where the two are tied. */
  readonly head?: { readonly weight: string; readonly bias?: string | undefined } | undefined;
}
