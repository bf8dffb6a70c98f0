/** The shapes on the way and what the layer costs; the sizes can be played with, and set back to those of the layer. */

import type { CostBills } from "../../elements/cost-bills.js";
import { byId, setAttributes, setText } from "../../elements/dom.js";
import type { ShapeTrace } from "../../elements/shape-trace.js";
import { say } from "../../i18n/index.js";
import type { Answer } from "../answer.js";
import { want, whenSeen } from "../elements.js";
import type { Scene, Shell } from "../shell.js";
import { on } from "../shell.js";

export class CostPanel {
  private readonly trace = byId<ShapeTrace>("trace");
  private readonly cost = byId<CostBills>("cost");
  private readonly change = byId("cost-change");
  private answer: Answer | null = null;

  constructor(private readonly shell: Shell) {
    on(this.change, "click", () => {
      this.cost.toggleAttribute("fixed");
      if (this.fixed && this.answer) this.show(this.answer);
      this.label();
    });
  }

  /** Neither is needed before it is seen. */
  private fetchSoon(): void {
    const missed = (error: unknown) => this.shell.missed(error);
    for (const [name, place] of [
      ["shape-trace", this.trace],
      ["cost-bills", this.cost],
    ] as const) {
      whenSeen(place, () => void want(name, missed));
      // Paper has no screen to come near to.
      addEventListener("beforeprint", () => void want(name, missed), { once: true });
    }
  }

  render({ answer }: Scene): void {
    if (!this.answer) this.fetchSoon();
    this.label();
    if (this.answer === answer) return;
    this.answer = answer;
    this.trace.trace = answer.run.trace;
    // Sizes that somebody plays with are theirs until they go back.
    if (this.fixed) this.show(answer);
  }

  private show({ open, tokens }: Answer): void {
    const { dModel, numHeads, numKVHeads, headDim } = open.config;
    this.cost.config = { dModel, numHeads, numKVHeads, headDim, T: tokens.length, layers: 1, bytesPerElement: 4 };
  }

  private get fixed(): boolean {
    return this.cost.hasAttribute("fixed");
  }

  private label(): void {
    const { fixed } = this;
    setAttributes(this.change, { "aria-pressed": fixed ? "false" : "true" });
    setText(this.change, say(fixed ? "cost.change" : "cost.back"));
  }
}
