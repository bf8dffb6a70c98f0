/** The order of the heads on the page. Heads keep their numbers wherever they stand. */

export type Sort = "index" | "kind" | "entropy" | "importance";

export const sorts: readonly Sort[] = ["index", "kind", "entropy", "importance"];

export interface SortFacts {
  /** What each head does, in words: heads of one kind stand together, the clearest first. */
  readonly kinds: readonly { readonly name: string; readonly share: number }[];
  /** In bits. */
  readonly entropy: readonly number[];
  /** What is lost without the head; null until that is known. */
  readonly importance: readonly number[] | null;
}

/** Heads in the order in which they are shown. Ties, and what is not known, go by number. */
export function sortHeads(sort: Sort, { kinds, entropy, importance }: SortFacts): number[] {
  const heads = kinds.map((_, head) => head);
  const by = (value: (head: number) => number) => heads.sort((a, b) => value(a) - value(b) || a - b);
  if (sort === "entropy") return by((head) => orLast(entropy[head]));
  if (sort === "importance") return importance ? by((head) => orLast(-(importance[head] ?? Number.NaN))) : heads;
  if (sort !== "kind") return heads;
  // Kinds in the order in which they first come up, so that nothing jumps about for the sake of the alphabet.
  const first = new Map<string, number>();
  for (const [head, { name }] of kinds.entries()) if (!first.has(name)) first.set(name, head);
  const rank = (head: number) => first.get((kinds[head] as { name: string }).name) as number;
  const share = (head: number) => orLast(-(kinds[head]?.share ?? Number.NaN));
  return heads.sort((a, b) => rank(a) - rank(b) || share(a) - share(b) || a - b);
}

function orLast(value: number | undefined): number {
  return value !== undefined && Number.isFinite(value) ? value : Number.MAX_VALUE;
}
