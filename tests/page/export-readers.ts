/** Strict readers of the formats that the page writes, made from their specifications and not from the writers. */

import assert from "node:assert/strict";

/** NumPy's format 1.0 (NEP 1): magic, version, header length, a dict with three keys, padding to 64, C-order data. */
export function readNpy(bytes: Uint8Array): { shape: number[]; data: Float32Array } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  assert.deepEqual([...bytes.subarray(0, 6)], [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59]);
  assert.deepEqual([bytes[6], bytes[7]], [1, 0]);
  const length = view.getUint16(8, true);
  const header = Buffer.from(bytes.subarray(10, 10 + length)).toString("latin1");
  assert.equal((10 + length) % 64, 0);
  assert.ok(header.endsWith("\n"));
  const match = /^\{'descr': '(<f4)', 'fortran_order': (False), 'shape': \((\d+(?:, \d+)*,?)\), \} *\n$/.exec(header);
  assert.ok(match, header);
  const sizes = (match[3] as string).split(",").map((size) => size.trim());
  if (sizes.length === 2 && sizes[1] === "") sizes.pop();
  else if (sizes.length === 1) assert.fail("a tuple of one needs its comma");
  const shape = sizes.map(Number);
  const count = shape.reduce((product, size) => product * size, 1);
  assert.equal(bytes.length, 10 + length + 4 * count);
  return { shape, data: Float32Array.from({ length: count }, (_, i) => view.getFloat32(10 + length + 4 * i, true)) };
}

/** RFC 4180, and nothing more lenient: lines end with CR LF, quotes stand around whole fields and are doubled inside. */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let at = text.startsWith("\ufeff") ? 1 : 0;
  let row: string[] = [];
  while (at < text.length) {
    let value = "";
    if (text[at] === '"') {
      for (at++; ; at++) {
        assert.ok(at < text.length, "a quoted field ends");
        if (text[at] !== '"') value += text[at];
        else if (text[at + 1] === '"') value += text[at++];
        else break;
      }
      at++;
    } else {
      while (at < text.length && !",\r\n".includes(text[at] as string)) {
        assert.notEqual(text[at], '"', "a quote only around a whole field");
        value += text[at++];
      }
    }
    row.push(value);
    if (text[at] === ",") at++;
    else {
      assert.equal(text.slice(at, at + 2), "\r\n");
      at += 2;
      rows.push(row);
      row = [];
    }
  }
  assert.ok(
    rows.every(({ length }) => length === rows[0]?.length),
    "all rows are of one length",
  );
  return rows;
}
