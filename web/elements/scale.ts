/** From a weight to its place on the colour ramp. All scales are monotone, start at 0 and have no ink for no weight. */

import { type AttentionView, domainTop } from "./attention-view.js";

/**
 * - `"unit"`: 0 to 1, the same for all heads.
 * - `"head"`: 0 to the greatest weight of the head.
 * - `"uniform"`: the even share, 1 / visible keys of the row, is the middle of the ramp; below it linear down to 0, above
 *   it logarithmic up to 1, so that twice the even share can be told from four times, whatever the length.
 * - `"log"`: 0.0001 to 1, a quarter of the ramp for each power of ten.
 */
export type HeatScale = "unit" | "head" | "uniform" | "log";

export const SCALES: readonly HeatScale[] = ["unit", "head", "uniform", "log"];

export function isScale(value: unknown): value is HeatScale {
  return (SCALES as readonly unknown[]).includes(value);
}

/** Weights below this have no colour of their own on the log scale, and are written "<0.0001". */
export const LOG_FLOOR = 1e-4;

/** Place on the ramp, 0 to 1. `top` is the greatest weight of the head, `even` the row's even share; NaN stays NaN. */
export type RampPlace = (weight: number, even: number) => number;

export function rampPlace(scale: HeatScale, top: number): RampPlace {
  switch (scale) {
    case "unit":
      return clamp;
    case "head":
      return (weight) => clamp(weight / top);
    case "log":
      return (weight) => (weight > LOG_FLOOR ? clamp(1 - Math.log(weight) / Math.log(LOG_FLOOR)) : clamp(weight * 0));
    case "uniform":
      return (weight, even) => {
        if (!(weight > even)) return clamp((0.5 * weight) / even);
        return clamp(0.5 + (0.5 * Math.log(weight / even)) / -Math.log(even));
      };
  }
}

function clamp(place: number): number {
  return Math.min(1, Math.max(0, place));
}

/** What `top` is for a scale. */
export function scaleTop(view: AttentionView, head: number, scale: HeatScale): number {
  return scale === "head" ? domainTop(view, head, "head") : 1;
}

/** The even share of each row: 1 / visible keys, and 1 for a row that sees none. */
export function evenShares({ queries, keys, weights, scores, hidden }: AttentionView, head: number): Float32Array {
  const shares = new Float32Array(queries);
  const start = head * queries * keys;
  const hiddenStart = hidden && hidden.length === weights.length ? start : 0;
  for (let query = 0; query < queries; query++) {
    let unseen = 0;
    for (let cell = query * keys; cell < (query + 1) * keys; cell++) {
      if (hidden ? hidden[hiddenStart + cell] !== 0 : scores !== null && scores[start + cell] === -Infinity) unseen++;
    }
    shares[query] = 1 / Math.max(1, keys - unseen);
  }
  return shares;
}

/** A mark of the legend: its place on the ramp and what stands there. */
export interface Tick {
  readonly place: number;
  readonly text: string;
}

/** The legend's marks, from 0 to the upper end of the domain. */
export function scaleTicks(scale: HeatScale, top: number): readonly Tick[] {
  switch (scale) {
    case "unit":
      return [
        { place: 0, text: "0" },
        { place: 1, text: "1" },
      ];
    case "head":
      return [
        { place: 0, text: "0" },
        { place: 1, text: top.toFixed(top < 0.1 ? 4 : 3) },
      ];
    case "log":
      return ["≤0.0001", "0.001", "0.01", "0.1", "1"].map((text, i) => ({ place: i / 4, text }));
    case "uniform":
      return [
        { place: 0, text: "0" },
        { place: 0.5, text: "1/n" },
        { place: 1, text: "1" },
      ];
  }
}
