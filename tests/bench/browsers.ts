import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { serve } from "../../tools/lib/serve.js";
import { launchFirefox } from "../browser/firefox/launch.ts";
import { launchChromium } from "../browser/launch.ts";
import type { PageGlobals } from "./in-page.ts";
import type { Job, Report } from "./run.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const FOLDER = here("../../build/bench/page");

/** The measuring code as a module for pages; the peers' own files stay where they are. */
async function bundlePage(): Promise<void> {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  const esbuild = await import("esbuild");
  await esbuild.build({
    entryPoints: [here("in-page.ts")],
    outdir: FOLDER,
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2022",
    alias: { headscope: here("../../dist/index.js") },
    external: ["node:*"],
    logLevel: "error",
  });
  const page = "<!doctype html><title>bench</title><script type=module src=in-page.js></script>";
  writeFileSync(join(FOLDER, "index.html"), page);
  symlinkSync(here("peers/node_modules"), join(FOLDER, "peers"));
  symlinkSync(here("../../build/wasm-simd/reference.wasm"), join(FOLDER, "reference.wasm"));
}

/** A page whose module has run. */
interface OpenPage {
  readonly version: string;
  runBench(job: Job): Promise<void>;
  close(): Promise<void>;
}

type Open = (url: string, report: (text: string) => void) => Promise<OpenPage>;

/** Runs in the page. */
const runInPage = (job: Job) => (globalThis as unknown as PageGlobals).runBench(job);

const openChromium: Open = async (url, report) => {
  const browser = await launchChromium();
  const page = await browser.newPage();
  await page.exposeFunction("report", report);
  await page.goto(url); // waits for the load event, and that for the module
  return {
    version: `Chromium ${browser.version()}`,
    runBench: (job) => page.evaluate(runInPage, job),
    close: () => browser.close(),
  };
};

const openFirefox: Open = async (url, report) => {
  const browser = await launchFirefox({
    protocolTimeout: 3_600_000,
    extraPrefsFirefox: {
      "javascript.options.wasm_relaxed_simd": true, // a default in newer versions
      "privacy.reduceTimerPrecision": false,
    },
  });
  const page = await browser.newPage();
  await page.exposeFunction("report", report);
  await page.goto(url);
  return {
    version: (await browser.version()).replace("/", " ").replace(/^firefox/, "Firefox"),
    runBench: (job) => page.evaluate(runInPage, job),
    close: () => browser.close(),
  };
};

/** Opens the page, runs jobs in it and closes it again. */
export async function browserEngine(name: "chromium" | "firefox") {
  await bundlePage();
  // An isolated page has a clock of 5 µs in Chromium instead of 100.
  const headers = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };
  const inside = async <T>(report: (report: Report) => void, work: (page: OpenPage) => Promise<T>): Promise<T> => {
    const server = await serve(FOLDER, { headers });
    try {
      const open = name === "chromium" ? openChromium : openFirefox;
      const page = await open(server.url, (text) => report(JSON.parse(text)));
      try {
        return await work(page);
      } finally {
        await page.close();
      }
    } finally {
      await server.close();
    }
  };
  return {
    description: await inside(
      () => {},
      async (page) => page.version,
    ),
    run: (job: Job, report: (report: Report) => void) => inside(report, (page) => page.runBench(job)),
  };
}
