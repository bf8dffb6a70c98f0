/** The page: one state, one answer of the engine, and everything drawn from the two, once a frame at most. */

import type { Spot } from "../elements/attention-view.js";
import type { CostCards } from "../elements/cost-cards.js";
import { definePageElements } from "../elements/define-page.js";
import { byId, setPrinting, setText } from "../elements/dom.js";
import type { HeadCaption } from "../elements/head-cards.js";
import type { TraceCards } from "../elements/trace-cards.js";
import { language, preferredLanguage, say } from "../i18n/index.js";
import { Address } from "./address.js";
import { describeHeads } from "./describe-heads.js";
import type { Answer } from "./engine.js";
import { Engine } from "./engine.js";
import type { HeadPlace } from "./head-key.js";
import { headPlace } from "./head-key.js";
import type { FetchState } from "./library.js";
import { Library } from "./library.js";
import { BarPanel } from "./panels/bar-panel.js";
import { DetailPanel } from "./panels/detail-panel.js";
import { HeadsPanel } from "./panels/heads-panel.js";
import { InputPanel } from "./panels/input-panel.js";
import { InspectorPanel } from "./panels/inspector-panel.js";
import { OpenPanel } from "./panels/open-panel.js";
import { savedLanguage } from "./preferences.js";
import type { Problem, Scene, Shell, Wait } from "./shell.js";
import { inside, viewOf, withKey } from "./shell.js";
import { STAND_IN } from "./sources/index.js";
import type { Chosen, OpenProgress } from "./sources/opened-file.js";
import type { HeadSource, ModelEffect } from "./sources/source.js";
import type { State } from "./state.js";
import { fromFragment, initialState } from "./state.js";
import type { Tokenization } from "./tokens.js";

/** What changes an answer; everything else only changes how it is drawn. */
const ASKED = ["text", "unit", "source", "causal", "layer", "off"] as const;

/** What is done to the heads on screen, so that they must not be taken away for those that were waited for. */
const WORK = ["causal", "layer", "off", "pinned"] as const;

/** A run that takes longer says so. */
const SLOW = 300;

export class Playground implements Shell {
  state: State;
  private readonly engine = new Engine();
  private readonly library = new Library();
  private readonly address: Address;
  private readonly bar: BarPanel;
  private readonly input: InputPanel;
  private readonly heads: HeadsPanel;
  private readonly detail: DetailPanel;
  private readonly inspector: InspectorPanel;

  private tokenization: Tokenization = { tokens: [], cutAt: null };
  private texts: readonly string[] = [];
  private shown: { answer: Answer; view: Scene["view"]; effect?: ModelEffect } | null = null;
  private captions: { answer: Answer; language: string; list: readonly HeadCaption[] } | null = null;
  private previewed: Spot | null = null;
  private problem: Problem | null = null;
  private fetching: FetchState | null = null;
  /** The layer that is being computed for longer than SLOW. */
  private slowLayer: number | null = null;
  private slowTimer = 0;
  /** The next answer of a model opens on a head worth looking at. */
  private suggest = false;
  private engineName: { version: string; variant: string } | null = null;

  private frame = 0;
  private recompute = true;
  /** False while only the pointer moved: then nothing but what follows it is drawn again. */
  private redraw = true;

  constructor() {
    definePageElements();
    const preferred = preferredLanguage([savedLanguage() ?? "", ...navigator.languages].filter(Boolean));
    const initial = initialState(preferred);
    this.state = fromFragment(location.hash, initial);
    this.address = new Address(
      () => this.shownState(),
      (fragment) => {
        this.previewed = null;
        this.suggest = false;
        this.update(fromFragment(fragment, this.state));
      },
    );
    this.suggest = this.state === initial;
    this.bar = new BarPanel(this, this.address);
    this.input = new InputPanel(this);
    this.heads = new HeadsPanel(this);
    this.detail = new DetailPanel(this);
    this.inspector = new InspectorPanel();
    new OpenPanel(
      (chosen, progress) => this.openModel(chosen, progress),
      () => this.update({}),
    );
    document.addEventListener("keydown", (event) => this.onKey(event));
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
  }

  start(): void {
    this.schedule(true);
    // Once the page has been painted; the core is still being compiled then, off this thread.
    requestAnimationFrame(() => setTimeout(() => this.fetchWanted()));
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
    if (change.source !== undefined && change.source !== before.source) this.choose(change);
    else if (this.standsIn() && !("text" in change) && WORK.some((name) => name in change)) {
      this.state = { ...this.state, source: STAND_IN.id, layer: 0 };
    } else if (change.source === undefined && "text" in change && "head" in change && this.source().layers > 1) {
      // An example: its head is one of the built ones.
      this.state = { ...this.state, head: before.head, pinned: null };
      this.suggest = true;
    }
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
    this.update(this.standsIn() ? { head, source: STAND_IN.id, layer: 0 } : { head });
    const caption = this.captions?.list[head];
    if (caption) this.announce(caption.spoken);
  }

  announce(text: string): void {
    setText(byId("live"), text);
  }

  /** The source on screen: the chosen one, or while that is on its way the one that needs no file. */
  private source(): HeadSource {
    return this.library.get(this.state.source) ?? STAND_IN;
  }

  private standsIn(): boolean {
    return this.library.get(this.state.source) === null;
  }

  /** Another source: a model opens on a head of its own unless the change, a link, says which. */
  private choose(change: Partial<State>): void {
    this.problem = null;
    if (!("layer" in change && "text" in change)) this.suggest = true;
    this.fetchWanted();
  }

  private fetchWanted(): void {
    if (this.state.source !== "tiny" || !this.standsIn()) return;
    const progress = (state: FetchState) => {
      this.fetching = state;
      this.schedule(true);
    };
    this.library.fetchTiny(this.engine.ready(), progress).then(
      () => {
        this.recompute = true;
        this.schedule(true);
      },
      (error: unknown) => {
        if (this.state.source !== "tiny") return;
        this.state = { ...this.state, source: STAND_IN.id, layer: 0, off: new Set() };
        this.recompute = true;
        this.fail("input.tinyFailed", error);
      },
    );
  }

  /** Runs the file once before it takes the place of what is on screen. */
  private async openModel(chosen: Chosen, progress: OpenProgress): Promise<void> {
    const source = await this.library.openChosen(this.engine.ready(), chosen, progress);
    try {
      // A link to a layer of a file finds it again.
      const linked = this.state.source === "file" && this.standsIn();
      const layer = linked ? Math.min(this.state.layer, source.layers - 1) : 0;
      const { tokens } = source.tokenize(this.state.text, this.state.unit);
      if (tokens.length > 0) {
        const open = await source.open(await this.engine.ready());
        const off = linked ? this.offOf(source) : new Set<number>();
        await open.run(tokens, { causal: source.causal === "always", layer, off, signal: progress.signal });
      }
      if (progress.signal.aborted) throw new Error("stopped by its signal");
      this.library.keep(source);
      this.recompute = true;
      if (linked) this.update({});
      else {
        this.suggest = true;
        this.state = { ...this.state, source: source.id, layer: 0, head: 0, pinned: null, off: new Set() };
        this.update({ source: source.id });
      }
    } catch (error) {
      source.dispose();
      throw error;
    }
  }

  private offOf(source: HeadSource): ReadonlySet<number> {
    const there = ({ layer, head }: HeadPlace) => layer < source.layers && head < source.numHeads;
    return new Set([...this.state.off].filter((key) => there(headPlace(key))));
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
    const { text, unit } = this.state;
    const source = this.source();
    const failed = (error: unknown) => {
      this.notSlow();
      this.fail("input.failed", error);
    };
    try {
      this.tokenization = source.tokenize(text, unit);
      const { tokens } = this.tokenization;
      this.texts = tokens.map((token) => token.text);
      if (tokens.length === 0) return;
      const causal = source.causal === "free" ? this.state.causal : source.causal === "always";
      // While another source is waited for, its layers and heads are not those on screen.
      const standsIn = this.standsIn();
      const layer = standsIn ? 0 : Math.min(this.state.layer, source.layers - 1);
      const off = standsIn ? new Set<number>() : this.offOf(source);
      const answer = this.engine.ask({ source, tokens, options: { causal, layer, off } });
      if (answer instanceof Promise) {
        this.slowAfter(layer);
        answer.then((late) => this.accept(late), failed);
      } else this.accept(answer);
    } catch (error) {
      failed(error);
    }
  }

  private accept(answer: Answer | null): void {
    if (!answer) return;
    this.notSlow();
    const shown: NonNullable<typeof this.shown> = { answer, view: viewOf(answer) };
    this.shown = shown;
    if (this.problem?.key !== "input.tinyFailed") this.problem = null;
    if (this.suggest && !this.standsIn()) this.openOn(answer);
    this.schedule(true);
    // The picture first, then what it takes longer to know.
    const effect = answer.run.effect?.();
    if (effect instanceof Promise) {
      effect.then(
        (known) => {
          shown.effect = known;
          this.schedule(true);
        },
        (error: unknown) => {
          if (!answer.options.signal?.aborted) this.fail("input.failed", error);
        },
      );
    } else if (effect) shown.effect = effect;
  }

  private openOn({ open, tokens }: Answer): void {
    this.suggest = false;
    const found = open.suggest?.(tokens);
    if (found) this.update({ ...found, pinned: { query: tokens.length - 1, key: null } });
  }

  private slowAfter(layer: number): void {
    clearTimeout(this.slowTimer);
    this.slowTimer = window.setTimeout(() => {
      this.slowLayer = layer;
      this.schedule(true);
    }, SLOW);
  }

  private notSlow(): void {
    clearTimeout(this.slowTimer);
    this.slowLayer = null;
  }

  private wait(): Wait | null {
    if (this.standsIn()) return this.state.source === "tiny" ? { for: "tiny", state: this.fetching } : { for: "file" };
    return this.slowLayer !== null && this.source().layers > 1 ? { for: "run", layer: this.slowLayer } : null;
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
      const file = this.library.get("file");
      const [source, wait, answer] = [this.source(), this.wait(), shown?.answer ?? null];
      this.input.render({ source, wait, file, tokenization, problem, answer });
    }
    const empty = tokenization.tokens.length === 0;
    const scene = this.scene();
    this.heads.renderTokens(this.texts, empty ? null : scene);
    byId("views").hidden = !scene;
    byId("below").hidden = !scene;
    if (!scene) return;
    if (whole) {
      byId("views").classList.toggle("layered", scene.answer.source.layers > 1);
      byId("views").classList.toggle("stale", empty || (problem !== null && problem.key !== "input.tinyFailed"));
      this.heads.render(scene);
      this.detail.render(scene);
      this.renderBelow(scene);
      this.inspector.render(scene, this.shownState().text);
    }
    const still = empty ? { ...scene, spot: null, pinned: null } : scene;
    this.heads.renderSpot(still);
    this.detail.renderSpot(still);
  }

  private scene(): Scene | null {
    if (!this.shown) return null;
    const { answer, view, effect } = this.shown;
    if (this.captions?.answer !== answer || this.captions.language !== language()) {
      const { open, run, tokens, options } = answer;
      const list = describeHeads(open.config, open.heads, run.weights, tokens, options.causal);
      this.captions = { answer, language: language(), list };
    }
    const head = Math.min(this.state.head, view.heads - 1);
    const pinned = inside(this.state.pinned, view);
    const given = inside(this.previewed, view) ?? pinned;
    const spot = withKey(given, view, head);
    const { layer } = answer.options;
    const { list: captions } = this.captions;
    return { answer, view, captions, layer, effect, head, pinned, spot, strongest: given?.key === null };
  }

  private renderBelow({ answer, view }: Scene): void {
    const { config } = answer.open;
    const width = config.headDim ?? config.dModel / config.numHeads;
    const root = Math.sqrt(width);
    byId<TraceCards>("trace").update(answer.run.trace, Number.isInteger(root) ? String(root) : `√${width}`);
    byId<CostCards>("cost").update(config, view.queries, answer.open.file !== undefined);
    setText(byId("engine"), this.engineName ? say("page.engine", this.engineName) : "");
  }
}
