/** One piece of work that every contender does: a whole layer with projections and biases, float32, one thread, batch 1. */
export interface Case {
  /** What the results are kept under: `D768 T128`, `D768 T1024 causal weights`, `D768 decode1024` … */
  readonly id: string;
  readonly group: Group;
  /** Width of the model, query heads, K/V heads, width of a head. */
  readonly D: number;
  readonly H: number;
  readonly G: number;
  readonly d: number;
  /** New tokens, and tokens that the K/V cache holds already. */
  readonly T: number;
  readonly cached: number;
  readonly causal: boolean;
  /** Whether every head's weights come back too, as an array of the caller's. */
  readonly weights: boolean;
  /** Results may go into the arrays of the call before; who cannot write into given memory returns fresh ones here too. */
  readonly reused: boolean;
  /** Attention alone, on heads that are projected already. */
  readonly core: boolean;
}

export const GROUPS = ["tiny", "short", "middle", "long", "decode", "grouped", "core"] as const;
export type Group = (typeof GROUPS)[number];

function layer(D: number, H: number, T: number, causal: boolean, weights: boolean, group: Group): Case {
  const id = `D${D} T${T}${causal ? " causal" : ""}${weights ? " weights" : ""}`;
  return { id, group, D, H, G: H, d: D / H, T, cached: 0, causal, weights, reused: false, core: false };
}

function decode(D: number, H: number, G: number, d: number, cached: number, weights: boolean, group: Group): Case {
  const heads = group === "grouped" ? ` H${H}:${G}` : "";
  const id = `D${D}${heads} decode${cached}${weights ? " weights" : ""}`;
  return { id, group, D, H, G, d, T: 1, cached, causal: false, weights, reused: false, core: false };
}

function reused(D: number, H: number, T: number, causal: boolean): Case {
  const fresh = layer(D, H, T, causal, true, group(T));
  return { ...fresh, id: `${fresh.id} reused`, group: D === 8 ? "tiny" : fresh.group, reused: true };
}

const FOUR = [
  { causal: false, weights: false },
  { causal: false, weights: true },
  { causal: true, weights: false },
  { causal: true, weights: true },
];
const group = (T: number): Group => (T <= 64 ? "short" : T <= 256 ? "middle" : "long");

export const CASES: readonly Case[] = [
  ...FOUR.map((each) => layer(8, 2, 4, each.causal, each.weights, "tiny")),
  ...[16, 64, 128, 256, 512, 1024].flatMap((T) =>
    FOUR.map((each) => layer(768, 12, T, each.causal, each.weights, group(T))),
  ),
  reused(8, 2, 4, false),
  reused(768, 12, 1024, false),
  reused(768, 12, 1024, true),
  layer(512, 8, 128, false, false, "middle"),
  layer(512, 8, 128, false, true, "middle"),
  ...[128, 1024].flatMap((cached) => [false, true].map((w) => decode(768, 12, 12, 64, cached, w, "decode"))),
  // A narrow model, so that what is timed is reading the cache and not the projections.
  ...[32, 8, 1].map((G) => decode(128, 32, G, 64, 4096, false, "grouped")),
  ...[16, 128, 512].map((T): Case => ({ ...layer(768, 12, T, false, false, "core"), id: `core T${T}`, core: true })),
];

/** Query-key pairs that a head looks at. */
export function visiblePairs({ T, cached, causal }: Pick<Case, "T" | "cached" | "causal">): number {
  return causal ? T * cached + (T * (T + 1)) / 2 : T * (cached + T);
}

/** One multiply-add is two. Counted over visible pairs: what a mask hides is not work. Projections of new tokens only. */
export function flops(c: Case): number {
  const attention = 4 * visiblePairs(c) * c.H * c.d;
  if (c.core) return attention;
  const projections = 2 * c.T * c.D * (2 * c.H * c.d + 2 * c.G * c.d);
  return projections + attention;
}

/** Bytes of the four projections. */
export function projectionBytes(c: Case): number {
  return c.core ? 0 : 4 * c.D * (2 * c.H * c.d + 2 * c.G * c.d);
}

/** Cases whose id or group is named, or begins with a name that ends in `*`; all of them without names. */
export function chooseCases(names: readonly string[]): Case[] {
  const wanted = (c: Case) =>
    names.some((name) =>
      name.endsWith("*") ? c.id.startsWith(name.slice(0, -1)) : name === c.id || name === c.group || name === "all",
    );
  return CASES.filter((c) => names.length === 0 || wanted(c));
}
