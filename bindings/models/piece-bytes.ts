/** How a vocabulary spells text. */
export type Spelling = "bytes" | "metaspace" | "words";

let byteOfCharacter: Map<string, number> | undefined;

/** GPT-2's printable stand-ins for the 256 bytes (Radford et al. 2019, encoder.py's bytes_to_unicode). */
function byteTable(): Map<string, number> {
  if (byteOfCharacter !== undefined) return byteOfCharacter;
  byteOfCharacter = new Map();
  let next = 256;
  for (let byte = 0; byte < 256; ++byte) {
    const printable = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
    byteOfCharacter.set(String.fromCodePoint(printable ? byte : next++), byte);
  }
  return byteOfCharacter;
}

let characterOfByte: string[] | undefined;

/** The same the other way: the stand-ins of a text's bytes. */
export function spellBytes(text: string): string {
  characterOfByte ??= [...byteTable()].sort((a, b) => a[1] - b[1]).map(([character]) => character);
  let spelled = "";
  for (const byte of utf8(text)) spelled += characterOfByte[byte] as string;
  return spelled;
}

let encoder: TextEncoder | undefined;

export function utf8(text: string): Uint8Array {
  encoder ??= new TextEncoder();
  return encoder.encode(text);
}

/**
 * The bytes that a piece spells.
 *
 * @param prefix what marks pieces that continue a word, `"##"` for WordPiece
 */
export function pieceBytes(piece: string, spelling: Spelling, prefix: string): Uint8Array {
  if (spelling === "bytes") {
    const table = byteTable();
    const bytes: number[] = [];
    for (const character of piece) {
      const byte = table.get(character);
      if (byte === undefined) bytes.push(...utf8(character));
      else bytes.push(byte);
    }
    return Uint8Array.from(bytes);
  }
  if (spelling === "words") return utf8(prefix !== "" && piece.startsWith(prefix) ? piece.slice(prefix.length) : piece);
  const byte = /^<0x([0-9A-Fa-f]{2})>$/.exec(piece)?.[1];
  return byte === undefined ? utf8(piece.replaceAll("▁", " ")) : Uint8Array.of(Number.parseInt(byte, 16));
}

/** Text where it is whole, `<0xE6>` for the bytes of characters that are cut. */
export function textOfBytes(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes, at);
    if (length > 0) {
      text += new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(at, at + length));
      at += length;
    } else {
      text += `<0x${(bytes[at] as number).toString(16).toUpperCase().padStart(2, "0")}>`;
      at += 1;
    }
  }
  return text;
}

/** Bytes of the character that begins here; 0 where there is none, or not all of it. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number;
  const length =
    first < 0x80
      ? 1
      : first >= 0xc2 && first < 0xe0
        ? 2
        : first >= 0xe0 && first < 0xf0
          ? 3
          : first >= 0xf0 && first < 0xf5
            ? 4
            : 0;
  if (at + length > bytes.length) return 0;
  for (let i = 1; i < length; ++i) if (((bytes[at + i] as number) & 0xc0) !== 0x80) return 0;
  return length;
}
