/** The token strip, all heads, one query across them, and what the output loses when heads are switched off. */

import type { AttentionView } from "../../elements/attention-view.js";
import { byId, el, setText } from "../../elements/dom.js";
import type { HeadCards } from "../../elements/head-cards.js";
import type { HeadReadings } from "../../elements/head-readings.js";
import type { TokenChips } from "../../elements/token-chips.js";
import { tokenNode } from "../../elements/token-label.js";
import { compose, language, say } from "../../i18n/index.js";
import { headKey, headPlace, offIn } from "../head-key.js";
import type { Scene, Shell } from "../shell.js";
import { choose, on } from "../shell.js";
import type { ModelEffect, OutputChange } from "../sources/source.js";

export class HeadsPanel {
  private readonly tokens = byId<TokenChips>("tokens");
  private readonly heads = byId<HeadCards>("heads");
  private readonly readings = byId<HeadReadings>("readings");
  private readonly layers = byId("layers");
  private layer = 0;

  constructor(private readonly shell: Shell) {
    on(this.tokens, "preview", ({ detail }) =>
      shell.preview(detail.query === null ? null : { query: detail.query, key: null }),
    );
    on(this.tokens, "pick", ({ detail }) => {
      const { pinned } = shell.state;
      // A second pick of the same query lets it go again.
      const again = pinned !== null && pinned.query === detail.query && pinned.key === null;
      shell.update({ pinned: again ? null : { query: detail.query, key: null } });
    });
    on(this.heads, "pick", ({ detail }) => shell.selectHead(detail.head));
    on(this.heads, "ablate", ({ detail }) => {
      const off = new Set(shell.state.off);
      const key = headKey(this.layer, detail.head);
      if (detail.on) off.delete(key);
      else off.add(key);
      shell.update({ off });
    });
    on(this.readings, "pick", ({ detail }) => {
      shell.update({ pinned: { query: detail.query, key: detail.key } });
      shell.selectHead(detail.head);
    });
    on(this.layers, "change", (event) => {
      const layer = Number((event.target as HTMLInputElement).value);
      shell.update({ layer });
      shell.announce(say("layers.spoken", { layer }));
    });
    on(byId("all-on"), "click", () => shell.update({ off: new Set() }));
  }

  /** Tokens need no answer: they are there before the core is. */
  renderTokens(texts: readonly string[], scene: Scene | null): void {
    const { scale } = this.shell.state;
    const { view = null, head = 0, spot = null, pinned = null } = scene ?? {};
    this.tokens.update({ texts, view, head, scale, spot, pinned });
  }

  render({ answer, view, captions, layer, head, effect }: Scene): void {
    const { state } = this.shell;
    this.layer = layer;
    const { layers, id } = answer.source;
    // Boxes and layers show what was asked for, also while a model is still at it.
    const asked = id === state.source ? state : { off: answer.options.off, layer };
    const off = asked.off;
    this.heads.update({ view, captions, head, off: offIn(off, layer), scale: state.scale });
    this.renderLayers(layers, Math.min(asked.layer, layers - 1), off);
    setText(byId("heads-title"), say(layers > 1 ? "heads.titleLayers" : "heads.title", { count: view.heads }));
    setText(byId("untick"), say(layers > 1 ? "heads.untickModel" : "heads.untick"));
    byId("all-on").hidden = off.size === 0;
    const change = byId("change");
    const words = answer.run.effect
      ? effectSentence(effect, answer.options.off)
      : answer.run.change && changeSentence(answer.run.change, answer.options.off, view);
    change.hidden = !words;
    if (words) change.replaceChildren(words);
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

  renderSpot({ answer, view, captions, layer, head, spot }: Scene): void {
    this.readings.hidden = !spot;
    const off = offIn(answer.options.off, layer);
    if (spot) this.readings.update({ view, captions, head, query: spot.query, off });
  }
}

function namesOf(off: ReadonlySet<number>, layered: boolean): string {
  const names = [...off]
    .sort((a, b) => a - b)
    .map((key) => say(layered ? "heads.shortLayer" : "heads.short", { ...headPlace(key) }));
  return names.join(language() === "zh" ? "、" : ", ");
}

function effectSentence(effect: ModelEffect | undefined, off: ReadonlySet<number>): Node {
  const heads = el("b", {}, namesOf(off, true));
  if (!effect) return compose("effect.running", { heads });
  const percent = el("b", {}, `${(effect.hidden * 100).toFixed(1)} %`);
  if (!effect.loss) return compose("effect.hidden", { heads, percent });
  const { before, after } = effect.loss;
  const difference = `${after < before ? "−" : "+"}${Math.abs(after - before).toFixed(3)}`;
  return compose("effect.loss", {
    heads,
    percent,
    before: before.toFixed(3),
    after: after.toFixed(3),
    difference: el("b", {}, difference),
  });
}

function changeSentence(change: OutputChange, off: ReadonlySet<number>, view: AttentionView): Node {
  if (off.size >= view.heads) return compose("heads.changeAll", {});
  const heads = namesOf(off, false);
  if (change.relative === 0) return compose("heads.changeNone", { heads });
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
  return compose("heads.change", {
    heads: el("b", {}, heads),
    percent: el("b", {}, percent(change.relative)),
    token: tokenNode(view.queryTexts[change.query] as string),
    tokenPercent: percent(change.queryRelative),
  });
}
