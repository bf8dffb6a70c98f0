/** A piece of a text as a model reads it. */
export interface Token {
  readonly id: number;
  /**
   * What it stands for, as text. Where `partial` says that it is only a piece of a character, its bytes as
   * `<0xE6><0x88>`.
   */
  readonly text: string;
  /** What it stands for in UTF-8; empty for special tokens. */
  readonly bytes: Uint8Array;
  /** Where it is in the text that was typed, in UTF-16 units as JavaScript counts: `text.slice(start, end)`. */
  readonly start: number;
  readonly end: number;
  /** Whether it begins or ends inside a character. */
  readonly partial: boolean;
  /** Whether it is a mark of the model's own, such as `[CLS]`. */
  readonly special: boolean;
}
