import { normalise } from "./normalise.js";
import type { NormPlan } from "./plan.js";
import type { TensorPart } from "./tensor-file.js";
import type { Weights } from "./weights.js";

/**
 * What goes into the first block, [T, D]: each token's row of the embedding, plus that of its position and of token type
 * 0 where the model has them, normalised where it has a norm there. Only these rows are read.
 */
export async function embed(
  weights: Weights,
  ids: readonly number[],
  keep: boolean,
  signal: AbortSignal | undefined,
): Promise<Float32Array> {
  const { plan, heap } = weights;
  const { dModel, embeddingNorm } = plan;
  const unique = [...new Set(ids)];
  const parts: TensorPart[] = unique.map((id) => ({ name: plan.tokenEmbedding, rows: [id, id + 1] }));
  const add = (part: TensorPart): number => parts.push(part) - 1;
  const positions =
    plan.positionEmbedding === undefined ? -1 : add({ name: plan.positionEmbedding, rows: [0, ids.length] });
  const type = plan.tokenTypeEmbedding === undefined ? -1 : add({ name: plan.tokenTypeEmbedding, rows: [0, 1] });
  const norm = embeddingNorm === undefined ? [] : normParts(embeddingNorm).map(add);

  const values = await weights.vectors(parts, keep, signal);
  const places = new Map(unique.map((id, i) => [id, i]));
  const x = new Float32Array(ids.length * dModel);
  ids.forEach((id, t) => {
    const row = values[places.get(id) as number] as Float32Array;
    // In the order in which PyTorch and ggml add them: the sums round alike.
    for (let d = 0; d < dModel; ++d) {
      let sum = row[d] as number;
      if (type >= 0) sum = Math.fround(sum + (values[type]?.[d] as number));
      if (positions >= 0) sum = Math.fround(sum + (values[positions]?.[t * dModel + d] as number));
      x[t * dModel + d] = sum;
    }
  });
  const [weight, bias] = norm.map((place) => values[place]);
  if (weight !== undefined) normalise(heap, plan.norm, x, weight, bias, plan.epsilon);
  return x;
}

export function normParts({ weight, bias }: NormPlan): TensorPart[] {
  return bias === undefined ? [{ name: weight }] : [{ name: weight }, { name: bias }];
}
