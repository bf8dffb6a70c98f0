/** The token strip, all heads, one query across them, and what the output loses when heads are switched off. */

import { byId, el, setText } from "../../elements/dom.js";
import type { HeadGrid } from "../../elements/head-grid.js";
import { tokenNode } from "../../elements/token-label.js";
import type { TokenStrip } from "../../elements/token-strip.js";
import type { ViewState } from "../../elements/view-state.js";
import { compose, say } from "../../i18n/index.js";
import { headPlace, namesOf } from "../head-key.js";
import type { Scene, Shell } from "../shell.js";
import { choose, on } from "../shell.js";
import type { ModelEffect, OutputChange } from "../sources/source.js";
import type { State } from "../state.js";
import { give } from "../view/give.js";
import type { Layout } from "../view/layout.js";
import { percent, signed } from "../written.js";
import { ReadingsPanel } from "./readings-panel.js";

export class HeadsPanel {
  private readonly tokens = byId<TokenStrip>("tokens");
  private readonly heads = byId<HeadGrid>("heads");
  private readonly layers = byId("layers");
  private readonly sort = byId<HTMLSelectElement>("sort");
  private readonly readings: ReadingsPanel;
  private scene: Scene | null = null;

  constructor(
    private readonly shell: Shell,
    linked: ViewState,
  ) {
    this.readings = new ReadingsPanel(shell);
    this.tokens.state = linked;
    this.heads.state = linked;
    on(this.heads, "pick", ({ detail }) => shell.announce(this.scene?.captions[detail.head]?.spoken ?? ""));
    on(this.sort, "change", () => shell.update({ sort: this.sort.value as State["sort"] }));
    on(this.layers, "change", (event) => {
      const layer = Number((event.target as HTMLInputElement).value);
      shell.update({ layer });
      shell.announce(say("layers.spoken", { layer }));
    });
    on(byId("all-on"), "click", () => shell.update({ off: new Set() }));
  }

  /** Tokens need no answer: they are there before the core is. */
  renderTokens({ texts, tokens, groups, kept }: Layout, scene: Scene | null): void {
    const special = kept.flatMap((at, row) => (groups[at]?.every((i) => tokens[i]?.special) ? [row] : []));
    // While the next answer is on its way the last one's weights are those of other tokens.
    const view = scene && scene.view.queries === texts.length ? scene.view : null;
    give(this.tokens, view, texts);
    this.tokens.special = special;
    this.tokens.scale = this.shell.state.scale;
  }

  /** @param empty there is no text any more: the picture stays, what it says about the text does not */
  render(scene: Scene, off: ReadonlySet<number>, layer: number, empty: boolean): void {
    this.scene = scene;
    const { answer, view, captions, order } = scene;
    const { layers } = answer.source;
    const { scale, sort } = this.shell.state;
    give(this.heads, view);
    if (this.heads.captions !== captions) this.heads.captions = captions;
    if (this.heads.ordering !== order) this.heads.ordering = order;
    this.heads.scale = scale;
    this.renderLayers(layers, layer, off);
    setText(byId("heads-title"), say(layers > 1 ? "heads.titleLayers" : "heads.title", { count: view.heads }));
    setText(byId("untick"), say(layers > 1 ? "heads.untickModel" : "heads.untick"));
    byId("all-on").hidden = off.size === 0;
    this.sort.value = sort;
    const change = byId("change");
    const sentence = answer.run.effect
      ? effectSentence(scene.effect, answer.options.off)
      : answer.run.change && changeSentence(answer.run.change, answer.options.off, scene);
    change.hidden = !sentence || empty;
    if (sentence) change.replaceChildren(sentence);
  }

  private renderLayers(count: number, chosen: number, off: ReadonlySet<number>): void {
    this.layers.hidden = count <= 1;
    const labels = [...this.layers.querySelectorAll("label")];
    for (const label of labels.splice(count)) label.remove();
    for (let layer = labels.length; layer < count; layer++) {
      const input = el("input", { type: "radio", name: "layer", value: layer });
      const label = el("label", {}, input, el("span", {}, String(layer)));
      labels.push(label);
      this.layers.append(label);
    }
    const touched = new Set([...off].map((key) => headPlace(key).layer));
    for (const [layer, label] of labels.entries()) label.classList.toggle("touched", touched.has(layer));
    choose(this.layers, String(chosen));
  }

  renderSpot(scene: Scene): void {
    this.readings.render(scene);
  }
}

function effectSentence(effect: ModelEffect | undefined, off: ReadonlySet<number>): Node {
  const heads = el("b", {}, namesOf(off, true));
  if (!effect) return compose("effect.running", { heads });
  const moved = el("b", {}, percent(effect.hidden));
  if (!effect.loss) return compose("effect.hidden", { heads, percent: moved });
  const { before, after } = effect.loss;
  return compose("effect.loss", {
    heads,
    percent: moved,
    before: before.toFixed(3),
    after: after.toFixed(3),
    difference: el("b", {}, signed(after - before)),
  });
}

function changeSentence(change: OutputChange, off: ReadonlySet<number>, { answer, view }: Scene): Node {
  if (off.size >= view.heads) return compose("heads.changeAll", {});
  const heads = namesOf(off, false);
  if (change.relative === 0) return compose("heads.changeNone", { heads });
  return compose("heads.change", {
    heads: el("b", {}, heads),
    percent: el("b", {}, percent(change.relative)),
    // Of the layer's own tokens, however many of them stand in a row.
    token: tokenNode(answer.tokens[change.query]?.text ?? ""),
    tokenPercent: percent(change.queryRelative),
  });
}
