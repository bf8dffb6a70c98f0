import type { ByteSource, SourceOptions } from "./byte-source.js";
import { withRangeCache } from "./range-cache.js";
import { UrlSource } from "./url-source.js";

/** What is at an address. Nothing is read yet. */
export async function openRemote(address: string, { onBytes, cache }: SourceOptions): Promise<ByteSource> {
  const url = new UrlSource(address, onBytes);
  return cache === "off" ? url : withRangeCache(url, cache === "reload", onBytes);
}
