/** What each head does, in words and one number, measured on the weights at hand. */

import type { AttentionConfig, HeadStats, Tensor } from "headscope";
import { stats } from "headscope";
import { formatShare } from "../elements/format.js";
import type { HeadCaption } from "../elements/head-grid.js";
import type { MessageKey } from "../i18n/index.js";
import { say } from "../i18n/index.js";
import type { HeadNote } from "./sources/source.js";
import type { Token } from "./tokens.js";

/** From this share on a head is called by what it reads; below it is "spread out". */
const CLEAR = 0.5;

export function describeHeads(
  config: AttentionConfig,
  notes: readonly HeadNote[],
  weights: Tensor,
  tokens: readonly Token[],
  causal: boolean,
): HeadCaption[] {
  const measured = stats.heads(
    weights,
    Int32Array.from(tokens, (token) => token.id),
  );
  return Array.from({ length: config.numHeads }, (_, head) => {
    const { name, target } = notes[head] ?? {};
    if (!name || !target) return describeByStats(head, measured[head] as HeadStats, tokens);
    const share = shareOnTarget(head, target, weights, tokens, causal);
    const kind = say(name);
    if (share === null) {
      const none = say("kind.noTarget");
      return { name: kind, measure: none, spoken: say("heads.spokenKind", { head, kind: `${kind}, ${none}` }) };
    }
    return {
      name: kind,
      measure: formatShare(share),
      spoken: say("heads.spoken", { head, kind, percent: Math.round(share * 100) }),
    };
  });
}

/** Mean weight on the keys a head aims at, over the queries that have any; null where none has. */
export function shareOnTarget(
  head: number,
  target: NonNullable<HeadNote["target"]>,
  { data, shape }: Tensor,
  tokens: readonly Token[],
  causal: boolean,
): number | null {
  const [, queries, keys] = shape as [number, number, number];
  let sum = 0;
  let rows = 0;
  for (let query = 0; query < queries; query++) {
    const aims = target(tokens, query, causal);
    if (!aims) continue;
    rows++;
    for (const key of aims) sum += data[(head * queries + query) * keys + key] as number;
  }
  return rows === 0 ? null : sum / rows;
}

const KINDS = ["previous", "self", "next", "first", "duplicate", "induction", "rare"] as const;

function describeByStats(head: number, measured: HeadStats, tokens: readonly Token[]): HeadCaption {
  // Where no word comes back, every token is the rarest and the share says nothing.
  const repeats = new Set(tokens.map((token) => token.id)).size < tokens.length;
  const kinds = KINDS.filter((kind) => kind !== "rare" || repeats);
  const best = kinds.reduce((a, b) => (measured[b] > measured[a] ? b : a));
  const share = measured[best];
  if (share >= CLEAR) {
    const kind = say(`kind.${best}` satisfies MessageKey);
    return {
      name: kind,
      measure: formatShare(share),
      spoken: say("heads.spoken", { head, kind, percent: Math.round(share * 100) }),
    };
  }
  const spread = say("kind.spread");
  const bits = say("kind.bits", { bits: measured.entropy.toFixed(2) });
  return { name: spread, measure: bits, spoken: say("heads.spokenKind", { head, kind: `${spread}, ${bits}` }) };
}
