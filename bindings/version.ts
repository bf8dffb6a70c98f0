/** The version in package.json, which the wasm modules are built with too; loading compares the two. */
export const VERSION = "0.1.0";
