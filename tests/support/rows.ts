import assert from "node:assert/strict";
import type { Tensor } from "headscope";

/** The last axis of a tensor, one row after the other. */
export function rowsOf(t: { data: Float32Array; shape: readonly number[] }): Float32Array[] {
  const width = t.shape[t.shape.length - 1] as number;
  const count = width === 0 ? 0 : t.data.length / width;
  return Array.from({ length: count }, (_, r) => t.data.subarray(r * width, (r + 1) * width));
}

/** Rows from..to of axis `axis`, copied. */
export function slice(t: Tensor, axis: number, from: number, to: number): { data: Float32Array; shape: number[] } {
  const inner = t.shape.slice(axis + 1).reduce((a, b) => a * b, 1);
  const length = t.shape[axis] as number;
  const outer = t.shape.slice(0, axis).reduce((a, b) => a * b, 1);
  const data = new Float32Array(outer * (to - from) * inner);
  for (let o = 0; o < outer; ++o) {
    data.set(t.data.subarray((o * length + from) * inner, (o * length + to) * inner), o * (to - from) * inner);
  }
  const shape = [...t.shape];
  shape[axis] = to - from;
  return { data, shape };
}

export function assertAllZero(values: Float32Array, label: string): void {
  values.forEach((x, i) => {
    if (x !== 0) assert.fail(`${label}: value ${i} is ${x}, expected exactly 0`);
  });
}

export function assertSumsToOne(row: Float32Array, label: string): void {
  const sum = row.reduce((a, b) => a + b, 0);
  assert.ok(Math.abs(sum - 1) <= 2e-6, `${label}: sums to ${sum}`);
}

/** Weights [B,H,T,S] are above 0 exactly where `visible` says, and 0 elsewhere. */
export function assertVisible(
  weights: Tensor,
  visible: (b: number, h: number, i: number, j: number) => boolean,
  label: string,
): void {
  const [batch, heads, queries, keys] = weights.shape as [number, number, number, number];
  for (let b = 0; b < batch; ++b)
    for (let h = 0; h < heads; ++h)
      for (let i = 0; i < queries; ++i)
        for (let j = 0; j < keys; ++j) {
          const weight = weights.data[((b * heads + h) * queries + i) * keys + j] as number;
          const place = `${label}: batch ${b}, head ${h}, query ${i}, key ${j}`;
          if (visible(b, h, i, j)) assert.ok(weight > 0, `${place}: weight ${weight}, expected above 0`);
          else assert.ok(weight === 0, `${place}: weight ${weight}, expected exactly 0`);
        }
}
