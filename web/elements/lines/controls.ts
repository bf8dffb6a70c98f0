/** What a reader may filter the lines by. */

import { el, setText } from "../dom.js";
import { fillSelect } from "../select.js";
import type { Words } from "../strings.js";
import type { Direction } from "./layout.js";
import type { Combine } from "./links.js";
import { words } from "./words.js";

export interface LineChoices {
  readonly top: number | null;
  readonly threshold: number;
  readonly combine: Combine;
  readonly direction: Direction;
}

const TOPS = [1, 2, 3, 4, 6, 10] as const;

/** Places of the slider: fine where weights of long texts are. */
export const THRESHOLDS = [0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 0.9] as const;

export class LineControls {
  private readonly top = el("select");
  private readonly threshold = el("input", { type: "range", min: 0, max: THRESHOLDS.length - 1, step: 1 });
  private readonly shown = el("output");
  private readonly combine = el("select");
  private readonly direction = el("select");
  private readonly labels: readonly [HTMLElement, Words][];
  readonly node: HTMLElement;

  constructor(chosen: (choices: Partial<LineChoices>) => void) {
    const rows: [Words, HTMLElement[]][] = [
      [words.top, [this.top]],
      [words.threshold, [this.threshold, this.shown]],
      [words.combine, [this.combine]],
      [words.direction, [this.direction]],
    ];
    const made = rows.map(([text, fields]) => {
      const name = el("span");
      return { name, text, label: el("label", {}, name, ...fields) };
    });
    this.labels = made.map(({ name, text }) => [name, text]);
    this.node = el("div", { class: "controls data", part: "controls" }, ...made.map(({ label }) => label));
    this.top.addEventListener("change", () => chosen({ top: this.top.value === "" ? null : Number(this.top.value) }));
    this.threshold.addEventListener("input", () => {
      chosen({ threshold: THRESHOLDS[Number(this.threshold.value)] as number });
    });
    this.combine.addEventListener("change", () => chosen({ combine: this.combine.value as Combine }));
    this.direction.addEventListener("change", () => chosen({ direction: this.direction.value as Direction }));
  }

  update({ top, threshold, combine, direction }: LineChoices, say: (text: Words) => string): void {
    for (const [name, text] of this.labels) setText(name, say(text));
    const tops = [...new Set<number>([...TOPS, ...(top === null ? [] : [top])])].sort((a, b) => a - b);
    fillSelect(
      this.top,
      [...tops.map((n) => [String(n), String(n)] as const), ["", say(words.all)]],
      top === null ? "" : String(top),
    );
    const place = THRESHOLDS.findIndex((each) => each >= threshold);
    this.threshold.value = String(place < 0 ? THRESHOLDS.length - 1 : place);
    this.threshold.setAttribute("aria-valuetext", String(threshold));
    setText(this.shown, String(threshold));
    fillSelect(
      this.combine,
      [
        ["none", say(words.combineNone)],
        ["mean", say(words.combineMean)],
        ["max", say(words.combineMax)],
      ],
      combine,
    );
    fillSelect(
      this.direction,
      [
        ["vertical", say(words.vertical)],
        ["horizontal", say(words.horizontal)],
      ],
      direction,
    );
  }
}
