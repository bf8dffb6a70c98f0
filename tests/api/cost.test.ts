import assert from "node:assert/strict";
import { test } from "node:test";
import { cost } from "headscope";
import { cost as coreCost } from "headscope/core";

test("C1: a layer has 4D² parameters whatever H is: 1,048,576 for D = 512, 67,108,864 for D = 4096", () => {
  for (const numHeads of [1, 4, 8, 16, 32]) {
    assert.equal(cost.parameters({ dModel: 512, numHeads }).total, 1_048_576n);
    assert.equal(cost.parameters({ dModel: 4096, numHeads }).total, 67_108_864n);
  }
  const { wq, wk, wv, wo, biases } = cost.parameters({ dModel: 512, numHeads: 8 });
  assert.deepEqual([wq, wk, wv, wo, biases], [262_144n, 262_144n, 262_144n, 262_144n, 0n]);
});

test("cost.parameters counts biases, shared K/V heads, and widths of their own", () => {
  const gpt2 = cost.parameters({ dModel: 768, numHeads: 12, bias: true });
  assert.equal(gpt2.biases, 3072n);
  assert.equal(gpt2.total, 4n * 768n * 768n + 3072n);
  const llama = cost.parameters({ dModel: 4096, numHeads: 32, numKVHeads: 8 });
  assert.deepEqual([llama.wq, llama.wk], [16_777_216n, 4_194_304n]);
  const odd = { dModel: 10, numHeads: 4, headDim: 3, valueHeadDim: 5, keyDim: 7, valueDim: 6, outDim: 9, bias: true };
  assert.deepEqual(cost.parameters(odd), {
    wq: 120n,
    wk: 84n,
    wv: 120n,
    wo: 180n,
    biases: 12n + 12n + 20n + 9n,
    total: 504n + 53n,
  });
});

test("C2: scores and context take 4n²d FLOPs, causal 2n²d, whatever H is: 274,877,906,944 / 137,438,953,472", () => {
  for (const numHeads of [1, 8, 32, 128]) {
    const dense = cost.flops({ dModel: 4096, numHeads, T: 4096 });
    assert.equal(dense.scores + dense.context, 274_877_906_944n);
    const causal = cost.flops({ dModel: 4096, numHeads, T: 4096, causal: true });
    assert.equal(causal.scores + causal.context, 137_438_953_472n);
    assert.equal(causal.projections, dense.projections);
  }
});

test("cost.flops: one multiply-add is 2, Q K V and W_O take 8nD², S and T count apart", () => {
  const c = cost.flops({ dModel: 768, numHeads: 12, T: 128 });
  assert.equal(c.projections + c.output, 8n * 128n * 768n * 768n);
  assert.equal(c.total, 8n * 128n * 768n * 768n + 4n * 128n * 128n * 768n);
  const cross = cost.flops({ dModel: 8, numHeads: 2, keyDim: 6, T: 3, S: 5 });
  assert.equal(cross.projections, 2n * (3n * 8n * 8n + 2n * 5n * 6n * 8n));
  assert.equal(cross.scores, 2n * 3n * 5n * 8n);
  // The last row of a causal pass sees all S keys: almost nothing is left out.
  assert.equal(cost.flops({ dModel: 8, numHeads: 2, T: 1, S: 1024, causal: true }).scores, (2n * 1024n - 1n) * 8n);
  assert.equal(cost.flops({ dModel: 8, numHeads: 2, T: 0 }).total, 0n);
});

test("C3: score memory is linear in H: 268,435,456 / 1,073,741,824 / 4,294,967,296 bytes, 16 times as much", () => {
  const bytes = (numHeads: number) => cost.scoreBytes({ numHeads, T: 4096, bytesPerElement: 2 });
  assert.deepEqual([8, 32, 128].map(bytes), [268_435_456n, 1_073_741_824n, 4_294_967_296n]);
  assert.equal(bytes(128) / bytes(8), 16n);
  assert.equal(cost.scoreBytes({ numHeads: 12, T: 2, S: 256, bytesPerElement: 4 }), 24_576n);
});

test("E2: K/V per token: Llama 3 8B 131,072 bytes against 524,288 without sharing, GPT-2 18,432 numbers", () => {
  const llama = { layers: 32, headDim: 128, bytesPerElement: 2, tokens: 8192 };
  const grouped = cost.kvCache({ ...llama, numKVHeads: 8 });
  assert.deepEqual(grouped, { elementsPerToken: 65_536n, bytesPerToken: 131_072n, total: 1_073_741_824n });
  const full = cost.kvCache({ ...llama, numKVHeads: 32 });
  assert.equal(full.elementsPerToken, 262_144n);
  assert.equal(full.bytesPerToken, 524_288n);
  assert.equal(full.total / grouped.total, 4n);
  assert.equal(cost.kvCache({ layers: 12, numKVHeads: 12, headDim: 64, bytesPerElement: 4 }).elementsPerToken, 18_432n);
  assert.equal(cost.kvCache({ layers: 1, numKVHeads: 2, headDim: 8, valueHeadDim: 5, bytesPerElement: 4 }).total, 104n);
});

test("B11: presets: 768/12 = 64, 768/64 = 12, 12288/128 = 96, 4096/128 = 32 heads fit without a headDim", () => {
  for (const [dModel, numHeads, width] of [
    [768, 12, 64],
    [12288, 96, 128],
    [4096, 32, 128],
  ] as const) {
    const given = cost.parameters({ dModel, numHeads, headDim: width });
    assert.deepEqual(cost.parameters({ dModel, numHeads }), given);
  }
});

test("cost is exact above 2^53 and refuses what is no count", () => {
  const T = 2 ** 40;
  assert.equal(cost.scoreBytes({ numHeads: 128, T, bytesPerElement: 4 }), 512n * 2n ** 80n);
  for (const bad of [undefined, null, "4", 4n, true]) {
    assert.throws(() => cost.scoreBytes({ numHeads: 2, T: bad as never, bytesPerElement: 4 }), {
      name: "TypeError",
      message: /^T: expected a whole number/,
    });
  }
  for (const bad of [Number.NaN, -1, 1.5, 2 ** 53, Number.POSITIVE_INFINITY]) {
    assert.throws(() => cost.scoreBytes({ numHeads: 2, T: bad, bytesPerElement: 4 }), {
      name: "RangeError",
      message: /^T: expected a whole number/,
    });
  }
  assert.throws(() => cost.parameters({ dModel: 10, numHeads: 3 }), { name: "HeadscopeError", code: "config" });
  assert.throws(() => cost.flops({ dModel: 8, numHeads: 2, T: 4, causal: 1 as never }), /causal: expected a boolean/);
  assert.throws(
    () => cost.kvCache({ layers: 2, numKVHeads: 2, headDim: 4, bytes: 4 } as never),
    /config\.bytes: .*known are layers, numKVHeads, headDim, valueHeadDim, bytesPerElement, tokens/,
  );
});

test("both entries export the same cost", () => {
  assert.equal(cost, coreCost);
});
