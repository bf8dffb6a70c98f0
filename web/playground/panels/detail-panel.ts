/** One head large, in several views; the picked cell in a sentence, and how the head works. */

import { cellIndex, isHidden, weightAt } from "../../elements/attention-view.js";
import { byId, el, setAttributes, setStyle, setText } from "../../elements/dom.js";
import { formatWeight } from "../../elements/format.js";
import type { HeadHeatmap } from "../../elements/head-heatmap.js";
import { tokenNode } from "../../elements/token-label.js";
import type { ViewState } from "../../elements/view-state.js";
import type { MessageKey } from "../../i18n/index.js";
import { compose, message, say, withWords } from "../../i18n/index.js";
import { busy } from "../busy.js";
import type { Scene, Shell } from "../shell.js";
import { on } from "../shell.js";
import type { Tab } from "../state.js";
import { give } from "../view/give.js";
import { OptionsPanel } from "./options-panel.js";

/** Views that say themselves, below their picture, what is looked at. */
const SPEAKING: readonly Tab[] = ["lines", "compare"];

/** What a tab other than the first holds. */
interface Panel {
  /** Called also when only the pointer has moved. */
  render(scene: Scene): void;
}

/** The code of the other tabs is fetched when somebody opens them. */
const later: Readonly<Record<Exclude<Tab, "matrix">, (shell: Shell, linked: ViewState) => Promise<Panel>>> = {
  lines: async (shell, linked) => new (await withWords(import("./lines-panel.js"))).LinesPanel(shell, linked),
  compare: async (shell, linked) => new (await withWords(import("./compare-panel.js"))).ComparePanel(shell, linked),
  numbers: async (shell) => new (await withWords(import("./numbers-panel.js"))).NumbersPanel(shell),
};

export class DetailPanel {
  private readonly matrix = byId<HeadHeatmap>("matrix");
  private readonly panels = new Map<Tab, Panel | null>();
  /** A tab whose code could not be fetched. */
  private missing: Tab | null = null;
  /** Whether the words of how a head works have been asked for. */
  private asked = false;
  private readonly options: OptionsPanel;
  private readonly sentence = byId("sentence");
  private readonly name = el("span");
  /** Where there is no room beside the tabs it is left to the head's card. */
  private readonly kind = el("span", { class: "kind" });
  private readonly tabs = [...byId("tabs").querySelectorAll<HTMLButtonElement>("[role=tab]")];
  private scene: Scene | null = null;

  constructor(
    private readonly shell: Shell,
    private readonly linked: ViewState,
  ) {
    this.options = new OptionsPanel(shell);
    byId("detail-title").replaceChildren(this.name, this.kind);
    this.matrix.state = linked;
    stick(byId("views").querySelector<HTMLElement>(".detail") as HTMLElement);
    on(byId("previous-head"), "click", () => this.step(-1));
    on(byId("next-head"), "click", () => this.step(1));
    for (const [i, tab] of this.tabs.entries()) {
      tab.addEventListener("click", () => {
        this.missing = null;
        const { head, otherHead } = shell.state;
        // A head beside itself shows nothing: the comparison opens with its neighbour.
        const opened = tabName(tab) === "compare" && otherHead === head;
        shell.update({ tab: tabName(tab), ...(opened && { otherHead: head === 0 ? 1 : 0 }) });
      });
      tab.addEventListener("keydown", (event) => {
        const next = nextTab(event.key, i, this.tabs.length);
        if (next === null) return;
        event.preventDefault();
        this.tabs[next]?.click();
        this.tabs[next]?.focus();
      });
    }
  }

  /** To the next head as they are sorted, or back, round the end. */
  step(by: number): void {
    if (!this.scene) return;
    const { order, head } = this.scene;
    this.shell.selectHead(order[(order.indexOf(head) + by + order.length) % order.length] as number);
  }

  render(scene: Scene): void {
    const { answer, view, captions, layer, head } = scene;
    const { tab, scale } = this.shell.state;
    const name = answer.source.layers > 1 ? say("heads.nameLayer", { layer, head }) : say("heads.name", { head });
    setText(this.name, name);
    setText(this.kind, ` · ${captions[head]?.name ?? ""}`);
    for (const button of this.tabs) {
      const on = tabName(button) === tab;
      setAttributes(button, { "aria-selected": on ? "true" : "false", tabindex: on ? 0 : -1 });
      byId(`panel-${tabName(button)}`).hidden = !on;
    }
    this.options.render(scene);
    if (tab === "matrix") {
      give(this.matrix, view);
      this.matrix.scale = scale;
    } else this.panelOf(tab)?.render(scene);
    this.sentence.hidden = SPEAKING.includes(tab);
    const how = answer.open.heads[head]?.how;
    const words = how && message(how);
    byId("how").hidden = !words;
    if (words) byId("how").replaceChildren(el("b", {}, say("detail.how")), " ", words);
    // Not below heads that only stand in for a model on its way: they will be gone before that has been read.
    else if (how && this.shell.state.source === answer.source.id) this.fetchWords();
  }

  private fetchWords(): void {
    if (this.asked) return;
    this.asked = true;
    busy(byId("how"), withWords(Promise.resolve())).then(
      () => this.shell.update({}),
      (error: unknown) => {
        const again = () => {
          this.asked = false;
          this.shell.update({});
        };
        addEventListener("online", again, { once: true });
        this.shell.missed(error);
      },
    );
  }

  /** Null until its code is here; then the page is drawn again. */
  private panelOf(tab: Exclude<Tab, "matrix">): Panel | null {
    const panel = this.panels.get(tab);
    if (panel !== undefined) return panel;
    if (this.missing === tab) return null;
    this.panels.set(tab, null);
    busy(byId(`panel-${tab}`), later[tab](this.shell, this.linked)).then(
      (made) => {
        this.panels.set(tab, made);
        this.shell.update({});
      },
      (error: unknown) => {
        // Tried again when the tab is opened again.
        this.missing = tab;
        this.panels.delete(tab);
        this.shell.missed(error);
      },
    );
    return null;
  }

  /** What follows the pointer and is not an element: the row of numbers, the sentence. */
  renderSpot(scene: Scene): void {
    this.scene = scene;
    const { tab } = this.shell.state;
    if (tab === "numbers") this.panelOf(tab)?.render(scene);
    if (this.sentence.hidden) return;
    this.sentence.replaceChildren(...sentence(scene));
    this.sentence.classList.toggle("hint", scene.spot?.key == null);
  }
}

/** Space between the card and the edge of the window. */
const EDGE = 12;

/** A card that is taller than the window is scrolled to its end before it stays. */
function stick(card: HTMLElement): void {
  const place = () => {
    const top = Math.min(EDGE, window.innerHeight - card.offsetHeight - EDGE);
    setStyle(card, "--stick", `${top}px`);
  };
  if ("ResizeObserver" in window) new ResizeObserver(place).observe(card);
  addEventListener("resize", place);
}

function tabName(button: HTMLElement): Tab {
  return button.dataset["tab"] as Tab;
}

function nextTab(key: string, now: number, count: number): number | null {
  if (key === "ArrowRight") return (now + 1) % count;
  if (key === "ArrowLeft") return (now - 1 + count) % count;
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : null;
}

function sentence({ answer, view, layer, head, spot, strongest }: Scene): Node[] {
  if (!spot || spot.key === null) return [document.createTextNode(say("detail.hint"))];
  const { query, key } = spot;
  const hidden = isHidden(view, head, query, key);
  const message: MessageKey = hidden ? "detail.sentenceHidden" : strongest ? "detail.strongest" : "detail.sentence";
  const words = compose(message, {
    query: tokenNode(view.queryTexts[query] as string, "token picked"),
    key: tokenNode(view.keyTexts[key] as string, "token picked"),
    weight: el("b", { class: "weight" }, formatWeight(weightAt(view, head, query, key), hidden)),
    head: answer.source.layers > 1 ? say("heads.place", { layer, head }) : head,
  });
  const nodes = [el("span", {}, words)];
  const score = view.scores?.[cellIndex(view, head, query, key)];
  if (score !== undefined && score !== Number.NEGATIVE_INFINITY) {
    const written = score.toFixed(4).replace("-", "−");
    nodes.push(el("span", { class: "soft score" }, say("detail.score", { score: written })));
  }
  return nodes;
}
