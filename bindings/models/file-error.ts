import { HeadscopeError, type HeadscopeErrorCode } from "../errors.js";

/** A name from a file as messages show it: quoted, with control characters escaped, and never long. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
}

/** `model.gguf: tensor "w": expected …, got …`. */
export function fileError(
  file: string,
  part: string,
  expected: string,
  actual: string,
  details: { code?: HeadscopeErrorCode; hint?: string; cause?: unknown } = {},
): HeadscopeError {
  const { code = "format", hint, cause } = details;
  const message = `${file}: ${part}: expected ${expected}, got ${actual}${hint === undefined ? "" : `; ${hint}`}`;
  return new HeadscopeError(code, message, { argument: part, expected, actual, cause });
}

/** The file at an address is no longer the one whose first part was read. */
export class FileChangedError extends HeadscopeError {
  constructor(file: string, what: string, expected: string, actual: string) {
    const message = `${file}: the file changed while it was read: expected ${what} ${expected}, got ${actual}; open it again`;
    super("format", message, { argument: what, expected, actual });
  }
}
