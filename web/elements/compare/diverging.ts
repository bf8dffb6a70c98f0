/**
 * The ramp of differences: blue where the right side is greater, orange where it is smaller, the page's own background
 * at 0. Blue against orange stays two colours for every kind of colour blindness, and both arms grow monotonously in
 * contrast to the background, so that the size of a difference reads without any colour at all.
 */

import { contrast, mix, parseHex, type Rgb } from "../ramp.js";
import type { Theme } from "../theme.js";

/** From 0 outwards. */
const ARMS = {
  light: {
    more: ["#fbfaf7", "#c9d9ef", "#7ea4d8", "#3a6db4", "#143a75"],
    less: ["#fbfaf7", "#f6d7c2", "#e39d6d", "#c0601f", "#7a3405"],
  },
  dark: {
    more: ["#101216", "#1d2e4e", "#33589c", "#6d9be0", "#c4dbf5"],
    less: ["#101216", "#43240f", "#8a4614", "#d97a35", "#fcd0a6"],
  },
} as const;

const INKS = ["#1b1d22", "#fbfaf7", "#000000", "#ffffff"] as const;

/** Entries on each side of 0. */
export const ARM = 255;

export interface DivergingRamp {
  /** 2 × ARM + 1 entries, RGBA in the memory order of ImageData; 0 is in the middle. */
  readonly words: Uint32Array;
  readonly colors: readonly Rgb[];
  /** For each entry a colour for numbers on it with a contrast of at least 4.5:1. */
  readonly ink: readonly string[];
}

function bake(theme: Theme): DivergingRamp {
  const { more, less } = ARMS[theme];
  const colors: Rgb[] = [];
  for (let i = -ARM; i <= ARM; i++) colors.push(mix(i < 0 ? less : more, Math.abs(i) / ARM));
  const bytes = new Uint8Array(colors.length * 4);
  for (const [i, color] of colors.entries()) bytes.set([...color, 255], i * 4);
  const ink = colors.map((color) => INKS.find((hex) => contrast(parseHex(hex), color) >= 4.5) as string);
  return { words: new Uint32Array(bytes.buffer), colors, ink };
}

const baked = new Map<Theme, DivergingRamp>();

export function divergingRamp(theme: Theme): DivergingRamp {
  let found = baked.get(theme);
  if (!found) {
    found = bake(theme);
    baked.set(theme, found);
  }
  return found;
}

/** Entry for a value; `limit` is where both arms end. Not-a-number has none: −1. */
export function divergingIndex(value: number, limit: number): number {
  if (Number.isNaN(value)) return -1;
  const share = limit > 0 ? Math.min(1, Math.max(-1, value / limit)) : 0;
  return ARM + Math.round(share * ARM);
}
