import { HeadscopeError, type HeadscopeErrorCode } from "../errors.js";

/** An error as plain data: structured cloning keeps neither a HeadscopeError's class nor its properties. */
export interface WireError {
  readonly name: string;
  readonly message: string;
  readonly code?: HeadscopeErrorCode;
  readonly argument?: string | undefined;
  readonly expected?: string | undefined;
  readonly actual?: string | undefined;
  readonly cause?: WireError | undefined;
}

export function packError(error: unknown): WireError {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const { name, message } = error;
  const cause = error.cause === undefined ? undefined : packError(error.cause);
  if (!(error instanceof HeadscopeError)) return { name, message, cause };
  const { code, argument, expected, actual } = error;
  return { name, message, code, argument, expected, actual, cause };
}

/** The same error in this realm, so that `instanceof` holds. */
export function unpackError({ name, message, code, argument, expected, actual, cause: packed }: WireError): Error {
  const cause = packed && unpackError(packed);
  if (code !== undefined) {
    return new HeadscopeError(code, message, {
      ...(argument !== undefined && { argument }),
      ...(expected !== undefined && { expected }),
      ...(actual !== undefined && { actual }),
      cause,
    });
  }
  const details = cause && { cause };
  if (name === "TypeError") return new TypeError(message, details);
  if (name === "RangeError") return new RangeError(message, details);
  const error = new Error(message, details);
  error.name = name;
  return error;
}
