/** How many thumbnails stand in a row, as arithmetic; lengths in CSS pixels. */

export interface GridLayout {
  readonly columns: number;
  /** Width of a card. */
  readonly card: number;
  /** Side of the picture in it. */
  readonly thumb: number;
  readonly gap: number;
  /** Little room: captions without their measure. */
  readonly narrow: boolean;
}

/** Wide enough for a pattern to be seen, and not so wide that few heads fit a screen. */
const THUMB = { least: 110, most: 140 };
/** Phones and narrow columns have this many in a row, smaller ones. */
const NARROW_COLUMNS = 4;
const NARROW = 520;
/** Below this a card has no room for its name and its box. */
const NARROWEST_CARD = 62;

export function gridLayout(width: number, count: number): GridLayout {
  const narrow = width <= NARROW;
  const gap = narrow ? 8 : 10;
  // Padding and border of a card.
  const around = narrow ? 12 : 18;
  const fitting = Math.floor((width + gap) / (THUMB.least + around + gap));
  const narrowFitting = Math.min(NARROW_COLUMNS, Math.floor((width + gap) / (NARROWEST_CARD + gap)));
  const most = Math.max(1, Math.min(count, Math.max(narrowFitting, fitting)));
  // Rows of the same length: 12 heads as 6 + 6 and not as 8 + 4.
  const columns = Math.ceil(count / Math.ceil(count / most));
  const room = Math.floor((width - gap * (columns - 1)) / columns);
  const card = Math.max(around + 1, Math.min(room, THUMB.most + around));
  return { columns, card, thumb: card - around, gap, narrow };
}
