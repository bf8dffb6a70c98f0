// node --import tsx web/docs/make-data.ts: the file that the documentation's figures show, web/public/attention.json.
// Eight heads of the playground's own model that do different things, from three of its layers.
import { readFileSync, writeFileSync } from "node:fs";
import { load } from "headscope";
import { openModel } from "headscope/models";

const TEXT = "the little cat saw the little dog and the little cat ran";
const HEADS = [
  { layer: 0, heads: [0, 1, 7] },
  { layer: 1, heads: [2, 0, 5] },
  { layer: 2, heads: [1, 7] },
];

const hs = await load({ variant: "simd" });
const file = readFileSync(new URL("../models/headscope.gguf", import.meta.url));
const model = await openModel(hs, new Blob([file]));
const tokens = model.tokenize(TEXT);
const count = tokens.length;
const data: number[] = [];
for await (const { layer, weights } of model.run(tokens, { layers: 3 })) {
  for (const head of HEADS.find((each) => each.layer === layer)?.heads ?? []) {
    const cells = weights.data.subarray(head * count * count, (head + 1) * count * count);
    data.push(...Array.from(cells, (weight) => Number(weight.toFixed(4))));
  }
}
const shape = [data.length / count / count, count, count];
const json = JSON.stringify({ tokens: tokens.map(({ text }) => text), weights: { shape, data }, causal: true });
writeFileSync(new URL("../public/attention.json", import.meta.url), `${json}\n`);
