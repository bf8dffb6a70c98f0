/** What the page must show, computed in Node with the package, from the same sources. */

import { load } from "headscope";
import type { WorkerHeadscope } from "headscope/worker";
import { entryById } from "../../web/playground/sources/index.js";
import type { HeadSource, LayerRun } from "../../web/playground/sources/source.js";
import { tokenize, type Unit } from "../../web/playground/tokens.js";
import { inThread } from "../support/in-thread.js";

let core: Promise<WorkerHeadscope> | undefined;

export interface Expected {
  readonly count: number;
  readonly run: LayerRun;
  weight(head: number, query: number, key: number): number;
}

export async function expected(
  text: string,
  { source = "built", unit = "character" as Unit, causal = true, off = [] as readonly number[] } = {},
): Promise<Expected> {
  core ??= load({ variant: "simd" }).then(inThread);
  const from = entryById(source).source as HeadSource;
  const open = await from.open(await core);
  const { tokens } = source === "built" ? tokenize(text, unit, from.maxTokens) : await from.tokenize(text, unit);
  const run = await open.run(tokens, { causal, layer: 0, off: new Set(off) });
  const [, queries, keys] = run.weights.shape as [number, number, number];
  return {
    count: tokens.length,
    run,
    weight: (head, query, key) => run.weights.data[(head * queries + query) * keys + key] as number,
  };
}
