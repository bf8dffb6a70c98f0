/** Pieces that arrive one after the other, as one array. Grows with what came, not with what somebody promised. */
export class ByteList {
  #bytes: Uint8Array;
  length = 0;

  /** `expected` bytes are made at once where that many are certain to come. */
  constructor(expected = 0) {
    this.#bytes = new Uint8Array(expected);
  }

  push(piece: Uint8Array): void {
    const end = this.length + piece.length;
    if (end > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(end, 2 * this.#bytes.length));
      grown.set(this.#bytes.subarray(0, this.length));
      this.#bytes = grown;
    }
    this.#bytes.set(piece, this.length);
    this.length = end;
  }

  /** A view. What follows may move the bytes elsewhere, but never changes the view. */
  view(begin = 0, end = this.length): Uint8Array {
    return this.#bytes.subarray(begin, Math.min(end, this.length));
  }
}
