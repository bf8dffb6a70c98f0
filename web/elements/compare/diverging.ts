/**
 * The ramp of differences: blue where the right side is greater, orange where it is smaller, the page's own background
 * at 0. Blue against orange stays two colours for every kind of colour blindness, and both arms grow monotonously in
 * contrast to the background, so that the size of a difference reads without any colour at all.
 *
 * It is a ramp like any other with 256 entries, in the order of strength and not of value: 0, then the faintest step of
 * each sign, and so on. Whatever keeps the strongest of some cells by the greatest entry keeps the largest difference.
 */

import { contrast, mix, parseHex, type Ramp, type Rgb } from "../ramp.js";
import type { Theme } from "../theme.js";

/** From 0 outwards, without the background, which is that of the page. */
const ARMS = {
  light: {
    more: ["#c9d9ef", "#7ea4d8", "#3a6db4", "#143a75"],
    less: ["#f6d7c2", "#e39d6d", "#c0601f", "#7a3405"],
  },
  dark: {
    more: ["#1d2e4e", "#33589c", "#6d9be0", "#c4dbf5"],
    less: ["#43240f", "#8a4614", "#d97a35", "#fcd0a6"],
  },
} as const;

/** Not a number: a colour of neither arm. */
const ACCENT = { light: "#7b2d8b", dark: "#d79be4" } as const;
const PAPER = { light: "#fbfaf7", dark: "#101216" } as const;
const INKS = ["#1b1d22", "#fbfaf7", "#000000", "#ffffff"] as const;

/** Steps of each arm; step 0 is the background on both. */
export const STEPS = 128;

const baked = new Map<string, Ramp>();

export function divergingRamp(theme: Theme, paper: string = PAPER[theme]): Ramp {
  const id = `${theme} ${paper}`;
  let found = baked.get(id);
  if (!found) {
    found = bake(theme, paper);
    baked.set(id, found);
  }
  return found;
}

function bake(theme: Theme, paper: string): Ramp {
  const { more, less } = ARMS[theme];
  const colors: Rgb[] = [];
  for (let step = 0; step < STEPS; step++) {
    for (const arm of [more, less]) colors.push(mix([paper, ...arm], step / (STEPS - 1)));
  }
  const bytes = new Uint8Array(colors.length * 4);
  for (const [i, color] of colors.entries()) bytes.set([...color, 255], i * 4);
  const ink = colors.map((color) => INKS.find((hex) => contrast(parseHex(hex), color) >= 4.5) as string);
  return { words: new Uint32Array(bytes.buffer), colors, accent: ACCENT[theme], ink };
}

/** Entry for a value; `limit` is where both arms end. Not-a-number has none: −1. */
export function divergingIndex(value: number, limit: number): number {
  if (Number.isNaN(value)) return -1;
  const share = limit > 0 ? Math.min(1, Math.abs(value) / limit) : 0;
  return 2 * Math.round(share * (STEPS - 1)) + (value < 0 ? 1 : 0);
}
