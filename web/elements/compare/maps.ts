/** The maps of a comparison: heatmaps that move together, and one whose cells are differences. */

import type { AttentionView } from "../attention-view.js";
import { el } from "../dom.js";
import type { TensorLike } from "../head-data.js";
import { HeadHeatmap } from "../head-heatmap.js";
import type { Ramp } from "../ramp.js";
import { HIDDEN_CODE, NAN_CODE } from "../raster.js";
import type { Viewport } from "../viewport.js";
import { divergingIndex, divergingRamp } from "./diverging.js";

/** Pixels of the narrowest cell that holds "−.43". */
const NARROWEST = 28;

export interface MapOwner {
  /** The reader has zoomed or panned a map. */
  moved(map: CompareMap, window: Viewport): void;
  /** The reader has asked for another head with [ or ]. */
  turned(map: CompareMap, head: number): void;
}

/** One of the two sides. */
export class CompareMap extends HeadHeatmap {
  owner: MapOwner | null = null;
  #name = "";

  /** What the grid is called by a screen reader. */
  set spokenName(name: string) {
    if (name === this.#name) return;
    this.#name = name;
    this.invalidate("look");
  }

  /** Shows the part of the matrix that another map shows. */
  follow(window: Viewport): void {
    this.window = window;
    this.invalidate("view");
  }

  protected override onMove(): void {
    this.owner?.moved(this, this.window);
  }

  protected override gridLabel(): string {
    return this.#name;
  }

  protected override turnTo(head: number): void {
    this.owner?.turned(this, head);
  }
}

/** Right minus left: signed numbers on the diverging ramp. */
export class DifferenceMap extends CompareMap {
  #limit = 1;

  /** The difference at which both arms of the ramp end. */
  get limit(): number {
    return this.#limit;
  }
  set limit(limit: number) {
    if (limit === this.#limit) return;
    this.#limit = limit;
    // The codes of the cells are made anew with the data, and only then.
    this.weights = this.weights && { ...(this.weights as TensorLike) };
  }

  protected override encodeCells(view: AttentionView): { codes: Uint16Array; top: number } {
    const codes = new Uint16Array(view.queries * view.keys);
    for (let cell = 0; cell < codes.length; cell++) {
      const hidden = view.hidden !== null && view.hidden !== undefined && view.hidden[cell] !== 0;
      const entry = divergingIndex(view.weights[cell] as number, this.#limit);
      codes[cell] = hidden ? HIDDEN_CODE : entry < 0 ? NAN_CODE : 1 + entry;
    }
    return { codes, top: this.#limit };
  }

  protected override currentRamp(): Ramp {
    return divergingRamp(this.shown, this.paper() ?? undefined);
  }

  protected override cellText(value: number, digits: 2 | 3 | 4, width: number): string {
    // A sign takes the room of a digit.
    if (width < NARROWEST) return "";
    if (Number.isNaN(value)) return "NaN";
    if (Math.abs(value) < 0.5 * 10 ** -digits) return "·";
    const text = formatDifference(value, digits);
    // In a narrow cell the leading zero goes: "+.43".
    return digits === 2 ? text.replace(/^(.)0\./, "$1.") : text;
  }

  protected override valueText(value: number): string {
    return formatDifference(value, 4);
  }
}

/** "+0.4312", "−0.0001", "0" for what is none. */
export function formatDifference(value: number, digits = 4): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value < 0 ? "−∞" : "+∞";
  const text = Math.abs(value).toFixed(digits);
  if (Number(text) === 0) return value === 0 ? "0" : `<${10 ** -digits}`;
  return `${value < 0 ? "−" : "+"}${text}`;
}

const TAGS = { "head-compare-map": CompareMap, "head-compare-difference": DifferenceMap } as const;

/** Makes a map. Its tag is the comparison's own affair: it is registered with the first one. */
export function makeMap<Tag extends keyof typeof TAGS>(tag: Tag): InstanceType<(typeof TAGS)[Tag]> {
  if (!customElements.get(tag)) customElements.define(tag, TAGS[tag]);
  return el(tag as "div") as unknown as InstanceType<(typeof TAGS)[Tag]>;
}
