/** The page: one state, one answer of the engine, and everything drawn from the two, once a frame at most. */

import type { Spot } from "../elements/attention-view.js";
import { byId, setAttributes, setText } from "../elements/dom.js";
import { canSpeak, language, loadLanguage, preferredLanguage, say } from "../i18n/index.js";
import { Address } from "./address.js";
import type { Answer } from "./answer.js";
import { busy } from "./busy.js";
import type { HeadWords } from "./describe-heads.js";
import { describeHeads } from "./describe-heads.js";
import { defineFirst } from "./elements.js";
import { Engine } from "./engine.js";
import { fromFragment, isPacked, unpackFragment } from "./fragment.js";
import type { HeadPlace } from "./head-key.js";
import { headPlace, offIn } from "./head-key.js";
import type { FetchState } from "./library.js";
import { Library } from "./library.js";
import { LinkedView } from "./link-view.js";
import type { Measuring } from "./measuring.js";
import { BarPanel } from "./panels/bar-panel.js";
import { CostPanel } from "./panels/cost-panel.js";
import { DetailPanel } from "./panels/detail-panel.js";
import { HeadsPanel } from "./panels/heads-panel.js";
import { InputPanel } from "./panels/input-panel.js";
import { KeysPanel } from "./panels/keys-panel.js";
import { Later } from "./panels/later.js";
import { savedLanguage } from "./preferences.js";
import type { Problem, Scene, Shell, Wait } from "./shell.js";
import { inside, withKey } from "./shell.js";
import { STAND_IN } from "./sources/index.js";
import type { Chosen, OpenProgress } from "./sources/opened-file.js";
import type { Core, HeadLosses, HeadSource, ModelEffect, RunOptions } from "./sources/source.js";
import type { State } from "./state.js";
import { initialState, ownView, tidyText } from "./state.js";
import type { Tokenization } from "./tokens.js";
import type { Drawn, Layout } from "./view/layout.js";
import { draw, layOut, rowOf, tokenOf } from "./view/layout.js";
import { sortHeads } from "./view/sort-heads.js";

/** What changes an answer; everything else only changes how it is drawn. */
const ASKED = ["text", "unit", "source", "causal", "layer", "off"] as const;

/** What is done to the heads on screen, so that they must not be taken away for those that were waited for. */
const WORK = ["causal", "layer", "off", "pinned"] as const;

/** Longer texts are cut by every source. */
const MOST_UNITS = 32_768;

/** A run that takes longer says so. */
const SLOW = 300;

interface Drawing extends Drawn {
  readonly answer: Answer;
  readonly layout: Layout;
  readonly rows: State["rows"];
  readonly hide: State["hide"];
}

/** The answer on screen, and what becomes known about it later. */
interface Shown {
  readonly answer: Answer;
  effect?: ModelEffect;
  /** Asked for when heads are sorted by it. */
  importance?: Measuring<HeadLosses>;
}

export class Playground implements Shell {
  state: State;
  private readonly engine = new Engine();
  private readonly library = new Library();
  private readonly address: Address;
  private readonly bar: BarPanel;
  private readonly input: InputPanel;
  private readonly heads: HeadsPanel;
  private readonly detail: DetailPanel;
  private readonly cost = new CostPanel(this);
  private readonly later: Later;
  private readonly linked = new LinkedView(this);
  private readonly keys = new KeysPanel();

  private tokenization: Tokenization = { tokens: [], cutAt: null };
  /** The text that `tokenization` is of. */
  private tokenized = "";
  /** Of `tokenized`; made when it is needed. */
  private rowsNow: Layout | null = null;
  /** How far the text beside it goes. */
  private otherCut: { readonly text: string; readonly cutAt: number } | null = null;
  private shown: Shown | null = null;
  private drawing: Drawing | null = null;
  private captions: { answer: Answer; language: string; list: readonly HeadWords[] } | null = null;
  private order: readonly number[] = [];
  private previewed: Spot | null = null;
  private problem: Problem | null = null;
  private fetching: FetchState | null = null;
  /** Questions that have no answer yet: the picture on screen is an older one's. */
  private waiting = 0;
  /** The layer that is being computed for longer than SLOW. */
  private slowLayer: number | null = null;
  private slowTimer = 0;
  /** Bytes of the visitor's file: all so far, and when the layer was asked for. */
  private loaded = 0;
  private loadedBefore = 0;
  /** Whose heads the visitor has said to measure: that goes on when heads are switched off or on meanwhile. */
  private measured: (Pick<Answer, "source" | "text"> & { readonly layer: number }) | null = null;
  /** The next answer of a model opens on a head worth looking at. */
  private suggest = false;
  private engineName: { version: string; variant: string } | null = null;

  /** The newest link that was opened. */
  private link = 0;
  /** A link's text is still packed: what is asked for is not known yet, and the picture would be another text's. */
  private unpacking = isPacked(location.hash);

  private frame = 0;
  private recompute = true;
  /** False while only the pointer moved: then nothing but what follows it is drawn again. */
  private redraw = true;

  constructor() {
    defineFirst();
    const preferred = preferredLanguage([savedLanguage() ?? "", ...navigator.languages].filter(Boolean));
    const initial = initialState(preferred);
    this.state = fromFragment(location.hash, initial);
    this.address = new Address(
      () => this.shownState(),
      (fragment) => void this.follow(fragment),
    );
    this.suggest = this.state === initial;
    this.bar = new BarPanel(this, this.address);
    this.input = new InputPanel(this);
    this.heads = new HeadsPanel(this, this.linked.state);
    this.detail = new DetailPanel(this, this.linked.state);
    this.later = new Later(this, (chosen, progress) => this.openModel(chosen, progress));
    // Before the elements: they know of no order but that of the numbers.
    document.addEventListener("keydown", (event) => this.onKey(event), { capture: true });
  }

  start(): void {
    void this.speak();
    if (isPacked(location.hash)) void this.follow(location.hash);
    else this.schedule(true);
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

  missed(error: unknown): void {
    this.fail("page.missed", error);
  }

  core(): Promise<Core> {
    return this.engine.ready();
  }

  async ask(text: string, { off }: { off?: ReadonlySet<number> }, signal: AbortSignal): Promise<Answer | null> {
    const { answer } = this.shown ?? {};
    if (!answer) return null;
    const { source, unit, options } = answer;
    const asked = { source, unit, text, options: { ...options, off: off ?? options.off } };
    const found = await this.engine.askBeside(asked, signal);
    if (found && found.cutAt !== null) {
      this.otherCut = { text, cutAt: found.cutAt };
      this.address.writeSoon();
    }
    return found;
  }

  update(given: Partial<State>): void {
    const before = this.state;
    const change = given.text === undefined ? given : { ...given, text: tidyText(given.text) };
    this.state = { ...before, ...change };
    if (change.source !== undefined && change.source !== before.source) this.choose(change);
    else if (this.standsIn() && !("text" in change) && WORK.some((name) => name in change)) {
      this.state = { ...this.state, source: STAND_IN.id, layer: 0 };
    } else if (change.source === undefined && "text" in change && "head" in change && this.source() !== STAND_IN) {
      // An example: its head is one of the built ones.
      this.state = { ...this.state, head: before.head, pinned: null };
      this.suggest = true;
    }
    // It was about a text that is no longer asked for.
    if ("text" in change && this.problem?.key === "input.linkFailed") this.problem = null;
    if (this.state.rows !== before.rows || this.state.hide !== before.hide) {
      this.rowsNow = null;
      if (!("pinned" in change)) this.movePin(before);
    }
    if (this.state.language !== before.language) void this.speak();
    if (this.state.sort !== before.sort) this.shown?.importance?.pause();
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

  measure(): void {
    const { answer, importance } = this.shown ?? {};
    if (!answer || !importance) return;
    this.measured = { source: answer.source, text: answer.text, layer: answer.options.layer };
    importance.start();
  }

  announce(text: string): void {
    setText(byId("live"), text);
  }

  /** Without the messages of a language the page stays in the one it has; without any it takes the other one. */
  private async speak(): Promise<void> {
    const { language } = this.state;
    await busy(
      byId("language"),
      loadLanguage(language).catch(async () => {
        if (!canSpeak()) await loadLanguage(language === "zh" ? "en" : "zh");
      }),
    ).catch(() => addEventListener("online", () => void this.speak(), { once: true }));
    this.schedule(true);
  }

  /** A link that was opened: the address has changed, or holds a packed text. */
  private async follow(fragment: string): Promise<void> {
    const link = ++this.link;
    this.unpacking = isPacked(fragment);
    if (this.unpacking) this.schedule(false);
    const plain = this.unpacking ? await unpackFragment(fragment) : fragment;
    // A newer one may be short, and there before.
    if (link !== this.link) return;
    this.unpacking = false;
    this.previewed = null;
    this.suggest = false;
    this.update(plain === null ? {} : fromFragment(plain, this.state));
    if (plain === null) this.problem = { key: "input.linkFailed", reason: "" };
    this.fetchWanted();
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
    this.engine.expectModel();
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
    // An open file goes on telling what it reads.
    const onBytes = (loaded: number, total: number | undefined) => {
      progress.onBytes(loaded, total);
      this.loaded = loaded;
      if (this.slowLayer !== null) this.schedule(true);
    };
    const source = await this.library.openChosen(this.engine.ready(), chosen, { signal: progress.signal, onBytes });
    try {
      // A link to a layer of a file finds it again.
      const linked = this.state.source === "file" && this.standsIn();
      const layer = linked ? Math.min(this.state.layer, source.layers - 1) : 0;
      const { tokens } = await source.tokenize(this.state.text, this.state.unit);
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
        this.state = { ...this.state, ...ownView, source: source.id };
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

  private onKey(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return;
    const field = event.composedPath()[0];
    const typing = field instanceof HTMLTextAreaElement || (field instanceof HTMLInputElement && field.type === "text");
    // An open menu has its own.
    const inMenu = field instanceof Element && field.closest("[role=menu]") !== null;
    if (typing || inMenu || this.keys.shown) return;
    if (event.key === "[") this.detail.step(-1);
    else if (event.key === "]") this.detail.step(1);
    else if (event.key === "?") this.keys.show();
    else {
      if (event.key === "Escape" && this.state.pinned) this.update({ pinned: null });
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  private shownState(): State {
    const { state, tokenized, tokenization, otherCut } = this;
    // Of a text that has yet to be cut no more than any source reads.
    const cutAt = tokenized === state.text ? tokenization.cutAt : MOST_UNITS;
    const other = otherCut?.text === state.otherText ? otherCut.cutAt : MOST_UNITS;
    return { ...state, text: upTo(state.text, cutAt), otherText: upTo(state.otherText, other) };
  }

  private schedule(redraw: boolean): void {
    this.redraw ||= redraw;
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      if (this.recompute && !this.unpacking) this.compute();
      // What comes sooner than the words is drawn with them.
      if (!canSpeak()) return;
      const whole = this.redraw;
      this.redraw = false;
      this.render(whole);
    });
  }

  private compute(): void {
    this.recompute = false;
    const { text, unit } = this.state;
    const source = this.source();
    const causal = source.causal === "free" ? this.state.causal : source.causal === "always";
    // While another source is waited for, its layers and heads are not those on screen.
    const standsIn = this.standsIn();
    const layer = standsIn ? 0 : Math.min(this.state.layer, source.layers - 1);
    const off = standsIn ? new Set<number>() : this.offOf(source);
    const options: RunOptions = { causal, layer, off };
    this.waiting++;
    // The picture first.
    this.shown?.importance?.pause();
    this.slowAfter(layer);
    const done = () => {
      this.waiting--;
      if (this.waiting === 0) this.notSlow();
      this.schedule(true);
    };
    this.engine
      .ask({ source, text, unit, options }, (tokenization) => this.accept({ tokenization, text }))
      .then((answer) => answer && this.show(answer))
      .catch((error: unknown) => this.fail("input.failed", error))
      .finally(done);
  }

  private accept({ tokenization, text }: { tokenization: Tokenization; text: string }): void {
    this.tokenization = tokenization;
    this.tokenized = text;
    // The link holds no more than this.
    if (tokenization.cutAt !== null) this.address.writeSoon();
    this.rowsNow = null;
    this.schedule(true);
  }

  private show(answer: Answer): void {
    const shown: Shown = { answer };
    this.shown = shown;
    if (this.problem?.key === "input.failed" || this.problem?.key === "page.missed") this.problem = null;
    if (this.suggest && !this.standsIn()) this.openOn(answer);
    this.schedule(true);
    // The picture first, then what it takes longer to know.
    answer.run.effect?.().then(
      (known) => {
        shown.effect = known;
        this.schedule(true);
      },
      (error: unknown) => {
        if (!answer.options.signal?.aborted) this.fail("input.failed", error);
      },
    );
  }

  private openOn({ open, tokens }: Answer): void {
    this.suggest = false;
    const found = open.suggest?.(tokens);
    if (found) this.update({ ...found, pinned: { query: this.layout().texts.length - 1, key: null } });
  }

  private slowAfter(layer: number): void {
    clearTimeout(this.slowTimer);
    this.loadedBefore = this.loaded;
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
    if (this.slowLayer === null || this.source().layers === 1) return null;
    return { for: "run", layer: this.slowLayer, read: Math.max(0, this.loaded - this.loadedBefore) };
  }

  private fail(key: Problem["key"], error: unknown): void {
    // Without the core every question fails too; the reason is the core's.
    if (this.problem?.key === "input.loadFailed") return;
    this.problem = { key, reason: error instanceof Error ? error.message : String(error) };
    this.schedule(true);
  }

  /** The rows of the tokens as they are now, which may be ahead of the answer on screen. */
  private layout(): Layout {
    const { rows, hide } = this.state;
    this.rowsNow ??= layOut(this.tokenized, this.tokenization.tokens, rows, hide);
    return this.rowsNow;
  }

  /** Other rows: the pin stays on its tokens. */
  private movePin({ rows, hide }: State): void {
    const { pinned } = this.state;
    const before = layOut(this.tokenized, this.tokenization.tokens, rows, hide);
    const after = this.layout();
    const move = (row: number | null) => {
      const token = row === null ? null : tokenOf(before, row);
      return token === null ? null : rowOf(after, token);
    };
    const query = move(pinned?.query ?? null);
    this.previewed = null;
    this.state = { ...this.state, pinned: query === null ? null : { query, key: move(pinned?.key ?? null) } };
  }

  private render(whole: boolean): void {
    const { tokenization, problem, shown } = this;
    const layout = this.layout();
    // What was asked for, also while a model is still at it.
    const source = this.source();
    const standsIn = this.standsIn();
    const off = standsIn ? new Set<number>() : this.offOf(source);
    const layer = standsIn ? 0 : Math.min(this.state.layer, source.layers - 1);
    if (whole) {
      this.bar.render();
      const file = this.library.get("file");
      const [wait, answer] = [this.wait(), shown?.answer ?? null];
      this.input.render({ source, wait, file, tokenization, problem, answer });
    }
    const empty = this.tokenized === this.state.text && tokenization.tokens.length === 0;
    const scene = this.scene();
    this.heads.renderTokens(layout, empty ? null : scene);
    this.linked.write(empty ? null : scene, offIn(off, layer));
    byId("views").hidden = !scene;
    if (scene) document.getElementById("first")?.remove();
    byId("below").hidden = !scene;
    setAttributes(byId("main"), { "aria-busy": this.waiting > 0 || this.unpacking ? "true" : "false" });
    if (!scene) return;
    if (whole) {
      byId("views").classList.toggle("wide", this.state.tab === "compare");
      byId("views").classList.toggle("layered", scene.answer.source.layers > 1);
      byId("views").classList.toggle("stale", empty || (problem !== null && problem.key === "input.failed"));
      this.heads.render(scene, off, layer, empty);
      this.detail.render(scene);
      this.renderBelow(scene);
      this.later.render(scene, { text: this.shownState().text, off, empty });
    }
    const still = empty ? { ...scene, spot: null, given: null, pinned: null } : scene;
    this.heads.renderSpot(still);
    this.detail.renderSpot(still);
  }

  private scene(): Scene | null {
    if (!this.shown) return null;
    const { answer, effect } = this.shown;
    const { sort, rows, hide } = this.state;
    if (this.captions?.answer !== answer || this.captions.language !== language()) {
      const { open, run, tokens, options } = answer;
      const list = describeHeads(open.config, open.heads, run.weights, tokens, options.causal);
      this.captions = { answer, language: language(), list };
    }
    const { list: captions } = this.captions;
    const { view, layout, share } = this.drawn(answer, rows, hide);
    const importance = sort === "importance" ? this.importance() : null;
    const entropy = captions.map((caption) => caption.entropy);
    const losses = importance?.value?.values ?? null;
    const order = this.sorted(sortHeads(sort, { kinds: captions, entropy, importance: losses }));
    const head = Math.min(this.state.head, view.heads - 1);
    const pinned = inside(this.state.pinned, view);
    const given = inside(this.previewed, view) ?? pinned;
    const spot = withKey(given, view, head);
    const { layer } = answer.options;
    return {
      ...{ answer, view, layout, share, captions, order, importance, layer, effect, head, pinned, given, spot },
      strongest: given?.key === null,
    };
  }

  /** The answer's weights in the rows that are asked for; made again only when one of the two changes. */
  private drawn(answer: Answer, rows: State["rows"], hide: State["hide"]): Drawing {
    const { drawing } = this;
    if (drawing?.answer === answer && drawing.rows === rows && drawing.hide === hide) return drawing;
    const layout = layOut(answer.text, answer.tokens, rows, hide);
    this.drawing = { ...draw(layout, answer.run.weights, answer.run.scores.data), answer, layout, rows, hide };
    return this.drawing;
  }

  /** Starts by itself where that is quick, or where the visitor has said so before. */
  private importance(): Measuring<HeadLosses> | null {
    const { shown, measured } = this;
    if (!shown) return null;
    const { options, source, text } = shown.answer;
    const panel = this.later.worthPanel();
    if (!panel) return null;
    shown.importance ??= panel.measuring(shown.answer, () => this.schedule(true));
    const { importance } = shown;
    // Not of a picture that is about to be replaced.
    const current = this.waiting === 0 && text === this.state.text;
    if (current && importance.now.is === "offered" && !importance.now.stopped) {
      const wanted = measured?.source === source && measured.text === text && measured.layer === options.layer;
      if (wanted || importance.measurement.quick()) importance.start();
    }
    return importance;
  }

  /** The same array for the same order: elements compare by identity. */
  private sorted(order: readonly number[]): readonly number[] {
    if (this.order.join() !== order.join()) this.order = order;
    return this.order;
  }

  private renderBelow(scene: Scene): void {
    this.cost.render(scene);
    setText(byId("engine"), this.engineName ? say("page.engine", this.engineName) : "");
  }
}

function upTo(text: string, end: number | null): string {
  return end === null ? text : text.slice(0, end);
}
