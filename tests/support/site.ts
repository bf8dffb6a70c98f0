/** What one page of the built site asks for, found in its files. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";

/**
 * The files that a page leads to: what its markup names, what those scripts import, now or later, and the style sheets
 * and workers they name. Pages that it links to are pages of their own.
 */
export function filesOf(site: string, page: string): string[] {
  const found = new Set<string>();
  const visit = (file: string) => {
    if (found.has(file) || !existsSync(file)) return;
    found.add(file);
    // The service worker names every file of the site, for later.
    if (!/\.(html|js|css)$/.test(file) || file.endsWith("service-worker.js")) return;
    const text = readFileSync(file, "utf8");
    const names = file.endsWith(".html")
      ? text.matchAll(/(?:src|href)="\.\/([^"#]+)"/g)
      : text.matchAll(/["'`(](?:\.\/)?((?:assets\/)?[\w.-]+\.(?:js|css|gguf|json))["'`)]/g);
    for (const [, name = ""] of names) {
      if (name.endsWith(".html")) continue;
      for (const folder of [path.dirname(file), site]) visit(path.join(folder, name));
    }
  };
  visit(path.join(site, page));
  return [...found];
}

/** Bytes over the wire. */
export function compressed(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + gzipSync(readFileSync(file), { level: 9 }).length, 0);
}
