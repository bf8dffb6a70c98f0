/**
 * What the page looks like, kept small and compared so that fonts of another machine do not matter, but colours and
 * layout do. A look is a screenshot at a quarter of its size, where text is a grey, and the boxes of the page's parts.
 * Parts are compared one by one, each stretched onto the other: a line more above a part moves it and changes nothing.
 */

import type { Page } from "playwright-core";
import { type Picture, readPng } from "../../support/png.ts";

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Look {
  readonly picture: Picture;
  /** In pixels of the page, by name. */
  readonly parts: Readonly<Record<string, Box>>;
}

export const SHRINK = 4;

/** Names and selectors of what is compared. What a name calls a canvas holds no letters, and is compared strictly. */
export type Parts = Readonly<Record<string, string>>;

/** The parts of the page: those that are seen in a state. */
export const PAGE: Parts = {
  bar: ".bar",
  text: "#text",
  tokens: "#tokens",
  heads: "#heads",
  detail: ".detail",
  tabs: "#tabs",
  options: ".detail > .view-options",
  "canvas of head 0": "#heads canvas >> nth=0",
  "canvas of head 3": "#heads canvas >> nth=3",
  "canvas of head 7": "#heads canvas >> nth=7",
  "matrix canvas": "#matrix canvas.cells",
  "lines canvas": "#lines canvas:not(.all)",
  "difference canvas": "#compare [part~=difference] canvas",
};

const isCanvas = (name: string) => name.includes("canvas");

export interface Framed {
  /** What is pictured: a selector, "window" or "page" (all of it). Default: the window. */
  readonly of?: string;
  readonly parts?: Parts;
}

export async function lookOf(page: Page, { of = "window", parts: wanted = PAGE }: Framed = {}): Promise<Look> {
  const [picture, left, top] = await framed(page, of);
  const parts: Record<string, Box> = {};
  for (const [name, selector] of Object.entries(wanted)) {
    const found = page.locator(selector).first();
    if ((await found.count()) === 0 || !(await found.isVisible())) continue;
    const { x, y, width, height } = (await found.boundingBox()) as Box;
    const box = {
      x: Math.round(x - left),
      y: Math.round(y - top),
      width: Math.round(width),
      height: Math.round(height),
    };
    parts[name] = box;
  }
  return { picture: shrink(readPng(picture), SHRINK), parts };
}

/** A picture, and where it begins in the window. */
async function framed(page: Page, of: string): Promise<[Buffer, number, number]> {
  if (of === "window") return [await page.screenshot(), 0, 0];
  if (of === "page") {
    const scrolled = await page.evaluate(() => [scrollX, scrollY] as const);
    return [await page.screenshot({ fullPage: true }), -scrolled[0], -scrolled[1]];
  }
  const element = page.locator(of).first();
  const picture = await element.screenshot();
  const { x, y } = (await element.boundingBox()) as Box;
  return [picture, x, y];
}

/** Each pixel is the mean of a square of pixels, in steps of four: letters are noise, and half as large a file so. */
function shrink(picture: Picture, by: number): Picture {
  const [width, height] = [Math.floor(picture.width / by), Math.floor(picture.height / by)];
  return {
    width,
    height,
    at: (x, y) =>
      mean(picture, x * by, y * by, (x + 1) * by, (y + 1) * by).map((channel) =>
        Math.min(255, 4 * Math.round(channel / 4)),
      ) as [number, number, number],
  };
}

function mean(picture: Picture, left: number, top: number, right: number, bottom: number): [number, number, number] {
  const sum: [number, number, number] = [0, 0, 0];
  const clamp = (at: number, end: number) => Math.min(end - 1, Math.max(0, Math.floor(at)));
  let count = 0;
  for (let y = clamp(top, picture.height); y <= clamp(bottom - 1e-9, picture.height); y++) {
    for (let x = clamp(left, picture.width); x <= clamp(right - 1e-9, picture.width); x++, count++) {
      picture.at(x, y).forEach((channel, c) => {
        sum[c] = (sum[c] as number) + channel;
      });
    }
  }
  return sum.map((channel) => channel / count) as [number, number, number];
}

/** Blocks along each side of a part. */
const BLOCKS = 12;

/** Null where a block is not wholly in the picture: what stands above a part may push it over the edge. */
function blocks({ picture }: Look, box: Box): ([number, number, number] | null)[] {
  const [x, y, w, h] = [box.x, box.y, box.width / BLOCKS, box.height / BLOCKS].map((each) => each / SHRINK) as [
    number,
    number,
    number,
    number,
  ];
  return Array.from({ length: BLOCKS * BLOCKS }, (_, i) => {
    const [left, top] = [x + (i % BLOCKS) * w, y + Math.floor(i / BLOCKS) * h];
    const inside = left > -1 && top > -1 && left + w < picture.width + 1 && top + h < picture.height + 1;
    return inside ? mean(picture, left, top, left + w, top + h) : null;
  });
}

/** What differs from the reference by more than fonts can explain, in words. */
export function differences(reference: Look, now: Look): string[] {
  const found: string[] = [];
  for (const name of Object.keys({ ...reference.parts, ...now.parts })) {
    const [was, is] = [reference.parts[name], now.parts[name]];
    if (!was || !is) {
      found.push(`${name} is ${is ? "new" : "gone"}`);
      continue;
    }
    const far = (["x", "width", "y", "height"] as const).filter((side) => {
      const room = side === "x" || side === "width" ? 0.06 * was.width + 12 : 0.15 * was.height + 48;
      return Math.abs(was[side] - is[side]) > room;
    });
    if (far.length > 0) found.push(`${name} has moved: ${JSON.stringify(is)}, not ${JSON.stringify(was)}`);
    const before = blocks(reference, was);
    const distances = blocks(now, is).flatMap((color, i) => {
      const old = before[i];
      return color && old ? [Math.max(...color.map((channel, c) => Math.abs(channel - (old[c] as number))))] : [];
    });
    const average = distances.reduce((sum, each) => sum + each, 0) / Math.max(1, distances.length);
    const limit = isCanvas(name) ? 6 : 10;
    if (average > limit) found.push(`${name} has other colours: ${average.toFixed(1)} levels off, at most ${limit}`);
  }
  return found;
}
