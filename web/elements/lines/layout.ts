/** Where the tokens of both sides stand and how the lines between them run. Vertical: queries left, keys right. */

export type Direction = "vertical" | "horizontal";

export interface LinesLayout {
  readonly direction: Direction;
  /** Pixels from one token to the next along its side. */
  readonly slot: number;
  /** Pixels between the two sides, which the lines cross. */
  readonly gap: number;
  /** Pixels along the sides that are on screen, and where they begin. */
  readonly extent: number;
  readonly offset: number;
  /** How many series there are: lines of one query and key run side by side. */
  readonly series: number;
}

/** Pixels of a slot that lines of different series share at most, and between two of them at most. */
const SPREAD = 0.7;
const APART = 4;

/** Tokens first … last (included) that are on screen at least in part. */
export function visibleRange(layout: LinesLayout, count: number): { first: number; last: number } {
  const first = Math.max(0, Math.floor(layout.offset / layout.slot));
  const last = Math.min(count - 1, Math.ceil((layout.offset + layout.extent) / layout.slot) - 1);
  return { first, last };
}

/** Middle of a token along its side, from the start of what is on screen. */
export function along(layout: LinesLayout, token: number): number {
  return (token + 0.5) * layout.slot - layout.offset;
}

/** The token under a point, from the start of what is on screen. */
export function tokenAt(layout: LinesLayout, position: number, count: number): number | null {
  const token = Math.floor((position + layout.offset) / layout.slot);
  return token >= 0 && token < count ? token : null;
}

/** Whether a line crosses the screen at all. */
export function crosses(layout: LinesLayout, query: number, key: number): boolean {
  const a = along(layout, query);
  const b = along(layout, key);
  return Math.max(a, b) >= 0 && Math.min(a, b) <= layout.extent;
}

/** Pixels between lines of two series that join the same tokens. */
export function apart({ slot, series }: LinesLayout): number {
  return Math.min(APART, (slot * SPREAD) / series);
}

/** x0 y0, two control points, x1 y1 of a curve that leaves and arrives at a right angle to the sides. */
export type Curve = readonly [number, number, number, number, number, number, number, number];

export function curve(layout: LinesLayout, query: number, key: number, series = 0): Curve {
  const beside = (series - (layout.series - 1) / 2) * apart(layout);
  const a = along(layout, query) + beside;
  const b = along(layout, key) + beside;
  const { gap } = layout;
  const half = gap / 2;
  return layout.direction === "vertical" ? [0, a, half, a, half, b, gap, b] : [a, 0, a, half, b, half, b, gap];
}

/** Strengths are drawn in this many steps, each in one stroke. */
export const STRENGTHS = 8;

/** Step of a place on the scale, 0 to 1: 0 is the faintest. */
export function strength(place: number): number {
  return Math.min(STRENGTHS - 1, Math.max(0, Math.floor(place * STRENGTHS)));
}

export function strengthStyle(step: number): { alpha: number; width: number } {
  const share = (step + 0.5) / STRENGTHS;
  // Nothing that passed the filter may be invisible.
  return { alpha: 0.22 + 0.78 * share, width: 0.8 + 3.2 * share };
}
