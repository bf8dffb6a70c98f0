import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";

// web/models/measure.py writes these numbers for the committed file; python is not needed to check what they promise.

type Kind = "previous" | "first" | "induction" | "same";

interface Measures {
  file: string;
  bytes: number;
  sha256: string;
  best: Record<Kind, { layer: number; head: number; weight: number }>;
  heads: Record<Kind, number[][]>;
  loss: { heldOut: number; unigram: number; gain: number };
  randomTokensTwice: { firstHalf: number; secondHalf: number };
}

const folder = new URL("../../web/models/", import.meta.url);
const measures: Measures = JSON.parse(readFileSync(new URL("measures.json", folder), "utf8"));
const model = readFileSync(new URL(measures.file, folder));

test("the measures are those of the committed model, which is at most 3 MB", () => {
  assert.equal(model.byteLength, measures.bytes);
  assert.equal(createHash("sha256").update(model).digest("hex"), measures.sha256);
  assert.ok(model.byteLength <= 3_000_000, `${model.byteLength} bytes`);
});

const LEAST: Record<Kind, number> = { previous: 0.8, first: 0.6, induction: 0.4, same: 0.3 };

for (const [kind, least] of Object.entries(LEAST) as [Kind, number][]) {
  test(`some head of the embedded model has at least ${least} of its weight on: ${kind}`, () => {
    const heads = measures.heads[kind];
    const { layer, head, weight } = measures.best[kind];
    assert.ok(heads.length >= 4 && heads.every((row) => row.length === 8), "at least 4 layers of 8 heads");
    assert.equal(weight, Math.max(...heads.flat()));
    assert.equal(heads[layer]?.[head], weight);
    assert.ok(weight >= least, `layer ${layer} head ${head}: ${weight}`);
  });
}

test("the four kinds are four different heads", () => {
  const places = Object.values(measures.best).map(({ layer, head }) => `${layer}.${head}`);
  assert.equal(new Set(places).size, places.length, places.join(" "));
});

test("held-out loss is at least 1.5 nats a token below the unigram model's", () => {
  const { heldOut, unigram, gain } = measures.loss;
  assert.ok(Math.abs(unigram - heldOut - gain) < 2e-4);
  assert.ok(gain >= 1.5, `${gain} nats`);
});

test("random tokens are predicted the second time", () => {
  const { firstHalf, secondHalf } = measures.randomTokensTwice;
  assert.ok(secondHalf < firstHalf - 3, `${firstHalf} nats, then ${secondHalf}`);
});
