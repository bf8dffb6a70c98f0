/** The legend of a heatmap: the ramp with its domain, what the hatch means, and the choice of the scale where wanted. */

import { el, setAttributes, setText } from "../dom.js";
import { css, type Ramp } from "../ramp.js";
import { type HeatScale, SCALES, scaleTicks } from "../scale.js";
import type { Words } from "../strings.js";
import { heatWords } from "./words.js";

export interface LegendState {
  readonly ramp: Ramp;
  readonly scale: HeatScale;
  readonly top: number;
  readonly hasHidden: boolean;
  /** Each row sums to 1, as those of a softmax do. */
  readonly rowsSum: boolean;
  /** Some cells show "·". */
  readonly hasDots: boolean;
  readonly choice: boolean;
  say(words: Words, values?: Readonly<Record<string, string | number>>): string;
}

export const LEGEND_STYLE = `
.legend {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 6px 16px;
  font-size: 12px;
  line-height: 1.4;
  color: var(--_soft);
}
.bar {
  flex: 0 1 170px;
  min-width: min(120px, 100%);
}
.bar canvas {
  display: block;
  width: 100%;
  height: 10px;
  border: 1px solid var(--_line);
  border-radius: 2px;
}
.ticks {
  position: relative;
  height: 16px;
  margin: 2px 4px 0;
}
.ticks span {
  position: absolute;
  transform: translateX(-50%);
  white-space: nowrap;
}
.ticks span:first-child {
  transform: translateX(-4px);
}
.ticks span:last-child {
  transform: translateX(calc(-100% + 4px));
}
.notes {
  flex: 1 1 180px;
}
.notes {
  display: flex;
  flex-wrap: wrap;
  gap: 0 14px;
}
.swatch {
  display: inline-block;
  width: 14px;
  height: 10px;
  margin-right: 5px;
  border: 1px solid var(--_line);
}
.choice {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 6px;
  max-width: 100%;
}
.choice select {
  max-width: 100%;
  padding: 5px 8px;
  font: inherit;
  color: var(--_ink);
  background: var(--_card);
  border: 1px solid var(--_line-strong);
  border-radius: 6px;
}
`;

export class HeatLegend {
  private readonly canvas = el("canvas", { width: 256, height: 1 });
  private readonly ticks = el("div", { class: "ticks" });
  private readonly bar = el("div", { class: "bar", role: "img" }, this.canvas, this.ticks);
  private readonly sums = el("span");
  private readonly hatch = el("span", {}, el("i", { class: "swatch hatch" }));
  private readonly hatchText = el("span");
  private readonly dots = el("span");
  private readonly label = el("span");
  private readonly select = el("select", { part: "scale" });
  private readonly choice = el("label", { class: "choice" }, this.label, this.select);
  readonly node: HTMLElement;
  private drawn: Ramp | null = null;

  constructor(chosen: (scale: HeatScale) => void) {
    this.hatch.append(this.hatchText);
    const notes = el("div", { class: "notes" }, this.sums, this.hatch, this.dots);
    this.node = el("div", { class: "legend", part: "legend" }, this.bar, notes, this.choice);
    this.select.append(...SCALES.map((value) => el("option", { value })));
    this.select.addEventListener("change", () => chosen(this.select.value as HeatScale));
  }

  update({ ramp, scale, top, hasHidden, rowsSum, hasDots, choice, say }: LegendState): void {
    const ticks = scaleTicks(scale, top);
    if (this.drawn !== ramp) this.drawBar(ramp);
    this.ticks.replaceChildren(
      ...ticks.map(({ place, text }) => {
        const mark = el("span", {}, text);
        mark.style.setProperty("left", `${place * 100}%`);
        return mark;
      }),
    );
    const [from, to] = [ticks[0]?.text ?? "", ticks[ticks.length - 1]?.text ?? ""];
    setAttributes(this.bar, { "aria-label": say(heatWords.legend, { from, to }) });
    setText(this.sums, say(scale === "uniform" ? heatWords.even : rowsSum ? heatWords.rows : heatWords.rowsOther));
    this.hatch.hidden = !hasHidden;
    setText(this.hatchText, say(heatWords.hidden));
    this.dots.hidden = !hasDots;
    setText(this.dots, say(heatWords.small));
    this.choice.hidden = !choice;
    setText(this.label, say(heatWords.scale));
    for (const option of this.select.options) setText(option, say(heatWords[option.value as HeatScale]));
    this.select.value = scale;
  }

  private drawBar(ramp: Ramp): void {
    const context = this.canvas.getContext("2d");
    if (!context) return;
    this.drawn = ramp;
    for (const [i, color] of ramp.colors.entries()) {
      context.fillStyle = css(color);
      context.fillRect(i, 0, 1, 1);
    }
  }
}
