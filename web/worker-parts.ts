/**
 * Vite plugin for the worker's bundle: the code of the given files is fetched when the first of the functions is called
 * that they export. All of these return promises, so that nobody can tell, and the package itself goes without.
 */

import type { Plugin } from "vite";

const PREFIX = "\0later:";

/** @param functions names of the exports that are used, by file */
export function later(functions: Readonly<Record<string, readonly string[]>>): Plugin {
  return {
    name: "headscope-later",
    enforce: "pre",
    async resolveId(source, importer) {
      if (importer === undefined || importer.startsWith(PREFIX)) return null;
      const resolved = await this.resolve(source, importer, { skipSelf: true });
      return resolved && resolved.id in functions ? PREFIX + resolved.id : null;
    },
    load(id) {
      if (!id.startsWith(PREFIX)) return null;
      const file = id.slice(PREFIX.length);
      const lines = functions[file]?.map(
        (name) => `export const ${name} = async (...args) => (await import(${JSON.stringify(file)})).${name}(...args);`,
      );
      return lines?.join("\n");
    },
  };
}
