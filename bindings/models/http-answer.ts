// What the headers of an answer say about a file and its parts.

/** What tells one version of a file from another. */
export interface Version {
  readonly size: number | undefined;
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
}

/** `bytes 0-99/1234` or `bytes 0-99/*`, with `end` exclusive. */
export function parseContentRange(text: string): { begin: number; end: number; size: number | undefined } | undefined {
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/i.exec(text.trim());
  if (match === null) return undefined;
  const begin = Number(match[1]);
  const end = Number(match[2]) + 1;
  const size = match[3] === "*" ? undefined : Number(match[3]);
  return end <= begin || (size !== undefined && end > size) ? undefined : { begin, end, size };
}

/** The size in the `bytes *\/1234` of a 416 answer. */
export function parseUnsatisfied(text: string): number | undefined {
  const match = /^bytes \*\/(\d{1,15})$/i.exec(text.trim());
  return match === null ? undefined : Number(match[1]);
}

/** Bytes of the body as it was sent. */
export function lengthOf(response: Response): number | undefined {
  const text = response.headers.get("Content-Length");
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Bytes of the file that a 200 answer is; undefined where the body is compressed, whose length says nothing. */
export function wholeLengthOf(response: Response): number | undefined {
  const coding = response.headers.get("Content-Encoding") ?? "";
  return coding === "" || coding === "identity" ? lengthOf(response) : undefined;
}

// Too early, too many requests, and gateways and servers that are busy for a moment.
const PASSING_STATUSES = [408, 425, 429, 500, 502, 503, 504];

export function isPassing(status: number): boolean {
  return PASSING_STATUSES.includes(status);
}
