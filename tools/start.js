// npm start: builds what is missing and serves the page on this machine. npm run dev: the same with reload on every edit.
import { watch } from "node:fs";
import { join } from "node:path";
import { build } from "./lib/build.js";
import { root, StepError, say, script } from "./lib/process.js";
import { serve } from "./lib/serve.js";
import { viteOptions } from "./lib/site.js";

const FIRST_PORT = 4173;

function wantedPort() {
  const at = process.argv.indexOf("--port");
  if (at < 0) return undefined;
  const port = Number(process.argv[at + 1]);
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    throw new StepError(`npm start -- --port N: a port from 0 to 65535, not ${process.argv[at + 1]}.`);
  }
  return port;
}

/** The wanted port, or the first free one from FIRST_PORT on. */
async function servePage() {
  const folder = join(root, "build/site");
  const port = wantedPort();
  for (let next = port ?? FIRST_PORT; ; next++) {
    try {
      return await serve(folder, { port: next });
    } catch (error) {
      const { code } = /** @type {NodeJS.ErrnoException} */ (error);
      if (code !== "EADDRINUSE" || next === FIRST_PORT + 100) throw error;
      if (port !== undefined) throw new StepError(`port ${port} is taken.`);
    }
  }
}

async function develop() {
  await build("package");
  const { createServer } = await import("vite");
  const server = await createServer({
    ...viteOptions,
    server: { host: "127.0.0.1", port: wantedPort() ?? FIRST_PORT, fs: { allow: [root] } },
  });
  await server.listen();
  server.printUrls();

  // The core and the facade are built anew a moment after the last edit; Vite sees dist/ change and reloads.
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  let building = Promise.resolve();
  const rebuild = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      building = building.then(() => build("package")).catch((/** @type {Error} */ error) => say(error.message));
    }, 200);
  };
  for (const folder of ["src", "bindings"]) {
    watch(join(root, folder), { recursive: true }, (_event, name) => {
      if (!String(name).startsWith("generated")) rebuild();
    });
  }
}

script(async () => {
  if (process.argv.includes("--dev")) return develop();
  wantedPort();
  await build();
  const { url } = await servePage();
  process.stdout.write(`\nheadscope is at ${url}\nStop it with Ctrl+C.\n`);
});
