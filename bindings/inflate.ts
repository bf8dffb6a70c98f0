/**
 * Raw DEFLATE (RFC 1951) for the wasm bytes inside the package. Base64 hides their repetitions from a server's gzip, so
 * they are compressed before it: half the text, and a quarter less on the wire. The platform's DecompressionStream would
 * do, but Firefox has it only since 113. The method is that of zlib's puff: canonical codes read bit by bit, small
 * rather than fast, a few milliseconds for a module.
 */

/** How many codes have each length, and their symbols in the order of the codes. */
interface Code {
  readonly counts: Uint16Array;
  readonly symbols: Uint16Array;
}

const MAX_BITS = 15;
const END_OF_BLOCK = 256;
/** The order in which a block lists the lengths of the code that its other lengths are written in. */
const LENGTH_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

function codeOf(lengths: Uint8Array): Code {
  const counts = new Uint16Array(MAX_BITS + 1);
  for (const length of lengths) counts[length] = (counts[length] as number) + 1;
  counts[0] = 0; // absent symbols have no code
  const next = new Uint16Array(MAX_BITS + 2);
  for (let bits = 1; bits <= MAX_BITS; ++bits) next[bits + 1] = (next[bits] as number) + (counts[bits] as number);
  const symbols = new Uint16Array(lengths.length);
  lengths.forEach((length, symbol) => {
    if (length === 0) return;
    const place = next[length] as number;
    symbols[place] = symbol;
    next[length] = place + 1;
  });
  return { counts, symbols };
}

/** The code of blocks that bring none of their own. */
function fixedLiterals(): Code {
  return codeOf(new Uint8Array(288).fill(8, 0, 144).fill(9, 144, 256).fill(7, 256, 280).fill(8, 280));
}

/** Decompresses `input`, whose result has `size` bytes. Throws a RangeError when the two do not fit. */
export function inflate(input: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const output = new Uint8Array(size);
  let written = 0;
  let position = 0; // in bits

  const bits = (count: number): number => {
    let value = 0;
    for (let i = 0; i < count; ++i, ++position) {
      const byte = input[position >> 3];
      if (byte === undefined) throw new RangeError("inflate: the data ends too early");
      value |= ((byte >> (position & 7)) & 1) << i;
    }
    return value;
  };

  // Canonical codes of one length are consecutive numbers: walk down the lengths until the number is in range.
  const symbolOf = ({ counts, symbols }: Code): number => {
    let code = 0;
    let first = 0;
    let index = 0;
    for (let length = 1; length <= MAX_BITS; ++length) {
      code |= bits(1);
      const count = counts[length] as number;
      if (code - count < first) return symbols[index + (code - first)] as number;
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    throw new RangeError("inflate: no such code");
  };

  const put = (byte: number): void => {
    if (written === size) throw new RangeError("inflate: the data is longer than announced");
    output[written++] = byte;
  };

  const readCodes = (): [Code, Code] => {
    const literals = bits(5) + 257;
    const distances = bits(5) + 1;
    const listed = bits(4) + 4;
    const first = new Uint8Array(19);
    for (let i = 0; i < listed; ++i) first[LENGTH_ORDER[i] as number] = bits(3);
    const code = codeOf(first);
    const lengths = new Uint8Array(literals + distances);
    for (let i = 0; i < lengths.length; ) {
      const symbol = symbolOf(code);
      if (symbol < 16) {
        lengths[i++] = symbol;
        continue;
      }
      // 16 repeats the last length 3 to 6 times; 17 and 18 are 3 to 10 and 11 to 138 zeros.
      const value = symbol === 16 ? (lengths[i - 1] ?? 0) : 0;
      const times = symbol === 16 ? 3 + bits(2) : symbol === 17 ? 3 + bits(3) : 11 + bits(7);
      lengths.fill(value, i, i + times);
      i += times;
    }
    return [codeOf(lengths.subarray(0, literals)), codeOf(lengths.subarray(literals))];
  };

  const copyBlock = (literals: Code, distances: Code): void => {
    for (;;) {
      const symbol = symbolOf(literals);
      if (symbol === END_OF_BLOCK) return;
      if (symbol < END_OF_BLOCK) {
        put(symbol);
        continue;
      }
      // Lengths from 3 to 258 and distances from 1 to 32768: four (two) steps of each width, then one bit wider.
      const l = symbol - 257;
      const wide = l < 8 ? 0 : (l >> 2) - 1;
      const length = l === 28 ? 258 : 3 + (l < 8 ? l : (4 + (l & 3)) << wide) + bits(wide);
      const d = symbolOf(distances);
      const far = d < 4 ? 0 : (d >> 1) - 1;
      const distance = 1 + (d < 4 ? d : (2 + (d & 1)) << far) + bits(far);
      if (distance > written) throw new RangeError("inflate: a distance reaches before the beginning");
      for (let i = 0; i < length; ++i) put(output[written - distance] as number);
    }
  };

  for (let last = 0; last === 0; ) {
    last = bits(1);
    const kind = bits(2);
    if (kind === 0) {
      position = (position + 7) & ~7;
      const length = bits(16);
      bits(16); // the same number, inverted
      for (let i = 0; i < length; ++i) put(bits(8));
    } else if (kind === 1) {
      copyBlock(fixedLiterals(), codeOf(new Uint8Array(30).fill(5)));
    } else if (kind === 2) {
      copyBlock(...readCodes());
    } else {
      throw new RangeError("inflate: no such kind of block");
    }
  }
  if (written !== size) throw new RangeError(`inflate: ${written} bytes came instead of ${size}`);
  return output;
}
