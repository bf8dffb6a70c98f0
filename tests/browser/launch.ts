import path from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, type BrowserContext, chromium as driver, type Page } from "playwright-core";
import { chromium } from "../../tools/lib/browsers.js";
import { serve } from "../../tools/lib/serve.js";
import { PATIENCE } from "./until.js";

const projectRoot = fileURLToPath(new URL("../..", import.meta.url));

/** The built page, as `npm start` serves it. */
export const SITE = path.join(projectRoot, "build/site");

/** `SLOW=4 npm test -- tests/browser`: pages run at a quarter of the speed, and their files come late. */
const SLOW = Number(process.env["SLOW"] ?? 1);

/** The policy that the page has to work under. */
export const CSP = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";

/**
 * Debian's Chromium without a window and without traffic of its own, so that every request a test sees is the page's.
 * `args` come after the usual ones: `--js-flags=…`, `--lang=…`.
 */
export async function launchChromium(args: readonly string[] = []): Promise<Browser> {
  const executablePath = chromium.find();
  if (executablePath === undefined) throw new Error(`There is no Chromium: ${chromium.howToInstall}.`);
  const browser = await driver.launch({
    executablePath,
    headless: true,
    args: [
      "--no-sandbox", // CI machines run as root
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-domain-reliability",
      "--disable-sync",
      "--no-first-run",
      "--no-pings",
      ...args,
    ],
  });
  browser.on("context", (context) => {
    context.setDefaultTimeout(PATIENCE);
    if (SLOW > 1) context.on("page", (page) => void slowDown(context, page));
  });
  return browser;
}

async function slowDown(context: BrowserContext, page: Page): Promise<void> {
  try {
    const session = await context.newCDPSession(page);
    await session.send("Emulation.setCPUThrottlingRate", { rate: SLOW });
  } catch {
    // Closed meanwhile.
  }
}

export interface ServedSite {
  /** Ends with a slash. */
  readonly url: string;
  /** The paths asked for so far, in order. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

/** A static server for a folder on a free port of this machine. `basePath` is "/some/path/", as on a project's Pages. */
export function serveSite(
  folder: string = SITE,
  options: { csp?: string; basePath?: string } = {},
): Promise<ServedSite> {
  // A test that fails may leave its server: the run must end all the same.
  return serve(folder, { ...options, unref: true, delay: SLOW > 1 ? 100 * SLOW : 0 });
}
