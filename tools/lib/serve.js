// A static server for this machine only: npm start and the browser tests. No dependency, the MIME types that browsers
// insist on, and what a test wants to know: a Content-Security-Policy, a sub-path, the list of requests.
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize, sep } from "node:path";

/** @type {Record<string, string>} */
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".webmanifest": "application/manifest+json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".woff2": "font/woff2",
};

/**
 * The file that a request path means, or undefined: nothing outside the folder, and index.html for a folder.
 * @param {string} folder
 * @param {string} path
 * @returns {{ file: string, size: number } | undefined}
 */
function fileFor(folder, path) {
  let name;
  try {
    name = normalize(decodeURIComponent(path));
  } catch {
    return undefined; // a broken percent escape
  }
  if (name.includes("\0") || name.split(sep).includes("..")) return undefined;
  const file = join(folder, name);
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isDirectory()) return path.endsWith("/") ? fileFor(folder, `${path}index.html`) : undefined;
  return found?.isFile() ? { file, size: found.size } : undefined;
}

/**
 * @param {string} folder
 * @param {{ port?: number, basePath?: string, csp?: string, headers?: Record<string, string>, delay?: number, unref?: boolean }} [options]
 *   basePath: "/some/path/", default "/"; port 0 is any free one; delay: milliseconds before each answer; unref: Node may
 *   end while it listens.
 * @returns {Promise<{ url: string, requests: string[], close(): Promise<void> }>} requests: the paths asked for, in order.
 */
export function serve(folder, { port = 0, basePath = "/", csp, headers = {}, delay = 0, unref = false } = {}) {
  /** @type {string[]} */
  const requests = [];
  /** @type {import("node:http").RequestListener} */
  const answer = (request, response) => {
    // Not new URL(request.url, base): "//" would be read as an address without a host, and refused by an exception.
    const path = new URL(`http://localhost${request.url ?? "/"}`).pathname;
    requests.push(path);
    response.setHeader("Cache-Control", "no-cache");
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (csp) response.setHeader("Content-Security-Policy", csp);
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.writeHead(405, { Allow: "GET, HEAD" }).end();
      return;
    }
    const found = path.startsWith(basePath) ? fileFor(folder, `/${path.slice(basePath.length)}`) : undefined;
    if (!found) {
      response.writeHead(404, { "Content-Type": "text/plain; charset=utf-8" }).end("There is no such file here.\n");
      return;
    }
    response.writeHead(200, {
      "Content-Type": TYPES[extname(found.file)] ?? "application/octet-stream",
      "Content-Length": found.size,
    });
    if (request.method === "HEAD") response.end();
    else
      createReadStream(found.file)
        .on("error", () => response.destroy())
        .pipe(response);
  };
  const server = createServer((request, response) => {
    if (delay > 0) setTimeout(() => answer(request, response), delay);
    else answer(request, response);
  });
  if (unref) server.unref();
  return new Promise((done, failed) => {
    server.once("error", failed);
    server.listen(port, "127.0.0.1", () => {
      const address = /** @type {import("node:net").AddressInfo} */ (server.address());
      done({
        url: `http://127.0.0.1:${address.port}${basePath}`,
        requests,
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            server.closeAllConnections();
          }),
      });
    });
  });
}
