import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { load } from "headscope";
import { drawSeed42 } from "../../web/playground/sources/numpy-draw.js";
import { LegacyRandom } from "../../web/playground/sources/numpy-random.js";
import { numpySeed42 } from "../../web/playground/sources/numpy-seed42.js";
import { inThread } from "../support/in-thread.js";

const open = await numpySeed42.open(inThread(await load({ variant: "simd" })));
const run = async (causal: boolean) => {
  const { tokens } = numpySeed42.tokenize("", "character");
  const { weights, output } = await open.run(tokens, { causal, layer: 0, off: new Set() });
  assert.ok(output);
  return { weights, output };
};
const rows = (data: Float32Array, width: number, digits: number) =>
  Array.from({ length: data.length / width }, (_, r) =>
    [...data.slice(r * width, (r + 1) * width)].map((value) => Number(value.toFixed(digits))),
  );

test("LegacyRandom is MT19937: the 10,000th number of the reference seed 5489 is 4123659995", () => {
  const random = new LegacyRandom(5489);
  for (let i = 0; i < 9999; i++) random.uint32();
  assert.equal(random.uint32(), 4123659995);
});

test("np.random.seed(42): uniform doubles and standard normals as NumPy prints them", () => {
  const uniform = new LegacyRandom(42);
  assert.equal(uniform.double().toFixed(8), "0.37454012");
  assert.equal(uniform.double().toFixed(8), "0.95071431");
  const x = drawSeed42().x;
  assert.deepEqual(
    [...x.slice(0, 4)].map((value) => value.toFixed(8)),
    ["0.49671415", "-0.13826430", "0.64768854", "1.52302986"],
  );
  // The last number drawn: all 288 are in step.
  assert.equal(drawSeed42().wo.length, 64);
});

test("the tutorial's weights and output, through the real layer", async () => {
  const { weights, output } = await run(false);
  assert.deepEqual(weights.shape, [2, 4, 4]);
  assert.deepEqual(
    rows(weights.data, 4, 6),
    [
      [0.239867, 0.253281, 0.232732, 0.27412],
      [0.251004, 0.248395, 0.240625, 0.259975],
      [0.270394, 0.248689, 0.249463, 0.231453],
      [0.236235, 0.263387, 0.259972, 0.240407],
      [0.237872, 0.265981, 0.262063, 0.234084],
      [0.258286, 0.230032, 0.250392, 0.26129],
      [0.25516, 0.241349, 0.255823, 0.247668],
      [0.252554, 0.248661, 0.237736, 0.261048],
    ].map((row) => row.map((value) => value)),
  );
  assert.deepEqual(rows(output.data, 8, 6), [
    [-0.027567, -0.013464, -0.0535, -0.033562, -0.014716, 0.013335, 0.067172, -0.026077],
    [-0.021876, -0.010962, -0.054477, -0.025754, -0.016007, 0.012537, 0.051527, -0.023008],
    [-0.021653, -0.012259, -0.049011, -0.025349, -0.018604, 0.015008, 0.05146, -0.02276],
    [-0.022927, -0.008778, -0.060314, -0.029095, -0.01246, 0.012565, 0.053584, -0.02483],
  ]);
});

test("nothing was learned: without a mask every weight is within .230–.274", async () => {
  const { weights } = await run(false);
  assert.equal(Math.min(...weights.data).toFixed(3), "0.230");
  assert.equal(Math.max(...weights.data).toFixed(3), "0.274");
});

test("the tutorial's causal table", async () => {
  const { weights } = await run(true);
  assert.deepEqual(rows(weights.data, 4, 3), [
    [1, 0, 0, 0],
    [0.503, 0.497, 0, 0],
    [0.352, 0.324, 0.325, 0],
    [0.236, 0.263, 0.26, 0.24],
    [1, 0, 0, 0],
    [0.529, 0.471, 0, 0],
    [0.339, 0.321, 0.34, 0],
    [0.253, 0.249, 0.238, 0.261],
  ]);
});

test("every number of the reference file", async (t) => {
  const file = fileURLToPath(new URL("../../../shared/numpy-seed42.txt", import.meta.url));
  if (!existsSync(file)) return t.skip(`skipped: ${file} is not here`);
  const lines = readFileSync(file, "utf8").split("\n");
  const numbers = (line: string) => (line.match(/\[[^\]]*\]/g) ?? []).map((list) => JSON.parse(list) as number[]);
  const causalAt = lines.indexOf("causal");
  const outputAt = lines.indexOf("output");
  const table = (from: number, count: number) =>
    lines.slice(from, from + count).map((line) => numbers(line).at(-1) as number[]);
  const plain = await run(false);
  const first = lines.indexOf("head 1");
  const second = lines.indexOf("head 2");
  const expected = [...table(first + 1, 4), ...table(second + 1, 4)];
  close(plain.weights.data, expected.flat(), 1e-6);
  close(plain.output.data, table(outputAt + 1, 4).flat(), 1e-6);
  const causal = await run(true);
  close(causal.weights.data, [...table(causalAt + 2, 4), ...table(causalAt + 7, 4)].flat(), 5.1e-4);
});

function close(actual: Float32Array, expected: readonly number[], tolerance: number): void {
  assert.equal(actual.length, expected.length);
  for (const [i, value] of expected.entries()) {
    assert.ok(Math.abs((actual[i] as number) - value) <= tolerance, `[${i}]: ${actual[i]}, not ${value}`);
  }
}
