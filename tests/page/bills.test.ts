// What <cost-bills> says, with the numbers of the tutorials (features B11, C1–C4, C7, E2, K4).
import assert from "node:assert/strict";
import test from "node:test";
import { cost } from "headscope";
import {
  bills,
  divisors,
  divisorsAround,
  findings,
  followedHeadDim,
  fraction,
  type Sizes,
  WASM32_LIMIT,
} from "../../web/elements/cost/bills.js";
import { findPreset, PRESETS } from "../../web/elements/cost/presets.js";
import { logPlace, nearestStop, stops } from "../../web/elements/cost/stops.js";

function of(preset: string, change: Partial<Sizes> = {}): Sizes {
  const found = findPreset(preset);
  assert.ok(found);
  const { dModel, numHeads, numKVHeads, headDim, layers, tokens } = found;
  return { dModel, numHeads, numKVHeads, headDim, layers, tokens, bytesPerElement: 2, ...change };
}

test("presets have the sizes of their papers: D / H is the width of a head", () => {
  const sizes = Object.fromEntries(
    PRESETS.map((p) => [p.id, `${p.dModel}/${p.numHeads}=${p.headDim}, G=${p.numKVHeads}`]),
  );
  assert.equal(sizes["transformer-base"], "512/8=64, G=8");
  assert.equal(sizes["gpt2-small"], "768/12=64, G=12");
  assert.equal(sizes["gpt3-small"], "768/12=64, G=12");
  assert.equal(sizes["gpt3-6.7b"], "4096/32=128, G=32");
  assert.equal(sizes["gpt3-175b"], "12288/96=128, G=96");
  assert.equal(sizes["llama3-8b"], "4096/32=128, G=8");
  for (const { dModel, numHeads, headDim, numKVHeads } of PRESETS) {
    assert.equal(numHeads * headDim, dModel);
    assert.equal(numHeads % numKVHeads, 0);
  }
});

test("C1: parameters are 4D² whatever H is", () => {
  assert.equal(bills(of("transformer-base"), cost).layer?.parameters, 1_048_576n);
  assert.deepEqual(bills(of("transformer-base"), cost).layer?.matrices, [262_144n, 262_144n, 262_144n, 262_144n]);
  for (const [numHeads, headDim] of [
    [8, 512],
    [32, 128],
    [128, 32],
  ] as const) {
    const found = bills(of("gpt3-6.7b", { numHeads, numKVHeads: numHeads, headDim }), cost);
    assert.equal(found.layer?.parameters, 67_108_864n);
  }
});

test("C2 and C3: at n = D = 4096 the FLOPs stay, the scores grow with H up to the 4 GiB of wasm32", () => {
  const scores = [8, 32, 128].map((numHeads) => {
    const headDim = 4096 / numHeads;
    const found = bills(of("gpt3-6.7b", { numHeads, numKVHeads: numHeads, headDim, tokens: 4096 }), cost);
    assert.equal(found.layer?.attentionFlops, 274_877_906_944n);
    assert.equal(found.layer?.causalFlops, 137_438_953_472n);
    return found.scoreBytes;
  });
  assert.deepEqual(scores, [268_435_456n, 1_073_741_824n, 4_294_967_296n]);
  assert.equal(scores[2], WASM32_LIMIT);
});

test("E2: keys and values of a token", () => {
  const llama = bills(of("llama3-8b"), cost);
  assert.deepEqual([llama.cacheNumbers, llama.cacheBytes], [65_536n, 131_072n]);
  const full = bills(of("llama3-8b", { numKVHeads: 32 }), cost);
  assert.deepEqual([full.cacheNumbers, full.cacheBytes], [262_144n, 524_288n]);
  assert.equal(fraction(8, 32), "1/4");
  assert.equal(bills(of("gpt2-small"), cost).cacheNumbers, 18_432n);
  assert.equal(llama.cacheTotal, 131_072n * 8192n);
});

test("bills() of heads that cannot share K/V heads evenly has no layer, and the bills that need none", () => {
  const found = bills(of("llama3-8b", { numKVHeads: 5, tokens: 4096 }), cost);
  assert.equal(found.layer, null);
  assert.equal(found.scoreBytes, 1_073_741_824n);
  assert.equal(found.cacheNumbers, BigInt(2 * 5 * 128 * 32));
});

test("bills() of a layer with unusual widths", () => {
  const unusual = { valueHeadDim: 16, outDim: 100 };
  const found = bills(of("gpt2-small", { unusual }), cost);
  const D = 768n;
  assert.deepEqual(found.layer?.matrices, [D * D, D * D, D * 192n, 192n * 100n]);
  assert.equal(found.cacheNumbers, BigInt(12 * 12 * (64 + 16)));
});

test("findings() explains sizes that do not divide, with what would", () => {
  const uneven = findings(of("gpt2-small", { numHeads: 10, numKVHeads: 10, headDim: 76 }), true);
  assert.deepEqual(uneven[0], { kind: "uneven", dModel: 768, numHeads: 10, below: 8, above: 12 });
  const groups = findings(of("llama3-8b", { numKVHeads: 5 }), true);
  assert.deepEqual(groups[0], { kind: "groups", numHeads: 32, numKVHeads: 5, divisors: [1, 2, 4, 8, 16, 32] });
  const apart = findings(of("gpt2-small", { headDim: 128, tokens: 8 }), false);
  assert.deepEqual(apart, [{ kind: "apart", concat: 1536, dModel: 768, numHeads: 12, headDim: 128 }]);
  assert.deepEqual(findings(of("gpt2-small", { tokens: 64 }), true), []);
  assert.deepEqual(findings(of("gpt2-small"), true), [{ kind: "rank", headDim: 64, tokens: 1024 }]);
});

test("followedHeadDim() is D / H, rounded down and at least 1", () => {
  assert.deepEqual([followedHeadDim(768, 12), followedHeadDim(768, 10), followedHeadDim(4, 8)], [64, 76, 1]);
});

test("divisors and the nearest of them", () => {
  assert.deepEqual(divisors(12), [1, 2, 3, 4, 6, 12]);
  assert.deepEqual(divisorsAround(768, 10), { below: 8, above: 12 });
  assert.deepEqual(divisorsAround(7, 5), { below: 1, above: 7 });
  assert.equal(fraction(3, 8), "3/8");
  assert.equal(fraction(8, 8), "1");
});

test("stops() hold every size that a preset has, between their ends", () => {
  const widths = stops(1, 65_536);
  for (const { dModel, numHeads, headDim, tokens } of PRESETS) {
    for (const size of [dModel, numHeads, headDim, tokens]) assert.ok(widths.includes(size), String(size));
  }
  assert.deepEqual(stops(1, 10), [1, 2, 3, 4, 6, 8, 10]);
  assert.equal(widths[nearestStop(widths, 770)], 768);
  assert.equal(widths[nearestStop(widths, 9_999_999)], 65_536);
});

test("logPlace() runs from 1 KiB to 1 TiB, with the limit of wasm32 at 22/30", () => {
  assert.equal(logPlace(1024n), 0);
  assert.equal(logPlace(0n), 0);
  assert.equal(logPlace(WASM32_LIMIT), 22 / 30);
  assert.equal(logPlace(1n << 40n), 1);
  assert.equal(logPlace(1n << 60n), 1);
});
