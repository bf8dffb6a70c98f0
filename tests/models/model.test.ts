import assert from "node:assert/strict";
import test from "node:test";
import { type LayerResult, type Model, type ModelWant, openModel } from "headscope/models";
import { assertClose } from "../support/compare.ts";
import { eachVariant } from "../variants.ts";
import { configJson, ggufModel, safetensorsModel } from "./fixtures/model-files.ts";
import { type RandomModel, randomModel, type Shape } from "./fixtures/random-model.ts";
import { type Reference, type ReferenceLayer, referenceForward } from "./fixtures/reference-forward.ts";

const IDS = [3, 14, 15, 82, 14, 0, 7, 7, 61, 14, 15];
const ALL: readonly Exclude<ModelWant, "trace">[] = [
  "weights",
  "scores",
  "q",
  "k",
  "v",
  "heads",
  "concat",
  "contributions",
  "hidden",
];
const RELATIVE = { relative: 1e-5 };

async function collect<T>(results: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const result of results) list.push(result);
  return list;
}

function expectedShape(model: RandomModel, name: string, T: number): number[] {
  const { numHeads: H, numKVHeads: G, headDim: d, dModel: D } = model;
  switch (name) {
    case "q":
    case "heads":
      return [H, T, d];
    case "k":
    case "v":
      return [G, T, d];
    case "concat":
      return [T, H * d];
    case "contributions":
      return [H, T, D];
    case "output":
    case "hidden":
      return [T, D];
    default:
      return [H, T, T];
  }
}

/** GGUF's llama has the numbers of q and k in the order of adjacent pairs. */
function asHalves(model: RandomModel, data: Float32Array): Float32Array {
  const { headDim: d, ropeDims } = model;
  const out = data.slice();
  for (let row = 0; row < data.length; row += d) {
    for (let i = 0; i < ropeDims / 2; ++i) {
      out[row + i] = data[row + 2 * i] as number;
      out[row + ropeDims / 2 + i] = data[row + 2 * i + 1] as number;
    }
  }
  return out;
}

function assertLayers(
  model: RandomModel,
  actual: readonly LayerResult[],
  expected: Reference,
  names: readonly string[],
  label: string,
  adjacent = false,
): void {
  assert.equal(actual.length, expected.layers.length, `${label}: layers`);
  actual.forEach((result, i) => {
    assert.equal(result.layer, i);
    const reference = expected.layers[i] as ReferenceLayer;
    for (const name of names) {
      const tensor = result[name as keyof LayerResult] as unknown as { data: Float32Array; shape: number[] };
      const data = adjacent && (name === "q" || name === "k") ? asHalves(model, tensor.data) : tensor.data;
      const shape = expectedShape(model, name, IDS.length);
      const where = `${label}, layer ${i}, ${name}`;
      const wanted = { data: reference[name as keyof ReferenceLayer], shape };
      assertClose({ data, shape: tensor.shape }, wanted, RELATIVE, where);
    }
  });
}

const run = (model: Model, options = {}) => collect(model.run(IDS, { want: ALL, ...options }));

for (const family of ["gpt2", "bert", "llama"] as const) {
  eachVariant(`${family}: every intermediate of GGUF and safetensors is the float64 pass's`, async (hs) => {
    const random = randomModel(family);
    const expected = referenceForward(random, IDS);
    const gguf = await openModel(hs, ggufModel(random));
    assertLayers(random, await run(gguf), expected, [...ALL, "output"], "GGUF", family === "llama");
    const safetensors = await openModel(hs, safetensorsModel(random), { config: configJson(random) });
    assertLayers(random, await run(safetensors), expected, [...ALL, "output"], "safetensors");
  });
}
void test;

export type { Shape };
