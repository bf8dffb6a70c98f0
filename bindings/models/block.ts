import { floatArea, type Heap, outOfMemory } from "../heap.js";
import { askMatrix, createLinear } from "./linear.js";
import type { BlockPlan, LinearPlan, ModelPlan, NormPlan } from "./plan.js";
import { StoredParts } from "./stored-parts.js";
import type { TensorReader } from "./tensor-file.js";
import { B } from "./words.js";

/**
 * How much of a block a call needs: its projections to q, k and v; the attention's output too; or all of it, where the
 * stream behind the block is needed as well.
 */
export type BlockPart = "heads" | "attention" | "whole";

const LINEARS = {
  heads: ["query", "key", "value"],
  attention: ["query", "key", "value", "output"],
  whole: ["query", "key", "value", "output", "up", "gate", "down"],
} as const;

const NORM_WORDS = ["attentionNormWeight", "attentionNormBias", "ffnNormWeight", "ffnNormBias"] as const;
const VECTOR_WORDS = [...NORM_WORDS, "ropeFactors"] as const;
const PAIRINGS = { adjacent: 1, halves: 2 } as const;
export const NORMS = { layer: 0, rms: 1 } as const;
const ACTIVATIONS = { gelu_tanh: 0, gelu_erf: 1, silu: 2, relu: 3 } as const;

/** Numbers of what is read, by StoredParts. */
interface AskedLinear {
  readonly name: (typeof LINEARS.whole)[number];
  readonly plan: LinearPlan;
  readonly weight: number;
  readonly bias: number | undefined;
}

/** Reads a block and hands it to the module. The caller owns what it answers: a native block. */
export async function loadBlock(
  heap: Heap,
  file: TensorReader,
  model: ModelPlan,
  plan: BlockPlan,
  part: BlockPart,
  signal: AbortSignal | undefined,
): Promise<number> {
  const parts = new StoredParts();
  const linears = askLinears(parts, plan, LINEARS[part]);
  const norms = askNorms(parts, model, plan, part);
  const factors = model.rope?.factors;
  const factorsPlace = typeof factors === "string" ? parts.ask(factors) : undefined;
  await parts.read(file, { signal });
  // From here on nothing is awaited, so that nobody else can get at the arena, or stop half way.
  const vector = (place: number | undefined) => (place === undefined ? undefined : file.decode(parts.get(place)));
  const normValues = norms.map(vector);
  const ropeFactors = typeof factors === "string" ? vector(factorsPlace) : factors && Float32Array.from(factors);
  const biases = linears.map(({ bias }) => vector(bias));
  const handles = new Map<AskedLinear["name"], number>();
  try {
    linears.forEach(({ name, plan: linear, weight }, i) => {
      handles.set(name, createLinear(heap, linear, parts.get(weight), biases[i]));
    });
    return createBlock(heap, model, plan, handles, [...normValues, ropeFactors]);
  } catch (error) {
    for (const handle of handles.values()) heap.native.linearDestroy(handle);
    throw error;
  }
}

function askLinears(parts: StoredParts, plan: BlockPlan, names: readonly AskedLinear["name"][]): AskedLinear[] {
  const asked: AskedLinear[] = [];
  for (const name of names) {
    const linear = plan[name];
    if (linear === undefined) continue; // no gate
    const { bias, first, columns, total } = linear;
    const rows = columns === total ? undefined : ([first, first + columns] as const);
    asked.push({
      name,
      plan: linear,
      weight: askMatrix(parts, linear),
      bias: bias === undefined ? undefined : parts.ask(bias, rows),
    });
  }
  return asked;
}

/** In the order of NORM_WORDS. Post-norm blocks normalise behind their products: not at all where those are left out. */
function askNorms(parts: StoredParts, model: ModelPlan, plan: BlockPlan, part: BlockPart): (number | undefined)[] {
  const whole = part === "whole";
  const ask = ({ weight, bias }: NormPlan) => [parts.ask(weight), bias === undefined ? undefined : parts.ask(bias)];
  return [
    ...(whole || !model.postNorm ? ask(plan.attentionNorm) : [undefined, undefined]),
    ...(whole ? ask(plan.ffnNorm) : [undefined, undefined]),
  ];
}

function createBlock(
  heap: Heap,
  model: ModelPlan,
  plan: BlockPlan,
  linears: ReadonlyMap<AskedLinear["name"], number>,
  vectors: readonly (Float32Array | undefined)[],
): number {
  const { dModel, rope } = model;
  const area = floatArea(Math.max(dModel, rope?.dims ?? 0)) * 16;
  const arena = heap.reserve("block", (vectors.length + 1) * area);
  const { u32, f32, words: w } = heap;
  u32[w + B.dModel] = dModel;
  u32[w + B.numHeads] = model.numHeads;
  u32[w + B.numKVHeads] = plan.numKVHeads;
  u32[w + B.headDim] = model.headDim;
  u32[w + B.valueHeadDim] = model.valueHeadDim;
  u32[w + B.ropePairing] = rope === undefined ? 0 : PAIRINGS[rope.pairing];
  u32[w + B.ropeDims] = rope?.dims ?? 0;
  f32[w + B.ropeBase] = rope?.base ?? 1;
  u32[w + B.norm] = NORMS[model.norm];
  u32[w + B.postNorm] = model.postNorm ? 1 : 0;
  f32[w + B.epsilon] = model.epsilon;
  u32[w + B.activation] = ACTIVATIONS[model.activation];
  vectors.forEach((values, i) => {
    const word = B[VECTOR_WORDS[i] as (typeof VECTOR_WORDS)[number]];
    u32[w + word] = values === undefined ? 0 : heap.write(arena + i * area, values);
  });
  for (const name of LINEARS.whole) u32[w + B[name]] = linears.get(name) ?? 0;
  const block = heap.native.blockCreate() >>> 0;
  if (block === 0) throw outOfMemory("block", "a block of the model", area);
  return block;
}
