/**
 * Which column of a row belongs to which head, before and after the heads are joined again: the whole of "multi-head"
 * in one picture. Read from the strides of a trace step, so that it shows what the step does and not what it should do.
 */

import type { TraceStep } from "headscope";

export interface ColumnMap {
  readonly heads: number;
  readonly headDim: number;
  /** Head of each column of the first row, in the order of memory; −1 where the step reads none. */
  readonly headOf: readonly number[];
}

/** More columns than this are a band and not a row of boxes. */
export const MAP_COLUMNS = 64;

/** Of a step of shape [T, H, d] or [H, T, d], batch axis or not; null for others and for wide ones. */
export function columnMap(step: Pick<TraceStep, "id" | "shape" | "strides">): ColumnMap | null {
  const axes = step.shape.length;
  if (axes < 3) return null;
  const order = HEAD_AXIS[step.id];
  if (order === undefined) return null;
  const [shape, strides] = [step.shape.slice(-3), step.strides.slice(-3)] as [number[], number[]];
  const heads = shape[order] as number;
  const headDim = shape[2] as number;
  const [headStride, innerStride] = [strides[order] as number, strides[2] as number];
  if (heads * headDim > MAP_COLUMNS || heads * headDim === 0) return null;
  // Heads of one row that do not stand side by side are another token's or another matrix's.
  if (headStride !== headDim * innerStride) return null;
  const headOf = new Array<number>(heads * headDim).fill(-1);
  for (let head = 0; head < heads; head++) {
    for (let i = 0; i < headDim; i++) headOf[head * headStride + i * innerStride] = head;
  }
  return { heads, headDim, headOf };
}

/** Which of the last three axes counts the heads, by step. */
const HEAD_AXIS: Readonly<Record<string, 0 | 1>> = { qView: 1, kView: 1, vView: 1, q: 0, k: 0, v: 0 };

/** Of the joined heads, [T, H · dv]: head h wrote the columns from h · dv on. */
export function joinedMap(heads: TraceStep, concat: TraceStep): ColumnMap | null {
  const [count, , headDim] = heads.shape.slice(-3) as [number, number, number];
  const width = concat.shape[concat.shape.length - 1] as number;
  if (width !== count * headDim || width > MAP_COLUMNS || width === 0) return null;
  return { heads: count, headDim, headOf: Array.from({ length: width }, (_, i) => Math.floor(i / headDim)) };
}
