/** One head large: the matrix or the numbers, its scale, the picked cell in a sentence, and how the head works. */

import type { Scale, Spot } from "../../elements/attention-view.js";
import { cellIndex, domainTop, isHidden, weightAt } from "../../elements/attention-view.js";
import { byId, darkTheme, el, setAttributes, setText } from "../../elements/dom.js";
import { formatWeight } from "../../elements/format.js";
import type { HeadMatrix } from "../../elements/head-matrix.js";
import type { NumberTable } from "../../elements/number-table.js";
import { ramp } from "../../elements/ramp.js";
import { labelText, tokenNode } from "../../elements/token-label.js";
import type { MessageKey } from "../../i18n/index.js";
import { compose, say } from "../../i18n/index.js";
import type { Scene, Shell } from "../shell.js";
import { choose, on } from "../shell.js";
import type { Tab } from "../state.js";

export class DetailPanel {
  private readonly matrix = byId<HeadMatrix>("matrix");
  private readonly loupe = byId<HeadMatrix>("loupe");
  private readonly numbers = byId<NumberTable>("numbers");
  private readonly scale = byId("scale");
  private readonly sentence = byId("sentence");
  private readonly tabs = [...byId("tabs").querySelectorAll<HTMLButtonElement>("[role=tab]")];
  private scene: Scene | null = null;
  /** A cell reached by keyboard is read out once it has been drawn. */
  private spoken: Spot | null = null;

  constructor(private readonly shell: Shell) {
    this.loupe.loupe = true;
    for (const field of [this.matrix, this.loupe]) {
      on(field, "preview", ({ detail }) => {
        if (detail.spoken) this.spoken = detail;
        shell.preview(detail.query === null ? null : { query: detail.query, key: detail.key });
      });
      on(field, "pick", ({ detail }) => {
        const { pinned } = shell.state;
        const again = pinned !== null && pinned.query === detail.query && pinned.key === detail.key;
        if (!again) this.spoken = detail;
        shell.update({ pinned: again ? null : { query: detail.query, key: detail.key } });
      });
      on(field, "unpin", () => shell.update({ pinned: null }));
    }
    on(this.scale, "change", (event) => shell.update({ scale: (event.target as HTMLInputElement).value as Scale }));
    on(byId("previous-head"), "click", () => this.step(-1));
    on(byId("next-head"), "click", () => this.step(1));
    for (const [i, tab] of this.tabs.entries()) {
      tab.addEventListener("click", () => shell.update({ tab: tabName(tab) }));
      tab.addEventListener("keydown", (event) => {
        const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
        if (step === 0) return;
        const next = this.tabs[(i + step + this.tabs.length) % this.tabs.length] as HTMLButtonElement;
        next.click();
        next.focus();
      });
    }
  }

  /** To the next head, or back, round the end. */
  step(by: number): void {
    if (!this.scene) return;
    const { heads } = this.scene.view;
    this.shell.selectHead((this.scene.head + by + heads) % heads);
  }

  render({ answer, view, captions, layer, head }: Scene): void {
    const { scale, tab } = this.shell.state;
    const name = answer.source.layers > 1 ? say("heads.nameLayer", { layer, head }) : say("heads.name", { head });
    setText(byId("detail-title"), `${name} · ${captions[head]?.name ?? ""}`);
    for (const button of this.tabs) {
      const on = tabName(button) === tab;
      setAttributes(button, { "aria-selected": on ? "true" : "false", tabindex: on ? 0 : -1 });
      byId(`panel-${tabName(button)}`).hidden = !on;
    }
    if (tab === "matrix") {
      choose(this.scale, scale);
      drawLegend(domainTop(view, head, scale));
    }
    const how = answer.open.heads[head]?.how;
    byId("how").hidden = !how;
    if (how) byId("how").replaceChildren(el("b", {}, say("detail.how")), " ", say(how));
  }

  /** What follows the pointer: crosshair, surroundings, the row of numbers, the sentence. */
  renderSpot(scene: Scene): void {
    this.scene = scene;
    const { answer, view, head, spot, pinned } = scene;
    const { scale, tab } = this.shell.state;
    const state = { view, head, scale, spot, pinned };
    if (tab === "matrix") this.matrix.update(state);
    byId("legend-small").hidden = !this.matrix.numbered;
    const cramped = tab === "matrix" && this.matrix.cramped;
    byId("loupe-part").hidden = !cramped;
    if (cramped) this.loupe.update(state);
    if (tab === "numbers") this.numbers.update({ view, head, spot, output: answer.run.output });
    this.sentence.replaceChildren(...sentence(scene));
    const { spoken } = this;
    if (spoken && spot && spot.query === spoken.query && spot.key === spoken.key) {
      this.shell.announce(cell(scene, spot.query, spot.key as number, labelText).text);
      this.spoken = null;
    }
  }
}

function tabName(button: HTMLElement): Tab {
  return button.dataset["tab"] === "numbers" ? "numbers" : "matrix";
}

function drawLegend(top: number): void {
  const end = top === 1 ? "1" : top.toFixed(4);
  setText(byId("legend-top"), end);
  const canvas = byId<HTMLCanvasElement>("legend-ramp");
  setAttributes(canvas, { "aria-label": say("legend.domain", { top: end }) });
  const context = canvas.getContext("2d");
  if (!context) return;
  const image = context.createImageData(256, 1);
  new Uint32Array(image.data.buffer).set(ramp(darkTheme() ? "dark" : "light").words);
  context.putImageData(image, 0, 0);
}

interface Cell<Part extends Node | string> {
  readonly message: MessageKey;
  readonly values: Record<"query" | "key", Part> & { weight: string; head: number | string };
  /** The sentence as plain text. */
  readonly text: string;
}

/** A cell in words; `label` makes the tokens: text for the ear, elements for the eye. */
function cell<Part extends Node | string>(
  { answer, view, layer, head, strongest }: Scene,
  query: number,
  key: number,
  label: (text: string) => Part,
): Cell<Part> {
  const hidden = isHidden(view, head, query, key);
  const message = hidden ? "detail.sentenceHidden" : strongest ? "detail.strongest" : "detail.sentence";
  const queryText = view.queryTexts[query] as string;
  const keyText = view.keyTexts[key] as string;
  const weight = formatWeight(weightAt(view, head, query, key), hidden);
  const place = answer.source.layers > 1 ? say("heads.place", { layer, head }) : head;
  return {
    message,
    values: { query: label(queryText), key: label(keyText), weight, head: place },
    text: say(message, { query: labelText(queryText), key: labelText(keyText), weight, head: place }),
  };
}

function sentence(scene: Scene): Node[] {
  const { view, head, spot } = scene;
  if (!spot || spot.key === null) return [document.createTextNode(say("detail.hint"))];
  const { message, values } = cell(scene, spot.query, spot.key, (text) => tokenNode(text, "token picked"));
  const words = compose(message, { ...values, weight: el("b", { class: "weight" }, values.weight) });
  const nodes = [el("span", {}, words)];
  const score = view.scores?.[cellIndex(view, head, spot.query, spot.key)];
  if (score !== undefined && score !== Number.NEGATIVE_INFINITY) {
    const written = score.toFixed(4).replace("-", "−");
    nodes.push(el("span", { class: "soft score" }, say("detail.score", { score: written })));
  }
  return nodes;
}
