/**
 * Colours of heads that are drawn together. Twelve, then the same again dashed, then dotted: more hues than that can
 * be told apart by nobody.
 *
 * Found by a search over OKLab for the largest smallest distance, seen with full colour vision and with each kind of
 * missing cones (Machado et al. 2009, severity 1): 0.094 on light cards, 0.098 on dark ones, every colour with 3:1
 * against its card.
 */

const HUES = {
  light: [
    ...["#1f4e8c", "#c8571b", "#858ae9", "#740702", "#350a3e", "#8d48e1"],
    ...["#b78786", "#25007e", "#4a314f", "#2a73a0", "#7e5360", "#a13e17"],
  ],
  dark: [
    ...["#8fb7f0", "#f0924f", "#d8fdb5", "#a876f2", "#f0c853", "#39f3fc"],
    ...["#d26367", "#6492a8", "#bfd5ac", "#8e4d9d", "#ac4923", "#5b4de5"],
  ],
} as const;

/** In multiples of the line's width. */
const DASHES: readonly (readonly number[])[] = [[], [4, 2.5], [1, 2]];

export const HUE_COUNT = HUES.light.length;

export interface SeriesLook {
  readonly color: string;
  readonly dash: readonly number[];
}

/** A head keeps its look whichever others are shown beside it. */
export function seriesLook(head: number, theme: "light" | "dark"): SeriesLook {
  return {
    color: HUES[theme][head % HUE_COUNT] as string,
    dash: DASHES[Math.floor(head / HUE_COUNT) % DASHES.length] as readonly number[],
  };
}

/** The one colour of heads that are combined. */
export function combinedLook(theme: "light" | "dark"): SeriesLook {
  return { color: HUES[theme][0], dash: [] };
}
