/** A tensor as a NumPy file, format version 1.0 (numpy/lib/format.py): little-endian float32 in C order. */

import type { Tensor } from "headscope";

const MAGIC = [0x93, ...[..."NUMPY"].map((letter) => letter.charCodeAt(0)), 1, 0];
/** Data start at a multiple of this, so that the file can be mapped into memory. */
const ALIGNMENT = 64;

export function toNpy({ data, shape }: Tensor): Uint8Array<ArrayBuffer> {
  // A tuple of one keeps its comma, as Python writes it.
  const sizes = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const words = `{'descr': '<f4', 'fortran_order': False, 'shape': (${sizes}), }`;
  const before = MAGIC.length + 2;
  // The header ends with a line break, and spaces fill it up.
  const start = Math.ceil((before + words.length + 1) / ALIGNMENT) * ALIGNMENT;
  const header = `${words.padEnd(start - before - 1)}\n`;
  const bytes = new Uint8Array(start + 4 * data.length);
  const view = new DataView(bytes.buffer);
  bytes.set(MAGIC);
  view.setUint16(MAGIC.length, header.length, true);
  for (let i = 0; i < header.length; i++) bytes[before + i] = header.charCodeAt(i);
  for (let i = 0; i < data.length; i++) view.setFloat32(start + 4 * i, data[i] as number, true);
  return bytes;
}
