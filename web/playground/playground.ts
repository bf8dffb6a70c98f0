/** The page: one state, one answer of the engine, and everything drawn from the two, once a frame at most. */

import type { Spot } from "../elements/attention-view.js";
import type { CostCards } from "../elements/cost-cards.js";
import { defineElements } from "../elements/define.js";
import { byId, setPrinting, setText } from "../elements/dom.js";
import type { HeadCaption } from "../elements/head-grid.js";
import type { ShapeTrace } from "../elements/shape-trace.js";
import { language, preferredLanguage, say } from "../i18n/index.js";
import { Address } from "./address.js";
import { describeHeads } from "./describe-heads.js";
import type { Answer } from "./engine.js";
import { Engine } from "./engine.js";
import { BarPanel } from "./panels/bar-panel.js";
import { DetailPanel } from "./panels/detail-panel.js";
import { HeadsPanel } from "./panels/heads-panel.js";
import { InputPanel } from "./panels/input-panel.js";
import { savedLanguage } from "./preferences.js";
import type { Problem, Scene, Shell } from "./shell.js";
import { inside, viewOf, withKey } from "./shell.js";
import { sourceById } from "./sources/index.js";
import type { State } from "./state.js";
import { fromFragment, initialState } from "./state.js";
import type { Tokenization } from "./tokens.js";

/** What changes an answer; everything else only changes how it is drawn. */
const ASKED = ["text", "unit", "source", "causal", "off"] as const;

export class Playground implements Shell {
  state: State;
  private readonly engine = new Engine();
  private readonly address: Address;
  private readonly bar: BarPanel;
  private readonly input: InputPanel;
  private readonly heads: HeadsPanel;
  private readonly detail: DetailPanel;

  private tokenization: Tokenization = { tokens: [], cutAt: null };
  private texts: readonly string[] = [];
  private shown: { answer: Answer; view: Scene["view"] } | null = null;
  private captions: { answer: Answer; language: string; list: readonly HeadCaption[] } | null = null;
  private previewed: Spot | null = null;
  private problem: Problem | null = null;
  private engineName: { version: string; variant: string } | null = null;

  private frame = 0;
  private recompute = true;
  /** False while only the pointer moved: then nothing but what follows it is drawn again. */
  private redraw = true;

  constructor() {
    defineElements();
    const preferred = preferredLanguage([savedLanguage() ?? "", ...navigator.languages].filter(Boolean));
    this.state = fromFragment(location.hash, initialState(preferred));
    this.address = new Address(
      () => this.shownState(),
      (fragment) => {
        this.previewed = null;
        this.update(fromFragment(fragment, this.state));
      },
    );
    this.bar = new BarPanel(this, this.address);
    this.input = new InputPanel(this);
    this.heads = new HeadsPanel(this);
    this.detail = new DetailPanel(this);
    document.addEventListener("keydown", (event) => this.onKey(event));
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
  }

  start(): void {
    this.schedule(true);
    this.engine.ready().then(
      ({ version, variant }) => {
        this.engineName = { version, variant };
        this.schedule(true);
      },
      (error: unknown) => {
        this.problem = null;
        this.fail("input.loadFailed", error);
      },
    );
  }

  update(change: Partial<State>): void {
    const before = this.state;
    this.state = { ...before, ...change };
    if (ASKED.some((name) => this.state[name] !== before[name])) this.recompute = true;
    if (Object.keys(change).length > 0) this.address.writeSoon();
    this.schedule(true);
  }

  preview(spot: Spot | null): void {
    if (spot?.query === this.previewed?.query && spot?.key === this.previewed?.key) return;
    this.previewed = spot;
    this.schedule(false);
  }

  selectHead(head: number): void {
    this.update({ head });
    const caption = this.captions?.list[head];
    if (caption) this.announce(caption.spoken);
  }

  announce(text: string): void {
    setText(byId("live"), text);
  }

  private print(now: boolean): void {
    setPrinting(now);
    // At once: the browser takes its picture when the event has been handled.
    this.render(true);
  }

  private onKey(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return;
    if (event.target instanceof HTMLTextAreaElement) return;
    if (event.key === "[") this.detail.step(-1);
    else if (event.key === "]") this.detail.step(1);
    else if (event.key === "Escape" && this.state.pinned) this.update({ pinned: null });
  }

  private shownState(): State {
    const { cutAt } = this.tokenization;
    return cutAt === null ? this.state : { ...this.state, text: this.state.text.slice(0, cutAt) };
  }

  private schedule(redraw: boolean): void {
    this.redraw ||= redraw;
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      if (this.recompute) this.compute();
      const whole = this.redraw;
      this.redraw = false;
      this.render(whole);
    });
  }

  private compute(): void {
    this.recompute = false;
    const { text, unit, causal, off } = this.state;
    const source = sourceById(this.state.source);
    this.tokenization = source.tokenize(text, unit);
    const { tokens } = this.tokenization;
    this.texts = tokens.map((token) => token.text);
    if (tokens.length === 0) return;
    const gate = Float32Array.from({ length: source.numHeads }, (_, head) => (off.has(head) ? 0 : 1));
    const failed = (error: unknown) => this.fail("input.failed", error);
    try {
      const answer = this.engine.ask({ source, tokens, options: { causal, gate } });
      if (answer instanceof Promise) answer.then((late) => this.accept(late), failed);
      else this.accept(answer);
    } catch (error) {
      failed(error);
    }
  }

  private accept(answer: Answer | null): void {
    if (!answer) return;
    this.shown = { answer, view: viewOf(answer) };
    this.problem = null;
    this.schedule(true);
  }

  private fail(key: Problem["key"], error: unknown): void {
    // Without the core every question fails too; the reason is the core's.
    if (this.problem?.key === "input.loadFailed") return;
    this.problem = { key, reason: error instanceof Error ? error.message : String(error) };
    this.schedule(true);
  }

  private render(whole: boolean): void {
    const { tokenization, problem, shown } = this;
    if (whole) {
      this.bar.render();
      this.input.render({ tokenization, problem, answer: shown?.answer ?? null });
    }
    const empty = tokenization.tokens.length === 0;
    const scene = this.scene();
    this.heads.renderTokens(this.texts, empty ? null : scene);
    byId("views").hidden = !scene;
    byId("below").hidden = !scene;
    if (!scene) return;
    if (whole) {
      byId("views").classList.toggle("stale", empty || problem !== null);
      this.heads.render(scene);
      this.detail.render(scene);
      this.renderBelow(scene);
    }
    const still = empty ? { ...scene, spot: null, pinned: null } : scene;
    this.heads.renderSpot(still);
    this.detail.renderSpot(still);
  }

  private scene(): Scene | null {
    if (!this.shown) return null;
    const { answer, view } = this.shown;
    if (this.captions?.answer !== answer || this.captions.language !== language()) {
      const { open, run, tokens, options } = answer;
      const list = describeHeads(open.config, open.heads, run.weights, tokens, options.causal);
      this.captions = { answer, language: language(), list };
    }
    const head = Math.min(this.state.head, view.heads - 1);
    const pinned = inside(this.state.pinned, view);
    const given = inside(this.previewed, view) ?? pinned;
    const spot = withKey(given, view, head);
    return { answer, view, captions: this.captions.list, head, pinned, spot, strongest: given?.key === null };
  }

  private renderBelow({ answer, view }: Scene): void {
    const { config } = answer.open;
    const width = config.headDim ?? config.dModel / config.numHeads;
    const root = Math.sqrt(width);
    byId<ShapeTrace>("trace").update(answer.run.trace, Number.isInteger(root) ? String(root) : `√${width}`);
    byId<CostCards>("cost").update(config, view.queries);
    setText(byId("engine"), this.engineName ? say("page.engine", this.engineName) : "");
  }
}
