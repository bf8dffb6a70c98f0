import { type FileReport, type PromptReport, REFERENCE_WEIGHTS } from "headscope/inspect";

/** One object. Numbers that JSON has no word for (NaN, infinity) are null, and so are weights that the mask hides. */
export function toJson(
  version: string,
  file: FileReport,
  prompt: PromptReport | undefined,
  head: number | undefined,
  bytesRead: number,
): string {
  const object = {
    headscope: version,
    file: file.summary,
    metadata: file.metadata,
    tensors: file.tensors,
    bytesRead,
    ...(prompt === undefined ? {} : { prompt: promptObject(prompt, head) }),
  };
  return JSON.stringify(object, (_, value: unknown) => (value === undefined ? null : value), 1);
}

function promptObject(report: PromptReport, head: number | undefined) {
  const { prompt, tokens, layer, numerics, nodes, weights, stats, reference } = report;
  const heads = head === undefined ? Array.from({ length: weights.shape[0] as number }, (_, i) => i) : [head];
  return {
    text: prompt,
    tokens: tokens.map((token) => ({ ...token, bytes: token.bytes === undefined ? undefined : [...token.bytes] })),
    layer,
    numerics,
    nodes,
    heads: heads.map((each) => ({ head: each, ...stats[each], weights: matrixOf(report, each) })),
    ...(reference === undefined ? {} : { reference: { ...REFERENCE_WEIGHTS, comparisons: reference } }),
  };
}

/** `[T][S]` */
function matrixOf({ weights, visible }: PromptReport, head: number): (number | null)[][] {
  const [, queries, keys] = weights.shape as readonly [number, number, number];
  return Array.from({ length: queries }, (_, query) =>
    Array.from({ length: keys }, (_, key) => {
      const at = query * keys + key;
      return visible[at] === 1 ? (weights.data[head * queries * keys + at] as number) : null;
    }),
  );
}
