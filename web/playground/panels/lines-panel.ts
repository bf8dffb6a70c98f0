/** Attention as lines, of the enlarged head and of those looked at beside it. */

import { byId } from "../../elements/dom.js";
import type { HeadLines } from "../../elements/head-lines.js";
import type { ViewState } from "../../elements/view-state.js";
import { want } from "../elements.js";
import type { Scene, Shell } from "../shell.js";
import { on } from "../shell.js";
import { give } from "../view/give.js";

export class LinesPanel {
  private readonly lines = byId<HeadLines>("lines");

  constructor(
    private readonly shell: Shell,
    linked: ViewState,
  ) {
    this.lines.state = linked;
    on(this.lines, "filter", ({ detail }) => {
      const { top, threshold, combine, direction } = detail;
      shell.update({ top: top ?? 0, threshold, combine, direction });
    });
  }

  render({ view }: Scene): void {
    void want("head-lines", (error) => this.shell.missed(error));
    const { top, threshold, combine, direction, scale } = this.shell.state;
    give(this.lines, view);
    this.lines.top = top === 0 ? null : top;
    this.lines.threshold = threshold;
    this.lines.combine = combine;
    this.lines.direction = direction;
    this.lines.scale = scale;
  }
}
