/** What each head does, in words and one number, measured on the weights at hand. */

import type { AttentionConfig, HeadStats, Tensor } from "headscope";
import { stats } from "headscope";
import { formatShare } from "../elements/format.js";
import { say } from "../i18n/index.js";
import type { HeadNote } from "./sources/source.js";
import type { Token } from "./tokens.js";

/** From this share on a head is called by what it reads; below it is "spread out". */
const CLEAR = 0.5;

export interface HeadWords {
  /** What the head does, "previous token". */
  readonly name: string;
  /** The measure beside it, "0.98". */
  readonly measure: string;
  /** For the ear: "head 0: 98 % on the previous token". */
  readonly spoken: string;
  /** How much of its weight goes where its name says; NaN for heads that spread it. */
  readonly share: number;
  /** In bits, averaged over the queries. */
  readonly entropy: number;
}

export function describeHeads(
  config: AttentionConfig,
  notes: readonly HeadNote[],
  weights: Tensor,
  tokens: readonly Token[],
  causal: boolean,
): HeadWords[] {
  const measured = stats.heads(
    weights,
    Int32Array.from(tokens, (token) => token.id),
  );
  return Array.from({ length: config.numHeads }, (_, head) => {
    const { name, target } = notes[head] ?? {};
    const stat = measured[head] as HeadStats;
    const { entropy } = stat;
    if (!name) return { ...describeByStats(head, stat, tokens), entropy };
    if (!target) return { ...spread(head, say(name), stat), entropy };
    return { ...aimed(head, say(name), shareOnTarget(head, target, weights, tokens, causal)), entropy };
  });
}

type Words = Omit<HeadWords, "entropy">;

function aimed(head: number, kind: string, share: number | null): Words {
  if (share === null) {
    const spoken = say("heads.spokenKind", { head, kind: `${kind}, ${say("kind.noTarget")}` });
    return { name: kind, measure: "—", spoken, share: Number.NaN };
  }
  const percent = Math.round(share * 100);
  return { name: kind, measure: formatShare(share), spoken: say("heads.spoken", { head, kind, percent }), share };
}

function spread(head: number, kind: string, { entropy }: HeadStats): Words {
  const measure = say("kind.bits", { bits: entropy.toFixed(2) });
  const spoken = say("heads.spokenKind", { head, kind: `${kind}, ${measure}` });
  return { name: kind, measure, spoken, share: Number.NaN };
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

function describeByStats(head: number, measured: HeadStats, tokens: readonly Token[]): Words {
  // Where no word comes back, every token is the rarest and the share says nothing.
  const repeats = new Set(tokens.map((token) => token.id)).size < tokens.length;
  const kinds = KINDS.filter((kind) => kind !== "rare" || repeats);
  const best = kinds.reduce((a, b) => (measured[b] > measured[a] ? b : a));
  const share = measured[best];
  return share >= CLEAR ? aimed(head, say(`kind.${best}`), share) : spread(head, say("kind.spread"), measured);
}
