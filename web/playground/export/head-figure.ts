/** The enlarged head as a figure: what is on screen, with its scale and its picked cell. */

import type { AttentionView, Spot } from "../../elements/attention-view.js";
import { isHidden, weightAt } from "../../elements/attention-view.js";
import { formatCell } from "../../elements/format.js";
import type { Rgb } from "../../elements/ramp.js";
import { ramp } from "../../elements/ramp.js";
import type { HeatScale } from "../../elements/scale.js";
import { evenShares, rampPlace, scaleTicks, scaleTop } from "../../elements/scale.js";
import { labelText } from "../../elements/token-label.js";
import type { FigureColors, FigureContent } from "./figure.js";

export interface HeadFigure {
  readonly view: AttentionView;
  readonly head: number;
  readonly scale: HeatScale;
  readonly pinned: Spot | null;
  readonly title: string;
  readonly caption: readonly string[];
  readonly theme: "light" | "dark";
  readonly colors: FigureColors;
  /** "query ↓ key →" */
  readonly axes: string;
  /** What the hatched cells are. */
  readonly hidden: string;
  /** Below the legend. */
  readonly notes: readonly string[];
}

/** Steps of the legend; the ramp itself has 256. */
const STOPS = 60;

export function headFigure({ view, head, scale, pinned, theme, hidden, notes, ...rest }: HeadFigure): FigureContent {
  const colors = ramp(theme);
  const hex = colors.colors.map(hexOf);
  const top = scaleTop(view, head, scale);
  const place = rampPlace(scale, top);
  const even = evenShares(view, head);
  let anyHidden = false;
  for (let query = 0; query < view.queries && !anyHidden; query++) {
    for (let key = 0; key < view.keys && !anyHidden; key++) anyHidden = isHidden(view, head, query, key);
  }
  return {
    ...rest,
    rows: view.queryTexts.map(labelText),
    columns: view.keyTexts.map(labelText),
    cell(query, key) {
      if (isHidden(view, head, query, key)) return { fill: undefined, ink: rest.colors.ink, digits: "", short: "" };
      const weight = weightAt(view, head, query, key);
      const at = Math.round(place(weight, even[query] as number) * 255);
      const fill = Number.isNaN(at) ? colors.accent : at === 0 ? rest.colors.paper : (hex[at] as string);
      const [digits, short] = [formatCell(weight, 3), formatCell(weight, 2)];
      return { fill, ink: colors.ink[at] ?? rest.colors.ink, digits, short };
    },
    picked: pinned && { row: pinned.query, column: pinned.key },
    legend: {
      stops: Array.from({ length: STOPS }, (_, i) => hex[Math.round((i / (STOPS - 1)) * 255)] as string),
      ticks: scaleTicks(scale, top),
      notes,
      hidden: anyHidden ? hidden : undefined,
    },
  };
}

function hexOf(color: Rgb): string {
  return `#${color.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}
