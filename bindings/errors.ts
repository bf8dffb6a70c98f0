import { describe } from "./describe.js";

/**
 * - `shape`: sizes of tensors do not fit each other
 * - `config`: settings do not go together
 * - `memory`: it needs more memory than there is (4 GiB at most), or a cache is full
 * - `disposed`: the object was disposed
 * - `format`: bytes are not what they should be (not a headscope module, another version)
 * - `unsupported`: the engine lacks something
 * - `aborted`: the caller's signal stopped it
 */
export type HeadscopeErrorCode = "shape" | "config" | "memory" | "disposed" | "format" | "unsupported" | "aborted";

interface Details {
  readonly argument?: string;
  readonly expected?: string;
  readonly actual?: string;
  readonly cause?: unknown;
}

/** Every failure that is neither a wrong type nor a number out of range. `code` tells the kind. */
export class HeadscopeError extends Error {
  readonly code: HeadscopeErrorCode;
  /** The argument at fault, e.g. `"weights.wq"`. */
  readonly argument?: string;
  readonly expected?: string;
  readonly actual?: string;

  constructor(code: HeadscopeErrorCode, message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "HeadscopeError";
    this.code = code;
    if (details.argument !== undefined) this.argument = details.argument;
    if (details.expected !== undefined) this.expected = details.expected;
    if (details.actual !== undefined) this.actual = details.actual;
  }
}

function sentence(argument: string, expected: string, actual: string, hint?: string): string {
  const text = `${argument}: expected ${expected}, got ${actual}`;
  return hint === undefined ? text : `${text}; ${hint}`;
}

/** For a value of the wrong kind: `argument: expected …, got …`. */
export function wrongType(argument: string, expected: string, value: unknown, hint?: string): TypeError {
  return new TypeError(sentence(argument, expected, describe(value), hint));
}

/** For a number outside its range, NaN or a fraction. */
export function outOfRange(argument: string, expected: string, value: unknown, hint?: string): RangeError {
  return new RangeError(sentence(argument, expected, describe(value), hint));
}

/** For values that do not fit each other. */
export function mismatch(
  code: HeadscopeErrorCode,
  argument: string,
  expected: string,
  actual: string,
  hint?: string,
): HeadscopeError {
  return new HeadscopeError(code, sentence(argument, expected, actual, hint), { argument, expected, actual });
}
