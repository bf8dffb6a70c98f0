/**
 * A token as it is shown: spaces, line breaks and invisible characters become marks that can be told apart by sight,
 * and each label is isolated, so that right-to-left words never reorder their neighbours.
 */

import { el } from "./dom.js";

export interface LabelPart {
  readonly text: string;
  /** A stand-in for something invisible, drawn softer than typed text (a typed ␣ is not a space). */
  readonly mark: boolean;
}

const MARKS: Record<string, string> = { " ": "␣", "\n": "↵", "\r\n": "↵", "\r": "␍", "\t": "⇥", "\u00a0": "⍽" };
// Default_Ignorable_Code_Point has the fillers that are letters by category (Hangul, Khmer); two symbols are blank by
// design (the empty braille cell, the note without a head).
const INVISIBLE = /\p{Cc}|\p{Cf}|\p{Zs}|\p{Zl}|\p{Zp}|\p{Cs}|\p{Default_Ignorable_Code_Point}|[\u2800\u{1d159}]/u;
/** Drawn over or beside the character before it. */
const COMBINING = /\p{M}/u;
const VARIATION = /\p{Variation_Selector}/u;
/** What Unicode's own charts put a combining mark on that stands alone. */
const CIRCLE = "◌";
const ON_CIRCLE = /◌\p{M}+$/u;
const JOINER = /[\u200c\u200d]/;
const EMOJI = /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Variation_Selector}/u;
const JOINED_SCRIPT = /[^\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}\p{Script=Common}]/u;
// Emoji tag sequences (flags of England, Scotland, Wales) are made of format characters.
const EMOJI_TAG = /[\u{e0020}-\u{e007f}]/u;

/**
 * A byte that is only a piece of a character, as a character of a text to show: code points of the last private plane,
 * which nobody types, stand for the 256 bytes.
 */
const BYTE_MARKS = 0x10_ff00;

export function byteMark(byte: number): string {
  return String.fromCodePoint(BYTE_MARKS + byte);
}

function byteOf(character: string): number | null {
  const byte = (character.codePointAt(0) as number) - BYTE_MARKS;
  return byte >= 0 ? byte : null;
}

export function labelParts(text: string): LabelPart[] {
  const parts: LabelPart[] = [];
  const add = (piece: string, mark: boolean) => {
    const last = parts[parts.length - 1];
    if (last && last.mark === mark) parts[parts.length - 1] = { text: last.text + piece, mark };
    else parts.push({ text: piece, mark });
  };
  if (text === "\r\n") return [{ text: "↵", mark: true }];
  let previous = "";
  /** Whether there is a character that a combining mark goes with, and not a stand-in for one. */
  let based = false;
  const bytes: string[] = [];
  for (const character of text) {
    const known = MARKS[character];
    const byte = byteOf(character);
    const hidden: boolean = INVISIBLE.test(character) && !belongs(character, previous, based);
    const combining: boolean = !hidden && COMBINING.test(character);
    if (byte !== null) bytes.push(byte.toString(16).toUpperCase().padStart(2, "0"));
    else if (known) add(known, true);
    else if (hidden) add(hex(character), true);
    // A mark, or several, on nothing: the circle and its marks are one stand-in, and one shape.
    else if (combining && !based) add(onCircle(parts, character), true);
    else add(character, false);
    based = byte === null && !known && !hidden && (based || !combining);
    previous = character;
  }
  if (bytes.length > 0) add(`‹${bytes.join(" ")}›`, true);
  return parts;
}

/** The circle is there already where the last mark stands on it. */
function onCircle(parts: readonly LabelPart[], mark: string): string {
  const last = parts[parts.length - 1];
  return last?.mark && ON_CIRCLE.test(last.text) ? mark : CIRCLE + mark;
}

// A joiner inside an emoji or a script that needs it is part of the shape, not something hidden; a variation selector
// chooses the shape of the character before it.
function belongs(character: string, previous: string, based: boolean): boolean {
  if (VARIATION.test(character)) return based;
  if (EMOJI_TAG.test(character)) return EMOJI.test(previous) || EMOJI_TAG.test(previous);
  return JOINER.test(character) && previous !== "" && (EMOJI.test(previous) || JOINED_SCRIPT.test(previous));
}

function hex(character: string): string {
  const point = (character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, "0");
  return `‹U+${point}›`;
}

export function labelText(text: string): string {
  return labelParts(text)
    .map((part) => part.text)
    .join("");
}

/** `<bdi>` with the label; soft spans are the marks. */
export function tokenNode(text: string, className = "token"): HTMLElement {
  const node = el("bdi", { class: className });
  // What may need cutting off with "…"; the rest is spared the clip.
  if (text.length > 6) node.classList.add("long");
  for (const part of labelParts(text)) node.append(part.mark ? el("span", { class: "mark" }, part.text) : part.text);
  return node;
}
