/**
 * The pictures that the page is compared with, and the boxes of its parts in parts.json.
 * `LOOKS=write npm test -- tests/browser/looks` takes them anew: look at them before they are committed.
 */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { chineseFont } from "../../../tools/lib/fonts.js";
import { readPng, writePng } from "../../support/png.ts";
import { type Box, differences, type Framed, type Look, lookOf } from "./look.js";

export const folder = fileURLToPath(new URL("../pictures", import.meta.url));
const boxes = join(folder, "parts.json");
const writing = process.env["LOOKS"] === "write";

/** The boxes of every picture, by name. */
export function stored(): Record<string, Record<string, Box>> {
  return existsSync(boxes) ? JSON.parse(readFileSync(boxes, "utf8")) : {};
}

export function reference(name: string): Look {
  return { picture: readPng(readFileSync(join(folder, `${name}.png`))), parts: stored()[name] ?? {} };
}

/** Why a page in Chinese cannot be compared: empty boxes are not as wide as characters, whose width all fonts share. */
export function needsChinese(chinese: boolean | undefined): string | false {
  return chinese && !chineseFont.find() ? `no Chinese font: ${chineseFont.howToInstall}` : false;
}

export interface Compared extends Framed {
  /** So many parts have to be seen, or the selectors have gone astray. Default: all that are asked for. */
  readonly least?: number;
}

/** What is not as in the picture of that name, in words. */
export async function unlike(page: Page, name: string, compared: Compared = {}): Promise<string[]> {
  const look = await lookOf(page, compared);
  const { least = Object.keys(compared.parts ?? {}).length } = compared;
  assert.ok(Object.keys(look.parts).length >= least, `${name}: only ${Object.keys(look.parts).join()}`);
  if (writing) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}.png`), writePng(look.picture));
    const sorted = Object.entries({ ...stored(), [name]: look.parts }).sort(([a], [b]) => (a < b ? -1 : 1));
    writeFileSync(boxes, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
  }
  return differences(reference(name), look).map((difference) => `${name}: ${difference}`);
}
