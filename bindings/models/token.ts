/** A piece of a text as a model reads it. */
export interface Token {
  readonly id: number;
  /** Its spelling in the vocabulary: `"Ġare"`, `"##ing"`, `"▁How"`, `"<0xE6>"`. */
  readonly piece: string;
  /**
   * What it stands for: the typed text itself, also where the model lowers its capitals or takes its accents off. Where
   * `partial` says that it is only a piece of a character, the bytes of that are written out: `" <0xE6><0x88>"`.
   */
  readonly text: string;
  /** The same in UTF-8, where pieces of a character are its very bytes. Empty for marks that nobody typed. */
  readonly bytes: Uint8Array;
  /** Where it is in the text that was typed, in UTF-16 units as JavaScript counts: `text.slice(start, end)`. */
  readonly start: number;
  readonly end: number;
  /** Whether it begins or ends inside a character, all of which `start` and `end` then enclose. */
  readonly partial: boolean;
  /** Whether it is a mark of the model's own, such as `[CLS]`. */
  readonly special: boolean;
}

export interface TokenizeOptions {
  /** true: marks that are typed out (`[CLS]`, `<|endoftext|>`) are the marks themselves. Default false: they are text. */
  readonly special?: boolean | undefined;
}

export interface TextTokenizer {
  tokenize(text: string, options: TokenizeOptions): Token[];
}
