/** One query across all heads: which key each head reads most, and how much. The same token, H independent averages. */

import { isHidden, strongestKey, weightAt } from "../../elements/attention-view.js";
import { byId, el, setAttributes, setText } from "../../elements/dom.js";
import { formatWeight } from "../../elements/format.js";
import { tokenNode } from "../../elements/token-label.js";
import { compose, say } from "../../i18n/index.js";
import { offIn } from "../head-key.js";
import type { Scene, Shell } from "../shell.js";

interface Row {
  readonly head: number;
  readonly item: HTMLElement;
  readonly button: HTMLButtonElement;
  readonly name: HTMLElement;
  readonly key: HTMLElement;
  readonly meter: HTMLElement;
  readonly weight: HTMLElement;
}

export class ReadingsPanel {
  private readonly host = byId("readings");
  private readonly heading = el("h3");
  private readonly list = el("ul", { class: "readings" });
  private rows: Row[] = [];
  private scene: Scene | null = null;

  constructor(private readonly shell: Shell) {
    this.host.append(this.heading, this.list);
  }

  render(scene: Scene): void {
    this.scene = scene;
    const { answer, view, captions, order, layer, head, spot } = scene;
    this.host.hidden = !spot;
    if (!spot) return;
    if (this.rows.map((row) => row.head).join() !== order.join()) this.build(order);
    const { query } = spot;
    const off = offIn(answer.options.off, layer);
    this.heading.replaceChildren(
      compose("readings.title", { query: tokenNode(view.queryTexts[query] as string, "token picked") }),
    );
    for (const row of this.rows) {
      const key = strongestKey(view, row.head, query);
      const weight = weightAt(view, row.head, query, key);
      setText(row.name, say("heads.short", { head: row.head }));
      row.key.replaceChildren(tokenNode(view.keyTexts[key] as string));
      row.meter.style.setProperty("width", `${Math.round((Number.isNaN(weight) ? 0 : weight) * 100)}%`);
      setText(row.weight, formatWeight(weight, isHidden(view, row.head, query, key)));
      row.item.classList.toggle("off", off.has(row.head));
      const title = captions[row.head]?.name ?? "";
      setAttributes(row.button, { "aria-pressed": row.head === head ? "true" : "false", title });
    }
  }

  private build(order: readonly number[]): void {
    this.rows = order.map((head) => {
      const name = el("b");
      const key = el("span", { class: "reading-key" });
      const meter = el("i");
      const weight = el("span", { class: "reading-weight" });
      const track = el("span", { class: "meter", "aria-hidden": "true" }, meter);
      const button = el("button", { type: "button" }, name, " ", key, " ", track, " ", weight);
      button.addEventListener("click", () => this.pick(head));
      return { head, item: el("li", {}, button), button, name, key, meter, weight };
    });
    this.list.replaceChildren(...this.rows.map((row) => row.item));
  }

  private pick(head: number): void {
    const { view, spot } = this.scene ?? {};
    if (!view || !spot) return;
    this.shell.update({ pinned: { query: spot.query, key: strongestKey(view, head, spot.query) } });
    this.shell.selectHead(head);
  }
}
