/**
 * Takes the pictures of the README from the real page: `node --import tsx tests/browser/pictures.ts` after a build.
 * Pictures are read, not compared: a font of another machine may change every pixel.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DEFAULT_SOURCE } from "../../web/playground/sources/index.js";
import { readPng, writePng } from "../support/png.ts";
import { launchChromium, serveSite } from "./launch.js";
import { firstPicture, settled } from "./page.js";

const folder = fileURLToPath(new URL("../../web/pictures", import.meta.url));
const LIMIT = 150 * 1024;

const pictures = [
  { name: "playground-light", width: 1280, height: 1080, colorScheme: "light", locale: "en-US" },
  { name: "playground-dark", width: 1280, height: 1080, colorScheme: "dark", locale: "en-US" },
  { name: "playground-chinese", width: 1280, height: 960, colorScheme: "light", locale: "zh-CN" },
  { name: "playground-phone", width: 390, height: 844, colorScheme: "light", locale: "en-US" },
] as const;

const site = await serveSite();
const browser = await launchChromium();
mkdirSync(folder, { recursive: true });
for (const { name, width, height, colorScheme, locale } of pictures) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    locale,
    serviceWorkers: "block",
  });
  const page = await context.newPage();
  await page.goto(site.url);
  await firstPicture(page);
  if (DEFAULT_SOURCE === "tiny") await page.locator("fieldset#layers:not([hidden])").waitFor();
  // Some more, warm: the time that the status line shows is then that of the computation.
  const text = await page.locator("#text").inputValue();
  for (let i = 0; i < 10; i++) {
    await page.locator("#text").fill(`${text}!`);
    await settled(page);
    await page.locator("#text").fill(text);
    await settled(page);
  }
  await page.waitForTimeout(300);
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  const picture = writePng(readPng(await page.screenshot()));
  const size = picture.length;
  writeFileSync(join(folder, `${name}.png`), picture);
  if (size > LIMIT) throw new Error(`${name}.png has ${size} bytes, more than ${LIMIT}`);
  process.stdout.write(`${name}.png ${(size / 1024).toFixed(0)} KB\n`);
  await context.close();
}
await browser.close();
await site.close();
