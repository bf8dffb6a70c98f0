// A user's app: a page with one script, served and opened, and what its program prints.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Browser } from "playwright-core";
import { serveSite } from "./launch.ts";
import { PATIENCE } from "./until.ts";

/**
 * Writes `index.html`. The icon is a file of the app: a browser asks for one anyway, and the policy forbids data:
 * addresses.
 */
export function writePage(folder: string, script: string, body = ""): void {
  const head = '<meta charset="utf-8" /><title>app</title><link rel="icon" href="./icon.svg" />';
  mkdirSync(path.join(folder, "public"), { recursive: true });
  writeFileSync(
    path.join(folder, "index.html"),
    `<!doctype html>${head}${body}<script type="module" src="${script}"></script>`,
  );
  for (const place of [".", "public"]) {
    writeFileSync(path.join(folder, place, "icon.svg"), '<svg xmlns="http://www.w3.org/2000/svg" />');
  }
}

/** Opens an app and returns what its program printed, or throws what went wrong in the page. */
export async function printed(
  browser: Browser,
  folder: string,
  options: { csp?: string; basePath?: string } = {},
): Promise<unknown> {
  const site = await serveSite(folder, options);
  const tab = await browser.newPage();
  try {
    const answer = new Promise<string>((resolve, reject) => {
      setTimeout(() => reject(new Error(`nothing is printed after ${PATIENCE / 1000} s`)), PATIENCE).unref();
      tab.on("console", (message) =>
        message.type() === "log" ? resolve(message.text()) : reject(new Error(message.text())),
      );
      tab.on("pageerror", reject);
    });
    await tab.goto(site.url);
    return JSON.parse(await answer);
  } finally {
    await tab.close();
    await site.close();
  }
}
