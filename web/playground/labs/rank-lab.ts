/** The rank laboratory: singular values, and the best that a head of width d_k can make of a random pattern. */

import { el } from "../../elements/dom.js";
import { say } from "../../i18n/index.js";
import type { Lab } from "../lab.js";
import type { Shell } from "../shell.js";
import type { NumberControl } from "./controls.js";
import { numberControl } from "./controls.js";
import { bars, heatPicture, percent, scrollTable, threeDigits } from "./drawing.js";
import type { LabLayer } from "./lab-layer.js";
import { LabPage } from "./lab-page.js";
import type { Target } from "./low-rank.js";
import { randomTarget, reachOf, scoreProduct, softmaxRows } from "./low-rank.js";
import type { Svd } from "./svd.js";
import { errorOfRank, numericalRank, svd } from "./svd.js";

const [LEAST, MOST] = [2, 48];
/** Of the shown head: rotations grow with the cube of the tokens. */
const MOST_TOKENS = 64;

interface OwnHead {
  readonly n: number;
  readonly tokens: number;
  readonly dk: number;
  readonly parts: Svd;
  readonly off: boolean;
}

class RankLab extends LabPage {
  private n = 16;
  private dk = 4;
  private target: Target | null = null;
  private seed = 42;
  private width: NumberControl | null = null;
  private found: { layer: Promise<LabLayer>; head: number; own: Promise<OwnHead> } | null = null;

  protected makeControls(): Node[] {
    const whole = (name: string, min: number, max: () => number) => (value: number, typed: string) =>
      Number.isInteger(value) && value >= min && value <= max()
        ? null
        : say("lab.bad", { name, min, max: max(), value: typed.trim() || "—" });
    const [tokens, width] = [say("lab.rank.n"), say("lab.rank.dk")];
    const size = numberControl({
      label: tokens,
      min: LEAST,
      max: MOST,
      value: this.n,
      check: whole(tokens, LEAST, () => MOST),
      onChange: (n) => {
        this.n = n;
        this.dk = Math.min(this.dk, n);
        this.width?.limit(1, n);
        this.refresh();
      },
    });
    this.width = numberControl({
      label: width,
      min: 1,
      max: this.n,
      value: this.dk,
      check: whole(width, 1, () => this.n),
      onChange: (dk) => {
        this.dk = dk;
        this.refresh();
      },
    });
    const again = el("button", { type: "button" }, say("lab.rank.again"));
    again.addEventListener("click", () => {
      this.seed++;
      this.target = null;
      this.refresh();
    });
    return [size.node, this.width.node, again];
  }

  protected refresh(): void {
    const { n, dk, seed } = this;
    if (this.target?.n !== n) this.target = randomTarget(n, seed);
    const { target } = this;
    const head = this.scene?.head ?? 0;
    void this.show(
      () => this.ownHead(head),
      (own) => [
        ...drawTarget(target, dk),
        ...(own ? [...drawOwn(own, head), ...this.offNote("lab.reads", own.off ? [head] : [])] : []),
      ],
    );
  }

  /** The head on screen, where its layer is at hand. */
  private async ownHead(head: number): Promise<OwnHead | null> {
    const { layer } = this;
    if (!layer) return null;
    if (this.found?.layer !== layer || this.found.head !== head) {
      this.found = { layer, head, own: layer.then((given) => measure(given, head)) };
    }
    return this.found.own;
  }
}

async function measure(layer: LabLayer, head: number): Promise<OwnHead> {
  const { q, k } = await layer.results();
  const { n, scores } = scoreProduct(q, k, head, MOST_TOKENS);
  return {
    n,
    tokens: q.shape[1] as number,
    dk: q.shape[2] as number,
    parts: svd(scores, n, n),
    off: layer.off.has(head),
  };
}

function drawTarget(target: Target, dk: number): Node[] {
  const { n, svd: parts } = target;
  const { weights, worst } = reachOf(target, dk);
  const top = 1;
  const picture = (values: Float32Array, label: string) =>
    el(
      "figure",
      {},
      heatPicture(values, { rows: n, columns: n, top, label, name: "lab-map" }),
      el("figcaption", {}, label),
    );
  const sentence =
    dk === n
      ? say("lab.rank.exact", { n })
      : say("lab.rank.sentence", { dk, n, error: percent(errorOfRank(parts, dk)), worst: worst.toFixed(2) });
  const first = parts.values[0] as number;
  const rows = Array.from(parts.values, (value, i) => [
    String(i + 1),
    threeDigits(value),
    percent(errorOfRank(parts, i + 1)),
  ]);
  return [
    el(
      "div",
      { class: "lab-maps" },
      picture(softmaxRows(target.scores, n), say("lab.rank.wanted")),
      picture(weights, say("lab.rank.reached", { dk })),
      el(
        "figure",
        {},
        bars(
          Array.from(parts.values, (value) => value / first),
          dk,
          say("lab.rank.values", { dk }),
        ),
        el("figcaption", {}, say("lab.rank.values", { dk })),
      ),
    ),
    el("p", { class: "lab-sum" }, sentence),
    el("p", { class: "soft" }, say("lab.rank.softmax")),
    details(
      say("lab.rank.table"),
      scrollTable(say("lab.rank.table"), ["k", "σ_k", say("lab.rank.missed")], rows, (row) => row + 1 === dk),
    ),
  ];
}

function details(title: string, content: Node): Node {
  return el("details", { class: "lab-more" }, el("summary", {}, title), content);
}

/** Bars of seven powers of ten: the rest is rounding. */
const DECADES = 7;

function drawOwn({ n, tokens, dk, parts }: OwnHead, head: number): Node[] {
  const rank = numericalRank(parts);
  const first = parts.values[0] as number;
  const heights = Array.from(parts.values, (value) =>
    value > 0 ? Math.max(0, 1 + Math.log10(value / first) / DECADES) : 0,
  );
  const label = say("lab.rank.ownValues", { head });
  return [
    el("h3", {}, say("lab.rank.own", { head })),
    el("p", {}, say("lab.rank.ownRank", { n, dk, rank, most: Math.min(n, dk) })),
    ...(tokens > n ? [el("p", { class: "soft" }, say("lab.rank.ownCut", { n, tokens }))] : []),
    el("figure", { class: "lab-own" }, bars(heights, rank, label), el("figcaption", {}, label)),
  ];
}

export function mount(host: HTMLElement, shell: Shell): Lab {
  return new RankLab(host, shell, "lab.rank.about");
}
