/** From MHA to GQA to MQA on the shown layer: error of the output, bytes of the cache, and who shares with whom. */

import { el } from "../../elements/dom.js";
import { formatBytes } from "../../elements/format.js";
import { say } from "../../i18n/index.js";
import type { Lab } from "../lab.js";
import type { Shell } from "../shell.js";
import { numberControl, segments } from "./controls.js";
import { percent, scrollTable, svg } from "./drawing.js";
import type { LabLayer } from "./lab-layer.js";
import { LabPage } from "./lab-page.js";
import type { PooledPoint } from "./pooled-heads.js";
import { divisors } from "./pooled-heads.js";

class PooledLab extends LabPage {
  private readonly place = el("div");
  /** Which of the divisors, the layer's own number first. */
  private step = 0;
  private bytes: 2 | 4 = 2;
  private own = 0;
  private found: { layer: Promise<LabLayer>; bytes: number; points: Promise<readonly PooledPoint[]> } | null = null;

  protected makeControls(): Node[] {
    this.own = 0;
    const choices = [
      { value: "2", label: "float16" },
      { value: "4", label: "float32" },
    ] as const;
    const numbers = segments(say("lab.gqa.numbers"), choices, String(this.bytes) as "2" | "4", (value) => {
      this.bytes = value === "2" ? 2 : 4;
      this.refresh();
    });
    return [this.place, numbers];
  }

  protected refresh(): void {
    const layer = this.needLayer();
    if (!layer || !this.scene) return;
    const { config } = this.scene.answer.open;
    const own = config.numKVHeads ?? config.numHeads;
    if (own !== this.own) this.makeSlider(own);
    const { bytes } = this;
    if (this.found?.layer !== layer || this.found.bytes !== bytes) {
      this.found = { layer, bytes, points: layer.then((given) => given.pooled(bytes)) };
    }
    const { points } = this.found;
    void this.show(
      async () => ({ all: await points, ...(await layer) }),
      ({ all, off }) => [...draw(all, this.step, config.numHeads), ...this.offNote("lab.gqa.off", off)],
    );
  }

  /** A place for each divisor, MHA on the left: the numbers between are no groups. */
  private makeSlider(own: number): void {
    this.own = own;
    const steps = divisors(own);
    this.step = Math.min(this.step, steps.length - 1);
    const list = steps.join(", ");
    const { node } = numberControl({
      label: say("lab.gqa.heads"),
      min: 1,
      max: own,
      value: steps[this.step] as number,
      steps,
      check: (value, typed) =>
        steps.includes(value) ? null : say("lab.gqa.bad", { own, list, value: typed.trim() || "—" }),
      onChange: (value) => {
        this.step = steps.indexOf(value);
        this.refresh();
      },
    });
    this.place.replaceChildren(node);
  }
}

function kindOf(groups: number, heads: number): "MHA" | "GQA" | "MQA" {
  return groups === heads ? "MHA" : groups === 1 ? "MQA" : "GQA";
}

function draw(points: readonly PooledPoint[], step: number, heads: number): Node[] {
  const point = points[Math.min(step, points.length - 1)] as PooledPoint;
  const whole = (points[0] as PooledPoint).bytesPerToken;
  const values = (at: PooledPoint) => ({
    kind: kindOf(at.numKVHeads, heads),
    error: percent(at.error),
    bytes: formatBytes(at.bytesPerToken),
  });
  const sentence = say("lab.gqa.sentence", {
    ...values(point),
    heads,
    groups: point.numKVHeads,
    share: percent(point.bytesPerToken / whole),
    whole: formatBytes(whole),
  });
  const headings = [say("lab.gqa.groups"), say("lab.gqa.kind"), say("lab.gqa.error"), say("lab.gqa.bytes")];
  const rows = points.map((at) => {
    const { kind, error, bytes } = values(at);
    return [String(at.numKVHeads), kind, error, bytes];
  });
  return [
    sharing(heads, point.numKVHeads),
    el("p", { class: "lab-sum" }, sentence),
    scrollTable(say("lab.gqa.caption"), headings, rows, (row) => points[row] === point),
    ...(points.length === 1 ? [el("p", { class: "soft" }, say("lab.gqa.one"))] : []),
  ];
}

const GAP = 26;

/** Query heads above, K/V heads below, and a line from each head to the one that it reads. */
function sharing(heads: number, groups: number): Node {
  const size = heads / groups;
  const width = heads * GAP;
  const nodes: Node[] = [];
  const box = (x: number, y: number, name: string, label: string) => [
    svg("rect", { x: x - 9, y, width: 18, height: 18, rx: 4, class: name }),
    Object.assign(svg("text", { x, y: y + 13, "text-anchor": "middle", class: name }), { textContent: label }),
  ];
  for (let head = 0; head < heads; head++) {
    const group = Math.floor(head / size);
    const [from, to] = [(head + 0.5) * GAP, (group + 0.5) * size * GAP];
    nodes.push(svg("line", { x1: from, y1: 20, x2: to, y2: 52 }), ...box(from, 2, "query", String(head)));
  }
  for (let group = 0; group < groups; group++)
    nodes.push(...box((group + 0.5) * size * GAP, 52, "shared", String(group)));
  const label = say("lab.gqa.drawing", { groups, size });
  const picture = svg(
    "svg",
    { viewBox: `0 0 ${width} 72`, width, height: 72, role: "img", "aria-label": label },
    ...nodes,
  );
  return el("div", { class: "lab-sharing", role: "group", tabindex: 0, "aria-label": label }, picture);
}

export function mount(host: HTMLElement, shell: Shell): Lab {
  return new PooledLab(host, shell, "lab.gqa.about");
}
