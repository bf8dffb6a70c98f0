/** The enlarged head beside another one, beside itself with all heads on, or on another text. */

import { byId, el, setText } from "../../elements/dom.js";
import { formatInteger } from "../../elements/format.js";
import type { CompareSide, HeadCompare } from "../../elements/head-compare.js";
import type { ViewState } from "../../elements/view-state.js";
import { say } from "../../i18n/index.js";
import type { Answer } from "../answer.js";
import { want } from "../elements.js";
import { namesOf } from "../head-key.js";
import type { Scene, Shell } from "../shell.js";
import { on } from "../shell.js";
import type { Against } from "../state.js";
import { draw, layOut } from "../view/layout.js";

/** What the other side was asked, and what came of it. */
interface Other {
  readonly key: string;
  readonly source: Answer["source"];
  readonly stop: AbortController;
  /** Undefined until it is there; null where there was nothing to compute. */
  answer: Answer | null | undefined;
  problem: string | null;
}

type View = Scene["view"];

/** A side whose weights are numbers in a row, as they are on this page. */
interface Side extends CompareSide {
  readonly weights: { readonly data: Float32Array; readonly shape: readonly number[] };
}

export class ComparePanel {
  private readonly compare = byId<HeadCompare>("compare");
  private readonly against = byId<HTMLSelectElement>("against");
  private readonly head = byId<HTMLSelectElement>("other-head");
  private readonly text = byId<HTMLInputElement>("other-text");
  private scene: Scene | null = null;
  private other: Other | null = null;
  private drawn: { readonly answer: Answer; readonly key: string; readonly view: View } | null = null;
  private given: readonly unknown[] = [];

  constructor(
    private readonly shell: Shell,
    linked: ViewState,
  ) {
    this.compare.state = linked;
    on(this.against, "change", () => shell.update({ against: this.against.value as Against }));
    on(this.head, "change", () => shell.update({ otherHead: Number(this.head.value) }));
    on(this.text, "input", () => shell.update({ otherText: this.text.value }));
  }

  render(scene: Scene): void {
    void want("head-compare", (error) => this.shell.missed(error));
    this.scene = scene;
    const { against, otherHead, otherText } = this.shell.state;
    const { view } = scene;
    this.against.value = against;
    byId("other-head-part").hidden = against !== "head";
    byId("other-text-part").hidden = against !== "text";
    if (this.text.value !== otherText) this.text.value = otherText;
    this.renderHeads(view.heads, Math.min(otherHead, view.heads - 1));
    const sides = this.sidesOf(scene);
    if (sides) this.show(...sides);
  }

  /** Null while the other side is being computed: what was shown stays. */
  private sidesOf(scene: Scene): [left: Side | null, right: Side | null, note: string] | null {
    const { view, answer, head } = scene;
    const { against, otherHead, otherText } = this.shell.state;
    const { off } = answer.options;
    if (against === "head") return [side(view, head), side(view, Math.min(otherHead, view.heads - 1)), ""];
    if (against === "off" && off.size === 0) return [null, null, say("compare.noneOff")];
    if (against === "text" && otherText === "") return [null, null, say("compare.nothing")];
    const found = against === "off" ? this.ask(answer.text, new Set()) : this.ask(otherText, off);
    if (found.problem) return [null, null, say("compare.failed", { reason: found.problem })];
    if (found.answer === undefined) return null;
    if (found.answer === null) return [null, null, say("compare.empty")];
    const { cutAt, tokens } = found.answer;
    const other = this.viewOf(found.answer);
    if (against === "text") {
      const cut = cutAt === null ? "" : say("compare.cut", { tokens: formatInteger(tokens.length) });
      return [side(view, head), side(other, head, upTo(otherText, cutAt)), cut];
    }
    const layered = answer.source.layers > 1;
    // It stands above a map and at its legend.
    const many = off.size > 3;
    const without = many
      ? say("compare.withoutMany", { count: off.size })
      : say("compare.without", { heads: namesOf(off, layered) });
    return [
      side(other, head, say("compare.allOn")),
      side(view, head, without),
      layered ? "" : say("compare.sameLayer"),
    ];
  }

  private renderHeads(count: number, chosen: number): void {
    while (this.head.length > count) this.head.remove(count);
    for (let head = 0; head < count; head++) {
      if (head >= this.head.length) this.head.append(el("option", { value: head }));
      setText(this.head.options[head] as HTMLOptionElement, say("heads.name", { head }));
    }
    this.head.value = String(chosen);
  }

  private show(left: Side | null, right: Side | null, note: string): void {
    byId("compare-note").hidden = note === "";
    setText(byId("compare-note"), note);
    this.compare.hidden = !left || !right;
    // Setting a side is telling the element to compare again.
    const given = [left, right].flatMap((one) => [one?.weights.data, one?.head, one?.label, one?.tokens]);
    if (!left || !right || given.every((value, i) => value === this.given[i])) return;
    this.given = given;
    this.compare.left = left;
    this.compare.right = right;
  }

  /** The same question with other heads, or another text; asked once. */
  private ask(text: string, off: ReadonlySet<number>): Other {
    const { answer } = this.scene as Scene;
    const { source, unit } = answer;
    const { layer, causal } = answer.options;
    const key = [unit, layer, causal, [...off].join("."), text].join("\n");
    // Of a file that took the place of another one its name is no proof.
    if (this.other?.key === key && this.other.source === source) return this.other;
    this.other?.stop.abort();
    const other: Other = { key, source, stop: new AbortController(), answer: undefined, problem: null };
    this.other = other;
    this.shell.ask(text, { off }, other.stop.signal).then(
      (found) => {
        if (other.stop.signal.aborted) return;
        other.answer = found;
        this.again(other);
      },
      (error: unknown) => {
        other.problem = error instanceof Error ? error.message : String(error);
        this.again(other);
      },
    );
    return other;
  }

  private again(other: Other): void {
    if (this.other === other && this.scene && this.shell.state.tab === "compare") this.render(this.scene);
  }

  private viewOf(answer: Answer): View {
    const { rows, hide } = this.shell.state;
    const key = `${rows} ${hide}`;
    if (this.drawn?.answer === answer && this.drawn.key === key) return this.drawn.view;
    const { view } = draw(layOut(answer.text, answer.tokens, rows, hide), answer.run.weights, answer.run.scores.data);
    this.drawn = { answer, key, view };
    return view;
  }
}

function upTo(text: string, end: number | null): string {
  return end === null ? text : text.slice(0, end);
}

function side({ heads, queries, keys, weights, scores, hidden, queryTexts }: View, head: number, label?: string): Side {
  const shape = [heads, queries, keys];
  const made: Side = {
    ...{ weights: { data: weights, shape }, tokens: queryTexts, head },
    scores: scores && { data: scores, shape },
    masked: scores ? null : (hidden ?? null),
  };
  return label === undefined ? made : { ...made, label };
}
