/**
 * Takes the pictures of the README from the real page: `node --import tsx tests/browser/pictures.ts` after a build.
 * Pictures are read, not compared: a font of another machine may change every pixel.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { crc32, deflateSync, inflateSync } from "node:zlib";
import { DEFAULT_SOURCE } from "../../web/playground/sources/index.js";
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

/**
 * The same pixels in fewer bytes. Chromium compresses for speed and filters every row; pictures of flat areas and text
 * deflate a fifth better without filters.
 */
function smaller(png: Buffer): Buffer {
  const chunks: { type: string; data: Buffer }[] = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    chunks.push({ type: png.toString("latin1", at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  const kept = chunks.filter(({ type }) => type === "IHDR");
  const header = (kept[0] as { data: Buffer }).data;
  const bytesPerPixel = header[9] === 6 ? 4 : 3; // RGBA or RGB, 8 bits each
  const rows = inflateSync(Buffer.concat(chunks.filter(({ type }) => type === "IDAT").map(({ data }) => data)));
  unfilter(rows, header.readUInt32BE(0) * bytesPerPixel, bytesPerPixel);
  const packed = { type: "IDAT", data: deflateSync(rows, { level: 9, memLevel: 9 }) };
  const written = [...kept, packed, { type: "IEND", data: Buffer.alloc(0) }].map(({ type, data }) => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const frame = Buffer.alloc(8);
    frame.writeUInt32BE(data.length, 0);
    frame.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
  });
  return Buffer.concat([png.subarray(0, 8), ...written]);
}

/** Undoes the row filters of PNG in place (ISO/IEC 15948, clause 9). */
function unfilter(rows: Buffer, width: number, bytesPerPixel: number): void {
  const at = (index: number) => rows[index] as number;
  for (let start = 0; start < rows.length; start += width + 1) {
    const filter = at(start);
    for (let i = 0; i < width; i++) {
      const here = start + 1 + i;
      const left = i >= bytesPerPixel ? at(here - bytesPerPixel) : 0;
      const up = start > 0 ? at(here - width - 1) : 0;
      const corner = start > 0 && i >= bytesPerPixel ? at(here - width - 1 - bytesPerPixel) : 0;
      const guess = [0, left, up, (left + up) >> 1, filter === 4 ? paeth(left, up, corner) : 0][filter] as number;
      rows[here] = at(here) + guess;
    }
    rows[start] = 0;
  }
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const distances = [left, up, corner].map((value) => Math.abs(guess - value));
  return [left, up, corner][distances.indexOf(Math.min(...distances))] as number;
}

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
  const picture = smaller(await page.screenshot());
  const size = picture.length;
  writeFileSync(join(folder, `${name}.png`), picture);
  if (size > LIMIT) throw new Error(`${name}.png has ${size} bytes, more than ${LIMIT}`);
  process.stdout.write(`${name}.png ${(size / 1024).toFixed(0)} KB\n`);
  await context.close();
}
await browser.close();
await site.close();
