/**
 * The prune curve and the grouped-heads curve of the embedded model, computed: after a build,
 * `node --import tsx web/models/prune.ts` prints the tables of the model card. The order in which heads go is found on two
 * held-out texts and judged on two others.
 */
import { readFileSync } from "node:fs";
import { load } from "headscope";
import { gqaCurveOfModel, headImportance, openModel, pruneCurve } from "headscope/models";

const here = (path: string) => new URL(path, import.meta.url);
const golden = JSON.parse(readFileSync(here("../../tests/fixtures/embedded-model.json"), "utf8")) as {
  probe: { text: number[][] };
};
const texts = golden.probe.text.map((ids) => ids.slice(0, 256));

const hs = await load({ variant: "simd" });
const model = await openModel(hs, new Blob([readFileSync(here("headscope.gguf"))]));
const { heads } = await headImportance(model, texts.slice(0, 2));
const counts = [0, 3, 6, 10, 13, 16, 19, 22, 26, 29, 32];
const { points } = await pruneCurve(model, texts.slice(2), { order: heads, counts });

console.log("| heads out | share | loss, nats a token | rise |\n|---|---|---|---|");
const whole = points[0]?.loss ?? Number.NaN;
for (const { removed, share, loss = Number.NaN } of points)
  console.log(`| ${removed} | ${Math.round(share * 100)} % | ${loss.toFixed(3)} | ${(loss - whole).toFixed(3)} |`);
const dearest = heads.slice(-6).reverse();
console.log(
  `\ndearest: ${dearest.map(({ layer, head, importance }) => `${layer}.${head} (${importance.toFixed(3)})`).join(", ")}`,
);

console.log("\n| K/V heads | error of layer 1's output | bytes a token, all layers |\n|---|---|---|");
for (const { numKVHeads, error, bytesPerToken } of await gqaCurveOfModel(hs, model, texts[2] ?? [], { layer: 1 }))
  console.log(`| ${numKVHeads} | ${(error * 100).toFixed(1)} % | ${bytesPerToken} |`);
model.dispose();
