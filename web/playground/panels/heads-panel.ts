/** The token strip, all heads, one query across them, and what the output loses when heads are switched off. */

import type { AttentionView } from "../../elements/attention-view.js";
import { byId, el, setText } from "../../elements/dom.js";
import type { HeadGrid } from "../../elements/head-grid.js";
import type { HeadReadings } from "../../elements/head-readings.js";
import { tokenNode } from "../../elements/token-label.js";
import type { TokenStrip } from "../../elements/token-strip.js";
import { compose, language, say } from "../../i18n/index.js";
import type { Scene, Shell } from "../shell.js";
import { on } from "../shell.js";
import type { OutputChange } from "../sources/source.js";

export class HeadsPanel {
  private readonly tokens = byId<TokenStrip>("tokens");
  private readonly heads = byId<HeadGrid>("heads");
  private readonly readings = byId<HeadReadings>("readings");

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
      if (detail.on) off.delete(detail.head);
      else off.add(detail.head);
      shell.update({ off });
    });
    on(this.readings, "pick", ({ detail }) => {
      shell.update({ pinned: { query: detail.query, key: detail.key } });
      shell.selectHead(detail.head);
    });
    on(byId("all-on"), "click", () => shell.update({ off: new Set() }));
  }

  /** Tokens need no answer: they are there before the core is. */
  renderTokens(texts: readonly string[], scene: Scene | null): void {
    const { scale } = this.shell.state;
    const { view = null, head = 0, spot = null, pinned = null } = scene ?? {};
    this.tokens.update({ texts, view, head, scale, spot, pinned });
  }

  render({ answer, view, captions, head }: Scene): void {
    const { off, scale } = this.shell.state;
    this.heads.update({ view, captions, head, off, scale });
    setText(byId("heads-title"), say("heads.title", { count: view.heads }));
    byId("all-on").hidden = off.size === 0;
    const change = byId("change");
    change.hidden = off.size === 0 || answer.run.change === null;
    if (!change.hidden) change.replaceChildren(changeSentence(answer.run.change as OutputChange, off, view));
  }

  renderSpot({ view, captions, head, spot }: Scene): void {
    this.readings.hidden = !spot;
    if (spot) this.readings.update({ view, captions, head, query: spot.query, off: this.shell.state.off });
  }
}

function changeSentence(change: OutputChange, off: ReadonlySet<number>, view: AttentionView): Node {
  if (off.size >= view.heads) return compose("heads.changeAll", {});
  const names = [...off].sort((a, b) => a - b).map((head) => say("heads.short", { head }));
  const heads = names.join(language() === "zh" ? "、" : ", ");
  if (change.relative === 0) return compose("heads.changeNone", { heads });
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
  return compose("heads.change", {
    heads: el("b", {}, heads),
    percent: el("b", {}, percent(change.relative)),
    token: tokenNode(view.queryTexts[change.query] as string),
    tokenPercent: percent(change.queryRelative),
  });
}
