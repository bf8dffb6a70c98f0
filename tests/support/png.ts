/** PNG after its specification (W3C, 2003): reads those of browsers (8 bits, RGB or RGBA, not interlaced), writes RGB. */

import assert from "node:assert/strict";
import { crc32, deflateSync, inflateSync } from "node:zlib";

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** Red, green, blue. */
  at(x: number, y: number): [number, number, number];
}

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

export function readPng(file: Buffer): Picture {
  assert.deepEqual([...file.subarray(0, 8)], SIGNATURE);
  let [width, height, channels] = [0, 0, 0];
  const parts: Buffer[] = [];
  let ended = false;
  for (let at = 8; at < file.length; ) {
    const length = file.readUInt32BE(at);
    const type = file.toString("latin1", at + 4, at + 8);
    const data = file.subarray(at + 8, at + 8 + length);
    if (crc32) assert.equal(file.readUInt32BE(at + 8 + length), crc32(file.subarray(at + 4, at + 8 + length)), type);
    if (type === "IHDR") {
      [width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)];
      assert.equal(data[8], 8, "8 bits");
      assert.ok(data[9] === 2 || data[9] === 6, "RGB or RGBA");
      channels = data[9] === 6 ? 4 : 3;
      assert.equal(data[12], 0, "not interlaced");
    }
    if (type === "IDAT") parts.push(data);
    ended = type === "IEND";
    at += 12 + length;
  }
  assert.ok(ended, "ends with IEND");
  const pixels = unfilter(inflateSync(Buffer.concat(parts)), width * channels, height, channels);
  return {
    width,
    height,
    at(x, y) {
      const from = (y * width + x) * channels;
      return [pixels[from], pixels[from + 1], pixels[from + 2]] as [number, number, number];
    },
  };
}

/**
 * A browser compresses for speed and filters every row; pictures of flat areas and text deflate a fifth better without
 * filters.
 */
export function writePng({ width, height, at }: Picture): Buffer {
  const rows = Buffer.alloc(height * (3 * width + 1));
  for (let y = 0, place = 0; y < height; y++) {
    place++; // no filter
    for (let x = 0; x < width; x++) for (const channel of at(x, y)) rows[place++] = channel;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const chunks = [chunk("IHDR", header), chunk("IDAT", deflateSync(rows, { level: 9, memLevel: 9 })), chunk("IEND")];
  return Buffer.concat([Buffer.from(SIGNATURE), ...chunks]);
}

function chunk(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

function unfilter(raw: Buffer, stride: number, height: number, channels: number): Uint8Array {
  assert.equal(raw.length, (stride + 1) * height);
  const out = new Uint8Array(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)] as number;
    assert.ok(filter <= 4);
    for (let i = 0; i < stride; i++) {
      const value = raw[y * (stride + 1) + 1 + i] as number;
      const left = i >= channels ? (out[y * stride + i - channels] as number) : 0;
      const above = y > 0 ? (out[(y - 1) * stride + i] as number) : 0;
      const corner = i >= channels && y > 0 ? (out[(y - 1) * stride + i - channels] as number) : 0;
      const guess = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter] as number;
      out[y * stride + i] = (value + guess) & 255;
    }
  }
  return out;
}

function paeth(left: number, above: number, corner: number): number {
  const guess = left + above - corner;
  const [a, b, c] = [left, above, corner].map((value) => Math.abs(guess - value)) as [number, number, number];
  if (a <= b && a <= c) return left;
  return b <= c ? above : corner;
}
