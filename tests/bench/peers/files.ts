/** A file of a peer's package: fetched in a page (the harness serves the folder as peers/), read in Node. */
export async function peerBytes(path: string): Promise<Uint8Array<ArrayBuffer>> {
  if (typeof document !== "undefined") {
    const response = await fetch(new URL(`peers/${path}`, document.baseURI));
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  }
  const { readFile } = await import("node:fs/promises");
  return new Uint8Array(await readFile(new URL(`./node_modules/${path}`, import.meta.url)));
}
