import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

/** Everything that importing the default entry loads, file by file gzipped: facade, glue and the baseline's wasm. */
export function entryBytes(entry = new URL("../../dist/index.js", import.meta.url)): number {
  const seen = new Set<string>();
  const visit = (file: URL): number => {
    if (seen.has(file.href)) return 0;
    seen.add(file.href);
    const text = readFileSync(file, "utf8");
    const imports = [...text.matchAll(/(?:import|from)\s*"(\.[^"]+)"/g)].map(
      ([, path]) => new URL(path as string, file),
    );
    return gzipSync(text, { level: 9 }).length + imports.reduce((sum, each) => sum + visit(each), 0);
  };
  return visit(entry);
}
