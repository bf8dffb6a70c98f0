/**
 * A long text in a link: deflated, in the letters of base64url. A page of English takes a third of its percent-encoded
 * length, one of Chinese a sixth.
 */

/** Far more than is ever looked at; a link that unfolds to more was not made by this page. */
const MOST_BYTES = 4 << 20;

/** Null where the browser cannot: links then hold the text as it is. */
export async function packText(text: string): Promise<string | null> {
  const deflate = open(() => new CompressionStream("deflate-raw"));
  if (!deflate) return null;
  const bytes = await collect(new Blob([text]).stream().pipeThrough(deflate), Number.POSITIVE_INFINITY);
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/** Null for what is damaged, too long, or in a browser that cannot unpack. */
export async function unpackText(packed: string): Promise<string | null> {
  const inflate = open(() => new DecompressionStream("deflate-raw"));
  if (!inflate) return null;
  try {
    const binary = atob(packed.replace(/-/g, "+").replace(/_/g, "/"));
    const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
    const text = await collect(new Blob([bytes]).stream().pipeThrough(inflate), MOST_BYTES);
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(text);
  } catch {
    return null;
  }
}

// Older engines have no such stream, or not in this format.
function open<Stream>(make: () => Stream): Stream | null {
  try {
    return make();
  } catch {
    return null;
  }
}

async function collect(stream: ReadableStream<Uint8Array>, most: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new RangeError("too long");
    }
    parts.push(value);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
