/**
 * The colour ramp of every heatmap: one hue, monotone in lightness, so that it reads the same for colour-blind
 * eyes and in grey print. It starts at the page's own background: no weight, no ink. Baked to 256 entries because
 * a 512-token head repaints 262,144 cells. Mixed in OKLab, where equal steps look equal.
 */

export type Rgb = readonly [number, number, number];

export interface Ramp {
  /** 256 × RGBA bytes as one 32-bit word each, in the memory order of ImageData. */
  readonly words: Uint32Array;
  readonly colors: readonly Rgb[];
  /** For what is not a number: the accent, which no weight has. */
  readonly accent: string;
  /** For each entry, a CSS colour for a number on it with a contrast of at least 4.5:1. */
  readonly ink: readonly string[];
}

const STOPS = {
  light: ["#fbfaf7", "#d3dff1", "#8caedd", "#3a6db4", "#17407f", "#0a1f4e"],
  dark: ["#101216", "#20304f", "#34589a", "#6d9be0", "#bcd6f2", "#fdf5d3"],
} as const;

const ACCENT = { light: "#c8571b", dark: "#f0924f" } as const;

const INKS = {
  light: ["#1b1d22", "#fbfaf7", "#000000", "#ffffff"],
  dark: ["#e9e7e1", "#101216", "#ffffff", "#000000"],
} as const;

export function parseHex(hex: string): Rgb {
  const n = Number.parseInt(hex.slice(1), 16);
  return [(n >> 16) & 255, (n >> 8) & 255, n & 255];
}

function toLinear(channel: number): number {
  const c = channel / 255;
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
}

function fromLinear(value: number): number {
  const c = value <= 0.0031308 ? value * 12.92 : 1.055 * value ** (1 / 2.4) - 0.055;
  return Math.round(Math.min(1, Math.max(0, c)) * 255);
}

/** WCAG 2 relative luminance. */
export function luminance([r, g, b]: Rgb): number {
  return 0.2126 * toLinear(r) + 0.7152 * toLinear(g) + 0.0722 * toLinear(b);
}

/** WCAG 2 contrast ratio, 1 to 21. */
export function contrast(a: Rgb, b: Rgb): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

// Björn Ottosson's OKLab matrices.
function toOklab([r8, g8, b8]: Rgb): Rgb {
  const r = toLinear(r8);
  const g = toLinear(g8);
  const b = toLinear(b8);
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function fromOklab([L, a, b]: Rgb): Rgb {
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    fromLinear(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    fromLinear(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    fromLinear(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

/** The colour at a place, 0 to 1, between stops that are evenly apart. */
export function mix(stops: readonly string[], at: number): Rgb {
  const place = at * (stops.length - 1);
  const left = Math.min(stops.length - 2, Math.floor(place));
  const from = toOklab(parseHex(stops[left] as string));
  const to = toOklab(parseHex(stops[left + 1] as string));
  const f = place - left;
  return fromOklab([0, 1, 2].map((c) => (from[c] as number) * (1 - f) + (to[c] as number) * f) as never);
}

function bake(theme: keyof typeof STOPS, paper: string): Ramp {
  const stops = [paper, ...STOPS[theme].slice(1)];
  const words = new Uint32Array(256);
  const bytes = new Uint8Array(words.buffer);
  const colors: Rgb[] = [];
  const ink: string[] = [];
  for (let i = 0; i < 256; i++) {
    const color = mix(stops, i / 255);
    colors.push(color);
    bytes.set([...color, 255], i * 4);
    // Black or white always reaches 4.58:1 on any colour; the page's own ink and paper are preferred where they do.
    ink.push(INKS[theme].find((hex) => contrast(parseHex(hex), color) >= 4.5) as string);
  }
  return { words, colors, accent: ACCENT[theme], ink };
}

const baked = new Map<string, Ramp>();

/** `paper`, as #rrggbb, is what the ramp starts at. Default: the page's own background. */
export function ramp(theme: "light" | "dark", paper: string = STOPS[theme][0]): Ramp {
  const name = theme + paper;
  let found = baked.get(name);
  if (!found) {
    found = bake(theme, paper);
    baked.set(name, found);
  }
  return found;
}

/** Entry of the ramp for a weight; `top` is the upper end of the domain. Not-a-number has no entry: −1. */
export function rampIndex(weight: number, top: number): number {
  if (Number.isNaN(weight)) return -1;
  return Math.min(255, Math.max(0, Math.round((weight / top) * 255)));
}

export function css([r, g, b]: Rgb): string {
  return `rgb(${r} ${g} ${b})`;
}
