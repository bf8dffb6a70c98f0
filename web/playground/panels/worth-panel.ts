/** What is lost without each head: offered, measured, said. Fetched when heads are sorted by it. */

import { byId, setText } from "../../elements/dom.js";
import { language, say } from "../../i18n/index.js";
import type { Answer } from "../answer.js";
import { namesOf } from "../head-key.js";
import { Measuring, MeasuringLine } from "../measuring.js";
import type { Scene, Shell } from "../shell.js";
import { HeadWorth } from "../sources/head-worth.js";
import type { HeadLosses } from "../sources/source.js";
import { percent, signed } from "../written.js";

/** How many heads the sentence under the grid names. */
const NAMED = 4;

export class WorthPanel {
  private readonly line: MeasuringLine;
  private readonly note = byId("sort-note");

  constructor(shell: Shell) {
    this.line = new MeasuringLine(() => shell.measure());
    byId("heads").before(this.line.node);
  }

  /** @param changed called after each change of what is known */
  measuring({ open, tokens, options }: Answer, changed: () => void): Measuring<HeadLosses> {
    return new Measuring(open.importance(tokens, options, HeadWorth), changed);
  }

  /** @param empty there is no text any more: the picture stays, what is said about the text does not */
  render(scene: Scene, off: ReadonlySet<number>, empty: boolean): void {
    const { importance } = scene;
    const words = empty ? "" : sentence(scene, off);
    this.note.hidden = words === "";
    setText(this.note, words);
    this.line.render(!empty && importance?.worthSaying ? importance : null);
  }
}

function sentence({ importance, order, answer }: Scene, off: ReadonlySet<number>): string {
  if (!importance) return "";
  const { value, measurement } = importance;
  if (!value) {
    const { now } = importance;
    const waits = now.is === "running" || (now.is === "offered" && !now.stopped && measurement.quick());
    return say(waits ? "sort.measuring" : "sort.offer");
  }
  const { measure, values } = value;
  const written = measure === "loss" ? signed : percent;
  const heads = order
    .slice(0, NAMED)
    .map((head) => `${say("heads.short", { head })} ${written(values[head] as number)}`)
    .join(language() === "zh" ? "、" : ", ");
  const key =
    measure === "loss" ? "sort.measuredModel" : measure === "hidden" ? "sort.measuredHidden" : "sort.measured";
  const words = say(key, { heads });
  const layered = answer.source.layers > 1;
  // Switched off or not, the question is what a head does in the whole layer.
  return off.size > 0 ? `${words} ${say("sort.fromAll", { heads: namesOf(off, layered) })}` : words;
}
