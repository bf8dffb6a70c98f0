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

/** The same for a folder, as an address or a path; ends with a slash. */
export async function peerFolder(path: string): Promise<string> {
  if (typeof document !== "undefined") return new URL(`peers/${path}`, document.baseURI).href;
  const { fileURLToPath } = await import("node:url");
  return fileURLToPath(new URL(`./node_modules/${path}`, import.meta.url));
}
