/**
 * What the embedded model loses when its heads go, the least important first: measured once on two held-out texts of 256
 * tokens, in an order found on two others (web/models/prune.ts; the table is that of the model card).
 */

export const MEASURED: readonly { readonly removed: number; readonly cost: number }[] = [
  { removed: 0, cost: 0 },
  { removed: 3, cost: 0.036 },
  { removed: 6, cost: 0.133 },
  { removed: 10, cost: 0.273 },
  { removed: 13, cost: 0.335 },
  { removed: 16, cost: 0.487 },
  { removed: 19, cost: 0.506 },
  { removed: 22, cost: 0.613 },
  { removed: 26, cost: 1.16 },
  { removed: 29, cost: 1.471 },
  { removed: 32, cost: 1.881 },
];
