// Names, texts and messages come out of files and prompts: on a terminal a control character in them could move the
// cursor, recolour the screen or turn the direction of the line.
const UNSAFE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Text that does nothing on a terminal but show: control, format and lone surrogate characters as `\u{1b}`. */
export function escapeText(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u{${character.charCodeAt(0).toString(16)}}`);
}

/** The same with whitespace made visible, for tokens: it is part of them. */
export function escapeToken(text: string): string {
  return escapeText(text.replaceAll(" ", "␣").replaceAll("\n", "↵").replaceAll("\t", "⇥"));
}

/** One line, whatever the message holds. */
export function escapeLine(text: string): string {
  return escapeText(text.replace(/\s*\n\s*/g, " "));
}
