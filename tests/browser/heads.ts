/** What the page must show, computed in Node with the package, from the same sources. */

import { type Headscope, load } from "headscope";
import { sourceById } from "../../web/playground/sources/index.js";
import type { LayerRun } from "../../web/playground/sources/source.js";
import { tokenize, type Unit } from "../../web/playground/tokens.js";

let core: Promise<Headscope> | undefined;

export interface Expected {
  readonly count: number;
  readonly run: LayerRun;
  weight(head: number, query: number, key: number): number;
}

export async function expected(
  text: string,
  { source = "built", unit = "character" as Unit, causal = true, off = [] as readonly number[] } = {},
): Promise<Expected> {
  core ??= load({ variant: "simd" });
  const from = sourceById(source);
  const open = await from.open(await core);
  const { tokens } = source === "built" ? tokenize(text, unit, from.maxTokens) : from.tokenize(text, unit);
  const gate = Float32Array.from({ length: from.numHeads }, (_, head) => (off.includes(head) ? 0 : 1));
  const run = await open.run(tokens, { causal, gate });
  const [, queries, keys] = run.weights.shape as [number, number, number];
  return {
    count: tokens.length,
    run,
    weight: (head, query, key) => run.weights.data[(head * queries + query) * keys + key] as number,
  };
}
