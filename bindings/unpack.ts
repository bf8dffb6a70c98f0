import { decodeBase64 } from "./base64.js";
import { unpackerBase64 } from "./generated/unpacker-bytes.js";

/**
 * The wasm bytes inside the package are packed, because base64 hides their repetitions from a server's gzip. LZMA makes
 * them a fifth smaller than DEFLATE, and unlike DecompressionStream its decoder (unpack.cpp, a module of a kilobyte) is
 * there in every engine and starts at once.
 */
export interface PackedBytes {
  /** Of the bytes themselves. */
  readonly size: number;
  readonly packedBase64: string;
}

interface Unpacker {
  readonly memory: WebAssembly.Memory;
  unpack(packed: number, packedSize: number, to: number, size: number): number;
}

const PAGE = 2 ** 16;

/**
 * The bytes, as a view of memory that nobody else has. Rejects with a RangeError when they are damaged. Packed ones may
 * still be on their way: the decoder is started meanwhile.
 */
export async function unpack(coming: PackedBytes | Promise<PackedBytes>): Promise<Uint8Array<ArrayBuffer>> {
  const [{ instance }, { size, packedBase64 }] = await Promise.all([
    WebAssembly.instantiate(decodeBase64(unpackerBase64)),
    coming,
  ]);
  const unpacker = instance.exports as unknown as Unpacker;
  const packed = decodeBase64(packedBase64);
  const from = unpacker.memory.buffer.byteLength;
  const to = from + packed.length;
  unpacker.memory.grow(Math.ceil((packed.length + size) / PAGE));
  const bytes = new Uint8Array(unpacker.memory.buffer as ArrayBuffer);
  bytes.set(packed, from);
  if (unpacker.unpack(from, packed.length, to, size) === 0)
    throw new RangeError("unpack: the packed bytes are damaged");
  return bytes.subarray(to, to + size);
}
