import assert from "node:assert/strict";
import type { Tensor } from "headscope";
import { openModel } from "headscope/models";
import { assertSameBits } from "../support/compare.ts";
import { eachVariant } from "../variants.ts";
import { ggufModel } from "./fixtures/model-files.ts";
import { randomModel } from "./fixtures/random-model.ts";
import { IDS } from "./fixtures/run-model.ts";

const WANTS = ["weights", "scores", "q", "k", "v", "heads", "concat", "contributions"] as const;
type Results = Readonly<Record<string, Tensor>>;

for (const family of ["gpt2", "bert", "llama"] as const) {
  eachVariant(`run: every layer of a ${family} writes its results to the arrays that were given`, async (hs) => {
    const model = await openModel(hs, ggufModel(randomModel(family)));
    const want = [...WANTS, "hidden"] as const;
    const fresh: Results[] = [];
    for await (const { layer: _, ...results } of model.run(IDS, { want })) fresh.push(results);
    const first = fresh[0] as Results;
    assert.ok(fresh.length > 1);
    const out = Object.fromEntries(
      ["output", ...WANTS].map((name) => [name, new Float32Array((first[name] as Tensor).data.length).fill(7)]),
    );
    for await (const { layer, ...results } of model.run(IDS, { want, out })) {
      for (const [name, { data, shape }] of Object.entries(fresh[layer] as Results)) {
        const to = (results as Results)[name] as Tensor;
        if (name !== "hidden") assert.equal(to.data, out[name], `${name} of layer ${layer}`);
        assert.deepEqual(to.shape, shape);
        assertSameBits(to.data, data, `${name} of layer ${layer}`);
      }
    }
    // What comes without arrays is of each layer's own, whatever was given before.
    for await (const { layer, weights } of model.run(IDS)) {
      assert.notEqual(weights.data, out.weights);
      assertSameBits(
        weights.data,
        fresh[layer]?.weights?.data ?? new Float32Array(0),
        `fresh weights of layer ${layer}`,
      );
    }
    model.dispose();
  });
}

eachVariant("run: arrays that do not fit are refused at once, before anything is read", async (hs) => {
  const model = await openModel(hs, ggufModel(randomModel("gpt2")));
  const read = model.bytesRead;
  const { numHeads } = model.config;
  const weights = new Float32Array(numHeads * IDS.length ** 2).fill(7);
  const refused = (options: object, expected: object) =>
    assert.throws(() => model.run(IDS, options as never), expected, JSON.stringify(Object.keys(options)));
  refused({ out: { weights: weights.subarray(1) } }, { code: "shape", argument: "out.weights" });
  refused({ out: { scores: weights } }, { code: "config", message: /^out\.scores: expected "scores" in want/ });
  refused({ out: { hidden: weights }, want: ["hidden"] }, { name: "TypeError", message: /^out\.hidden: / });
  refused({ out: weights }, { code: "shape", message: /^out: expected \d+ numbers \(output / });
  refused({ out: [weights] }, { name: "TypeError", message: /^out: expected a Float32Array or an object of them/ });
  refused({ out: { output: weights }, output: false }, { code: "config", message: /^out: .*`output` is false/ });
  refused({ out: weights, output: false }, { code: "config" });
  assert.equal(model.bytesRead, read);
  assert.ok(weights.every((value) => value === 7));

  // What is given away while the model runs is found out by the next layer.
  const steps = model.run(IDS, { out: { weights }, output: false });
  assert.equal((await steps.next()).value.weights.data, weights);
  structuredClone(weights, { transfer: [weights.buffer] });
  await assert.rejects(async () => steps.next(), { name: "TypeError", message: /^out\.weights: .*detached$/ });
  model.dispose();
  assert.equal(hs.memory().liveObjects, 0);
});
