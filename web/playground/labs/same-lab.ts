/** Same output, other weights: the picked query's row, moved as far as it goes without changing what the head reads. */

import { el } from "../../elements/dom.js";
import { formatWeight } from "../../elements/format.js";
import { tokenNode } from "../../elements/token-label.js";
import { compose, say } from "../../i18n/index.js";
import type { Lab } from "../lab.js";
import type { Scene, Shell } from "../shell.js";
import { tokenOf } from "../view/layout.js";
import { numberControl } from "./controls.js";
import { percent, scrollTable, signedBar, threeDigits } from "./drawing.js";
import type { LabLayer } from "./lab-layer.js";
import { LabPage } from "./lab-page.js";
import type { OtherWeights } from "./same-output.js";
import { otherWeights, outputChange } from "./same-output.js";

/** Rows of the table; keys with less in both are summed up. */
const MOST_ROWS = 24;

/** What would be written as 0.0 % is no move. */
const LEAST_MOVED = 5e-4;

interface Row {
  readonly head: number;
  readonly query: number;
  readonly weights: Float32Array;
  /** [S, width] */
  readonly values: Float32Array;
  readonly width: number;
  readonly visible: readonly number[];
  readonly other: OtherWeights;
  readonly off: boolean;
}

class SameLab extends LabPage {
  private far = 100;
  private found: { layer: Promise<LabLayer>; head: number; query: number; row: Promise<Row> } | null = null;

  protected makeControls(): Node[] {
    const label = say("lab.same.far");
    const check = (value: number, typed: string) =>
      value >= 0 && value <= 100
        ? null
        : say("lab.badRange", { name: label, min: 0, max: 100, value: typed.trim() || "—" });
    const control = numberControl({
      label,
      min: 0,
      max: 100,
      value: this.far,
      check,
      onChange: (far) => {
        this.far = far;
        this.refresh();
      },
    });
    return [control.node];
  }

  protected refresh(): void {
    const layer = this.needLayer();
    const { scene } = this;
    if (!layer || !scene) return;
    const query = queryOf(scene);
    const { head } = scene;
    if (this.found?.layer !== layer || this.found.head !== head || this.found.query !== query) {
      this.found = { layer, head, query, row: layer.then((given) => find(given, head, query)) };
    }
    const { row } = this.found;
    void this.show(
      () => row,
      (found) => [...draw(found, this.far / 100, scene), ...this.offNote("lab.reads", found.off ? [head] : [])],
    );
  }
}

async function find(layer: LabLayer, head: number, query: number): Promise<Row> {
  const { weights, v, scores } = await layer.results();
  // A long row takes a fifth of a second: the page draws what has been picked first.
  await new Promise((done) => setTimeout(done));
  const [heads, queries, keys] = weights.shape as [number, number, number];
  const [groups, , width] = v.shape as [number, number, number];
  const at = (head * queries + query) * keys;
  const shared = Math.floor(head / (heads / groups)) * keys * width;
  const row = weights.data.slice(at, at + keys);
  const values = v.data.slice(shared, shared + keys * width);
  const visible = Array.from(row.keys()).filter((key) => scores.data[at + key] !== Number.NEGATIVE_INFINITY);
  const other = otherWeights(row, values, width, visible);
  return { head, query, weights: row, values, width, visible, other, off: layer.off.has(head) };
}

/** The token of the picked row, else the last one, which sees most. */
function queryOf({ pinned, layout, answer }: Scene): number {
  const last = answer.tokens.length - 1;
  return Math.min(last, (pinned && tokenOf(layout, pinned.query)) ?? last);
}

function draw({ head, query, weights, values, width, visible, other }: Row, far: number, { answer }: Scene): Node[] {
  const name = (key: number) => tokenNode(answer.tokens[key]?.text ?? String(key));
  const sentence = el("p");
  const [n, freedom] = [visible.length, other.freedom];
  const key = freedom === 0 ? "lab.same.none" : other.moved < LEAST_MOVED ? "lab.same.stuck" : "lab.same.free";
  sentence.append(compose(key, { query: name(query), head, n, freedom, width, fixed: n - freedom }));
  if (other.moved < LEAST_MOVED) return [sentence];
  // Whatever lies between two such rows is one too.
  const now = Float64Array.from(weights, (weight, i) => weight + far * ((other.weights[i] as number) - weight));
  const difference = threeDigits(outputChange(weights, now, values, width));
  const moved = percent(far * other.moved);
  const most = (i: number) => Math.max(weights[i] as number, other.weights[i] as number);
  const listed = [...visible].sort((i, j) => most(j) - most(i)).slice(0, MOST_ROWS);
  const rest = visible.length - listed.length;
  const largest = Math.max(...visible.map((i) => Math.abs((other.weights[i] as number) - (weights[i] as number))));
  const rows = listed
    .sort((i, j) => i - j)
    .map((i) => {
      const [before, after] = [weights[i] as number, now[i] as number];
      return [
        name(i),
        formatWeight(before),
        after === 0 ? "0" : formatWeight(after),
        signedBar((after - before) / largest),
      ];
    });
  const headings = [say("numbers.key"), say("numbers.weight"), say("lab.same.other"), say("lab.same.change")];
  return [
    sentence,
    el("p", { class: "lab-sum" }, say("lab.same.sentence", { moved, difference })),
    scrollTable(say("lab.same.caption"), headings, rows),
    ...(rest > 0 ? [el("p", { class: "soft" }, say("lab.same.rest", { rest }))] : []),
    el("p", { class: "soft" }, say("lab.same.so")),
  ];
}

export function mount(host: HTMLElement, shell: Shell): Lab {
  return new SameLab(host, shell, "lab.same.about");
}
