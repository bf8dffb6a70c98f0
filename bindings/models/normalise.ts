import { floatArea, type Heap } from "../heap.js";
import { NORMS } from "./block.js";

/** The norm of each row, for the norms that belong to no block. x [rows, width] is replaced by the result. */
export function normalise(
  heap: Heap,
  kind: "layer" | "rms",
  x: Float32Array,
  weight: Float32Array,
  bias: Float32Array | undefined,
  epsilon: number,
): void {
  const width = weight.length;
  const xBytes = floatArea(x.length) * 16;
  const area = floatArea(width) * 16;
  const arena = heap.reserve("model", xBytes + 2 * area + 16);
  heap.write(arena, x);
  heap.write(arena + xBytes, weight);
  const biasAt = bias === undefined ? 0 : heap.write(arena + xBytes + area, bias);
  heap.native.normalise(NORMS[kind], x.length / width, width, arena, arena + xBytes, biasAt, epsilon, arena);
  heap.refresh();
  heap.read(arena, x);
}
