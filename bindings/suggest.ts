/** Names that other libraries use for the same thing, without case and separators. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  attnmask: "mask",
  attentionmask: "mask",
  iscausal: "causal",
  unidirectional: "causal",
  attnbias: "bias",
  attentionbias: "bias",
  keypaddingmask: "keyPadding",
  slidingwindow: "window",
  logitsoftcap: "softcap",
  embeddim: "dModel",
  hiddensize: "dModel",
  nembd: "dModel",
  heads: "numHeads",
  nhead: "numHeads",
  numattentionheads: "numHeads",
  kvheads: "numKVHeads",
  kvnumheads: "numKVHeads",
  numkeyvalueheads: "numKVHeads",
  kdim: "keyDim",
  vdim: "valueDim",
  keydim: "headDim",
  ropetheta: "rope",
  theta: "base",
  attention: "weights",
  attentions: "weights",
  attn: "weights",
  probs: "weights",
  logits: "scores",
};

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

/** Levenshtein distance of two short words. */
function distance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; ++i) {
    const row = [i];
    for (let j = 1; j <= b.length; ++j) {
      const changed = (above[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(changed, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    above = row;
  }
  return above[b.length] ?? 0;
}

/** The hint for a name that is not among the known ones: the likely one, or all of them. */
export function suggest(name: string, known: readonly string[]): string {
  const wanted = plain(name.slice(0, 40));
  const other = Object.hasOwn(OTHER_NAMES, wanted) ? OTHER_NAMES[wanted] : undefined;
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of known) {
    const d = distance(wanted, plain(candidate));
    if (d < bestDistance) {
      best = candidate;
      bestDistance = d;
    }
  }
  const chosen = bestDistance > 0 && other !== undefined && known.includes(other) ? other : best;
  return chosen === undefined ? `known are ${known.join(", ")}` : `did you mean "${chosen}"?`;
}
