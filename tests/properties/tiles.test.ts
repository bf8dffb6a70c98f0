import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "headscope";
import { Random } from "../support/random.js";

// How many rows of a product share a tile is chosen by the engine (bindings/engine.ts): a matter of speed, not of bits.

const globals = globalThis as { Float16Array?: unknown };

/** The simd build as a young engine and as an older one would run it. */
async function loadAs(young: boolean) {
  const own = Object.getOwnPropertyDescriptor(globals, "Float16Array");
  if (young) Object.defineProperty(globals, "Float16Array", own ?? { value: class {}, configurable: true });
  else delete globals.Float16Array;
  try {
    return await load({ variant: "simd" });
  } finally {
    if (own) Object.defineProperty(globals, "Float16Array", own);
    else delete globals.Float16Array;
  }
}

test("tiles of four and of five rows give the same bits at every number of rows", async () => {
  const [four, five] = [await loadAs(false), await loadAs(true)];
  const random = new Random(150);
  // 40 columns: a row alone is taken by four panels and one, or by three and two.
  const [dModel, numHeads, numKVHeads, headDim] = [40, 4, 2, 10];
  const [q, kv] = [numHeads * headDim, numKVHeads * headDim];
  const values = (n: number) => random.tensor([n]).data;
  const weights = {
    layout: "in-out",
    ...{ wq: values(dModel * q), wk: values(dModel * kv), wv: values(dModel * kv), wo: values(q * dModel) },
    ...{ bq: values(q), bo: values(dModel) },
  } as const;
  const layers = [four, five].map((hs) => hs.multiHeadAttention({ dModel, numHeads, numKVHeads, headDim }, weights));
  for (const rows of [...Array.from({ length: 34 }, (_, i) => i + 1), 47, 59, 60, 61, 119, 121, 239, 241, 263]) {
    const x = random.tensor([rows, dModel]);
    for (const want of [["weights"], []] as const) {
      for (const causal of [false, true]) {
        const [a, b] = layers.map((layer) => layer.forward(x, { causal, want }));
        assert.ok(a && b);
        const label = `${rows} rows${causal ? ", causal" : ""}, want ${want.length}`;
        assert.deepEqual(b.output.data, a.output.data, label);
        if ("weights" in a && "weights" in b) assert.deepEqual(b.weights, a.weights, label);
      }
    }
  }
});
