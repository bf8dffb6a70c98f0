/** A value of a file's metadata, short enough to show. */
export interface MetadataRow {
  readonly key: string;
  /** In GGUF's words: `"u32"`, `"string[]"`; undefined where the file was opened as a model and the type is not known. */
  readonly type: string | undefined;
  /** How many elements an array has; undefined for a single value. */
  readonly count: number | undefined;
  /** How many characters a text has that was cut. */
  readonly characters: number | undefined;
  /** A single value, or the first ones of an array. Texts may be cut; whole numbers above 2^53 are decimal strings. */
  readonly value: MetadataValue | readonly MetadataValue[];
}

export type MetadataValue = string | number | boolean | null;

/** Elements of an array that are shown, and characters of a text. */
const ELEMENTS = 6;
const CHARACTERS = 80;

export function metadataRows(
  metadata: ReadonlyMap<string, unknown>,
  types: ReadonlyMap<string, string> | undefined,
): MetadataRow[] {
  return [...metadata].map(([key, value]) => {
    const type = types?.get(key);
    if (Array.isArray(value) || ArrayBuffer.isView(value)) {
      const list = value as unknown as ArrayLike<unknown>;
      const first = Array.from({ length: Math.min(ELEMENTS, list.length) }, (_, i) => simple(list[i]));
      return { key, type, count: list.length, characters: undefined, value: first };
    }
    const characters = typeof value === "string" && value.length > CHARACTERS ? value.length : undefined;
    return { key, type, count: undefined, characters, value: simple(value) };
  });
}

function simple(value: unknown): MetadataValue {
  if (typeof value === "string") return cut(value);
  if (typeof value === "number" || typeof value === "boolean") return value;
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return `${value.length} elements`;
  return value === null || value === undefined ? null : String(value);
}

function cut(text: string): string {
  if (text.length <= CHARACTERS) return text;
  // Not through the middle of a surrogate pair.
  const last = text.charCodeAt(CHARACTERS - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? CHARACTERS - 1 : CHARACTERS);
}
