/** The page: one state, one answer of the engine, and everything drawn from the two once a frame at most. */

import type { AttentionView, Scale, Spot } from "../elements/attention-view.js";
import { domainTop, isHidden, strongestKey, weightAt } from "../elements/attention-view.js";
import type { CostCards } from "../elements/cost-cards.js";
import { defineElements } from "../elements/define.js";
import { byId, darkTheme, el, setAttributes, setText } from "../elements/dom.js";
import { formatInteger, formatMilliseconds, formatWeight } from "../elements/format.js";
import type { HeadCaption, HeadGrid } from "../elements/head-grid.js";
import type { HeadMatrix } from "../elements/head-matrix.js";
import type { HeadReadings } from "../elements/head-readings.js";
import type { NumberTable } from "../elements/number-table.js";
import { ramp } from "../elements/ramp.js";
import type { ShapeTrace } from "../elements/shape-trace.js";
import { labelText, tokenNode } from "../elements/token-label.js";
import type { TokenStrip } from "../elements/token-strip.js";
import { compose, language, preferredLanguage, say, setLanguage } from "../i18n/index.js";
import { describeHeads } from "./describe-heads.js";
import type { Answer } from "./engine.js";
import { Engine } from "./engine.js";
import { translatePage } from "./page-text.js";
import type { Theme } from "./preferences.js";
import { applyTheme, savedLanguage, savedTheme, saveLanguage } from "./preferences.js";
import { sourceById, sources } from "./sources/index.js";
import type { State } from "./state.js";
import { examples, fromFragment, initialState, toFragment } from "./state.js";
import type { Tokenization, Unit } from "./tokens.js";
import { hasUnspaced } from "./tokens.js";

/** The answer as the elements draw it. */
interface Shown {
  readonly answer: Answer;
  readonly view: AttentionView;
}

interface Problem {
  readonly key: "input.failed" | "input.loadFailed";
  readonly reason: string;
}

const THEMES: readonly Theme[] = ["system", "light", "dark"];

export class Playground {
  private readonly engine = new Engine();
  private readonly parts = {
    text: byId<HTMLTextAreaElement>("text"),
    tokens: byId<TokenStrip>("tokens"),
    heads: byId<HeadGrid>("heads"),
    matrix: byId<HeadMatrix>("matrix"),
    readings: byId<HeadReadings>("readings"),
    loupe: byId<HeadMatrix>("loupe"),
    numbers: byId<NumberTable>("numbers"),
    trace: byId<ShapeTrace>("trace"),
    cost: byId<CostCards>("cost"),
    sentence: byId("sentence"),
    status: byId("status"),
    live: byId("live"),
  };
  private state: State;
  private tokenization: Tokenization = { tokens: [], cutAt: null };
  private texts: readonly string[] = [];
  private shown: Shown | null = null;
  private captions: { answer: Answer; language: string; captions: readonly HeadCaption[] } | null = null;
  private preview: Spot | null = null;
  private problem: Problem | null = null;
  private theme: Theme = savedTheme();
  private frame = 0;
  private recompute = true;
  /** False while only the pointer moved: then nothing but the linked highlights is drawn again. */
  private redraw = true;
  private engineName: { version: string; variant: string } | null = null;
  private addressTimer = 0;
  private ownFragment = "";

  constructor() {
    defineElements();
    const preferred = preferredLanguage([savedLanguage() ?? "", ...navigator.languages].filter(Boolean));
    this.state = fromFragment(location.hash, initialState(preferred));
  }

  start(): void {
    this.parts.loupe.loupe = true;
    this.buildChoices();
    this.listen();
    this.parts.text.value = this.state.text;
    this.showLanguage();
    this.update({});
    this.engine.ready().then(
      ({ version, variant }) => {
        this.engineName = { version, variant };
        this.update({});
      },
      (error: unknown) => {
        this.problem = null;
        this.fail("input.loadFailed", error);
      },
    );
  }

  // ---- state --------------------------------------------------------------------------------------------------

  private update(change: Partial<State>): void {
    const before = this.state;
    this.state = { ...before, ...change };
    const { text, unit, source, causal, off } = this.state;
    if (text !== before.text || unit !== before.unit || source !== before.source) this.recompute = true;
    if (causal !== before.causal || off !== before.off) this.recompute = true;
    this.schedule(true);
    if (this.state !== before && Object.keys(change).length > 0) this.writeAddressSoon();
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

  private setPreview(spot: Spot | null): void {
    if (spot?.query === this.preview?.query && spot?.key === this.preview?.key) return;
    this.preview = spot;
    this.schedule(false);
  }

  private selectSource(id: string): void {
    const source = sourceById(id);
    this.preview = null;
    this.update({ source: source.id, causal: source.defaultCausal, head: 0, pinned: null, off: new Set() });
  }

  private selectHead(head: number): void {
    this.update({ head });
    this.announceHead(head);
  }

  private stepHead(by: number): void {
    const heads = this.shown?.view.heads;
    if (heads) this.selectHead((this.headIndex(heads) + by + heads) % heads);
  }

  private headIndex(heads: number): number {
    return Math.min(this.state.head, heads - 1);
  }

  /** The pinned spot as far as it lies in the matrix that is shown. */
  private pinned({ queries, keys }: AttentionView): Spot | null {
    const { pinned } = this.state;
    if (!pinned || pinned.query >= queries) return null;
    return pinned.key !== null && pinned.key >= keys ? { query: pinned.query, key: null } : pinned;
  }

  /** What is under the eye: the pointer's cell, else the pinned one; a row alone stands for its strongest key. */
  private spot(view: AttentionView): Spot | null {
    const spot = this.preview && this.preview.query < view.queries ? this.preview : this.pinned(view);
    if (!spot) return null;
    return spot.key === null
      ? { query: spot.query, key: strongestKey(view, this.headIndex(view.heads), spot.query) }
      : spot;
  }

  // ---- computing ----------------------------------------------------------------------------------------------

  private compute(): void {
    this.recompute = false;
    const { text, unit, causal, off } = this.state;
    const source = sourceById(this.state.source);
    this.tokenization = source.tokenize(text, unit);
    const { tokens } = this.tokenization;
    const texts = tokens.map((token) => token.text);
    if (texts.length !== this.texts.length || texts.some((text, i) => text !== this.texts[i])) this.texts = texts;
    if (tokens.length === 0) return;
    const gate = Float32Array.from({ length: source.numHeads }, (_, head) => (off.has(head) ? 0 : 1));
    try {
      const answer = this.engine.ask({ source, tokens, options: { causal, gate } });
      if (answer instanceof Promise)
        answer.then(
          (late) => this.accept(late),
          (error: unknown) => this.fail("input.failed", error),
        );
      else this.accept(answer);
    } catch (error) {
      this.fail("input.failed", error);
    }
  }

  private accept(answer: Answer | null): void {
    if (!answer) return;
    const [heads, queries, keys] = answer.run.weights.shape as [number, number, number];
    const texts = answer.tokens.map((token) => token.text);
    this.shown = {
      answer,
      view: {
        heads,
        queries,
        keys,
        weights: answer.run.weights.data,
        scores: answer.run.scores.data,
        queryTexts: texts,
        keyTexts: texts,
      },
    };
    this.problem = null;
    this.schedule(true);
  }

  private fail(key: Problem["key"], error: unknown): void {
    // Without the core every question fails too; the reason is the core's.
    if (this.problem?.key === "input.loadFailed") return;
    this.problem = { key, reason: error instanceof Error ? error.message : String(error) };
    this.schedule(true);
  }

  // ---- drawing ------------------------------------------------------------------------------------------------

  private render(whole: boolean): void {
    if (whole) this.renderInput();
    const { shown } = this;
    const empty = this.tokenization.tokens.length === 0;
    const view = shown?.view ?? null;
    const spot = view && !empty ? this.spot(view) : null;
    const head = view ? this.headIndex(view.heads) : 0;
    this.parts.tokens.update({
      texts: this.texts,
      view: empty ? null : view,
      head,
      scale: this.state.scale,
      spot,
      pinned: view ? this.pinned(view) : null,
    });
    byId("views").hidden = !shown;
    byId("below").hidden = !shown;
    if (!shown || !view) return;
    if (whole) {
      byId("views").classList.toggle("stale", empty || this.problem !== null);
      this.renderHeads(shown, head);
      this.renderDetail(shown, head);
      this.renderBelow(shown);
    }
    this.renderSpot(shown, head, spot);
  }

  private renderInput(): void {
    const { text, unit, causal } = this.state;
    const source = sourceById(this.state.source);
    const { tokens, cutAt } = this.tokenization;
    const typed = source.input === "text";
    const field = this.parts.text;
    field.hidden = !typed;
    if (field.value !== text) field.value = text;
    const fixed = byId("fixed");
    fixed.hidden = typed;
    if (source.input !== "text") setText(fixed, source.input.code);
    byId("examples").hidden = !typed;
    byId("unit").hidden = !typed || !hasUnspaced(text);
    check("source", source.id);
    check("unit", unit);
    byId<HTMLInputElement>("causal").checked = causal;
    setText(byId("about"), say(source.about));

    const problem = byId("problem");
    problem.hidden = !this.problem;
    if (this.problem) setText(problem, say(this.problem.key, { reason: this.problem.reason }));
    const note = byId("note");
    const words =
      tokens.length === 0
        ? say("input.empty")
        : cutAt === null
          ? ""
          : say("input.cut", {
              tokens: formatInteger(tokens.length),
              at: formatInteger(countCharacters(text.slice(0, cutAt)) + 1),
              total: formatInteger(countCharacters(text)),
            });
    note.hidden = words === "";
    setText(note, words);

    const run = this.shown?.answer;
    if (run && tokens.length > 0) {
      const used = cutAt === null ? text : text.slice(0, cutAt);
      const status = say(typed ? (tokens.length === 1 ? "input.status.one" : "input.status") : "input.statusFixed", {
        tokens: tokens.length,
        characters: countCharacters(used),
        heads: run.open.config.numHeads,
        time: formatMilliseconds(run.run.milliseconds),
      });
      setText(this.parts.status, status);
    } else {
      setText(this.parts.status, tokens.length === 0 || this.problem ? "" : say("input.loading"));
    }
  }

  private renderHeads({ answer, view }: Shown, head: number): void {
    if (this.captions?.answer !== answer || this.captions.language !== language()) {
      const { open, run, tokens, options } = answer;
      const captions = describeHeads(open.config, open.heads, run.weights, tokens, options.causal);
      this.captions = { answer, language: language(), captions };
    }
    const { captions } = this.captions;
    const { off, scale } = this.state;
    this.parts.heads.update({ view, captions, head, off, scale });
    setText(byId("heads-title"), say("heads.title", { count: view.heads }));
    byId("all-on").hidden = off.size === 0;
    const change = byId("change");
    change.hidden = off.size === 0;
    const moved = answer.run.change;
    if (off.size > 0 && moved) {
      const heads = [...off].sort((a, b) => a - b).map((h) => say("heads.short", { head: h }));
      const list = heads.join(language() === "zh" ? "、" : ", ");
      const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
      if (off.size >= view.heads) setText(change, say("heads.changeAll"));
      else if (moved.relative === 0) setText(change, say("heads.changeNone", { heads: list }));
      else {
        const sentence = compose("heads.change", {
          heads: el("b", {}, list),
          percent: el("b", {}, percent(moved.relative)),
          token: tokenNode(view.queryTexts[moved.query] as string),
          tokenPercent: percent(moved.queryRelative),
        });
        change.replaceChildren(sentence);
      }
    }
  }

  private renderDetail({ answer, view }: Shown, head: number): void {
    const { scale, tab } = this.state;
    const caption = this.captions?.captions[head];
    setText(byId("detail-title"), `${say("heads.name", { head })} · ${caption?.name ?? ""}`);
    for (const button of byId("tabs").querySelectorAll<HTMLButtonElement>("[role=tab]")) {
      const on = button.dataset["tab"] === tab;
      setAttributes(button, { "aria-selected": on ? "true" : "false", tabindex: on ? 0 : -1 });
      byId(`panel-${button.dataset["tab"]}`).hidden = !on;
    }
    if (tab === "matrix") this.renderLegend(view, head, scale);
    const how = answer.open.heads[head]?.how;
    byId("how").hidden = !how;
    if (how) byId("how").replaceChildren(el("b", {}, say("detail.how")), " ", say(how));
  }

  /** What follows the pointer: crosshair, numbers of the row, the sentence, one query across the heads. */
  private renderSpot({ answer, view }: Shown, head: number, spot: Spot | null): void {
    const { scale, tab, off } = this.state;
    const pinned = this.pinned(view);
    const { matrix, loupe, numbers, readings, sentence } = this.parts;
    if (tab === "matrix") matrix.update({ view, head, scale, spot, pinned });
    byId("legend-small").hidden = !matrix.numbered;
    const cramped = tab === "matrix" && matrix.cramped;
    byId("loupe-part").hidden = !cramped;
    if (cramped) loupe.update({ view, head, scale, spot, pinned });
    if (tab === "numbers") numbers.update({ view, head, spot, output: answer.run.output });
    sentence.replaceChildren(...this.sentence(view, head, spot));
    readings.hidden = !spot;
    if (spot && this.captions) {
      readings.update({ view, captions: this.captions.captions, head, query: spot.query, off });
    }
  }

  private renderLegend(view: AttentionView, head: number, scale: Scale): void {
    check("scale", scale);
    const top = domainTop(view, head, scale);
    const end = top === 1 ? "1" : top.toFixed(4);
    setText(byId("legend-top"), end);
    const canvas = byId<HTMLCanvasElement>("legend-ramp");
    setAttributes(canvas, { "aria-label": say("legend.domain", { top: end }) });
    const context = canvas.getContext("2d");
    if (context) {
      const image = context.createImageData(256, 1);
      new Uint32Array(image.data.buffer).set(ramp(darkTheme() ? "dark" : "light").words);
      context.putImageData(image, 0, 0);
    }
  }

  private renderBelow({ answer, view }: Shown): void {
    const { config } = answer.open;
    const width = config.headDim ?? config.dModel / config.numHeads;
    const root = Math.sqrt(width);
    this.parts.trace.update(answer.run.trace, Number.isInteger(root) ? String(root) : `√${width}`);
    this.parts.cost.update(config, view.queries);
    const engine = byId("engine");
    setText(engine, this.engineName ? say("page.engine", this.engineName) : "");
  }

  private sentence(view: AttentionView, head: number, spot: Spot | null): Node[] {
    if (!spot || spot.key === null) return [document.createTextNode(say("detail.hint"))];
    const { query, key } = spot;
    const hidden = isHidden(view, head, query, key);
    const given = this.preview ?? this.pinned(view);
    const message = hidden ? "detail.sentenceHidden" : given?.key === null ? "detail.strongest" : "detail.sentence";
    const values = {
      query: tokenNode(view.queryTexts[query] as string, "token picked"),
      key: tokenNode(view.keyTexts[key] as string, "token picked"),
      weight: el("b", { class: "weight" }, formatWeight(weightAt(view, head, query, key), hidden)),
      head,
    };
    const score = view.scores?.[(head * view.queries + query) * view.keys + key];
    const nodes: Node[] = [el("span", {}, compose(message, values))];
    if (!hidden && score !== undefined) {
      nodes.push(
        el("span", { class: "soft score" }, say("detail.score", { score: score.toFixed(4).replace("-", "−") })),
      );
    }
    return nodes;
  }

  // ---- saying -------------------------------------------------------------------------------------------------

  private announceSpot(spot: Spot): void {
    const view = this.shown?.view;
    if (!view || spot.key === null) return;
    const head = this.headIndex(view.heads);
    const hidden = isHidden(view, head, spot.query, spot.key);
    this.say(
      say(hidden ? "detail.sentenceHidden" : "detail.sentence", {
        query: labelText(view.queryTexts[spot.query] as string),
        key: labelText(view.keyTexts[spot.key] as string),
        weight: formatWeight(weightAt(view, head, spot.query, spot.key), hidden),
        head,
      }),
    );
  }

  private announceHead(head: number): void {
    const caption = this.captions?.captions[head];
    if (caption) this.say(caption.spoken);
  }

  private say(text: string): void {
    setText(this.parts.live, text);
  }

  private showLanguage(): void {
    setLanguage(this.state.language);
    document.documentElement.lang = this.state.language === "zh" ? "zh-CN" : "en";
    translatePage(document);
    this.showTheme();
    for (const label of byId("source").querySelectorAll<HTMLElement>("label")) {
      const source = sourceById(label.dataset["source"] ?? null);
      setText(label.querySelector("span") as HTMLElement, say(source.name));
    }
  }

  private showTheme(): void {
    const name = say(`page.theme.${this.theme}`);
    setAttributes(byId("theme"), { "aria-label": name, title: name, "data-theme-choice": this.theme });
  }

  // ---- listening ----------------------------------------------------------------------------------------------

  private buildChoices(): void {
    for (const source of sources) {
      const input = el("input", { type: "radio", name: "source", value: source.id });
      byId("source").append(el("label", { "data-source": source.id }, input, el("span", {}, say(source.name))));
    }
    for (const example of examples) {
      const button = el("button", { type: "button", class: "example" }, example.text);
      const { text, unit, head, pinned } = example;
      button.addEventListener("click", () => {
        this.preview = null;
        this.update({ text, unit, head, pinned });
      });
      byId("examples").append(button);
    }
  }

  private listen(): void {
    const { text, tokens, heads, matrix, loupe } = this.parts;
    text.addEventListener("input", () => this.update({ text: text.value }));
    on(byId("source"), "change", (event) => this.selectSource((event.target as HTMLInputElement).value));
    on(byId("unit"), "change", (event) => this.update({ unit: (event.target as HTMLInputElement).value as Unit }));
    on(byId("scale"), "change", (event) => this.update({ scale: (event.target as HTMLInputElement).value as Scale }));
    on(byId("causal"), "change", (event) => this.update({ causal: (event.target as HTMLInputElement).checked }));
    on(byId("all-on"), "click", () => this.update({ off: new Set() }));
    on(byId("previous-head"), "click", () => this.stepHead(-1));
    on(byId("next-head"), "click", () => this.stepHead(1));

    on(tokens, "preview", ({ detail }) =>
      this.setPreview(detail.query === null ? null : { query: detail.query, key: null }),
    );
    on(tokens, "pick", ({ detail }) => {
      const { pinned } = this.state;
      // A second pick of the same query lets it go again.
      if (pinned && pinned.query === detail.query && pinned.key === null) this.unpin();
      else this.update({ pinned: { query: detail.query, key: null } });
    });
    on(heads, "pick", ({ detail }) => this.selectHead(detail.head));
    on(heads, "ablate", ({ detail }) => {
      const off = new Set(this.state.off);
      if (detail.on) off.delete(detail.head);
      else off.add(detail.head);
      this.update({ off });
    });
    on(this.parts.readings, "pick", ({ detail }) => {
      this.update({ head: detail.head, pinned: { query: detail.query, key: detail.key } });
      this.announceHead(detail.head);
    });
    for (const field of [matrix, loupe]) {
      on(field, "preview", ({ detail }) => {
        this.setPreview(detail.query === null ? null : { query: detail.query, key: detail.key });
        if (detail.spoken) this.announceSpot(detail);
      });
      on(field, "pick", ({ detail }) => {
        const { pinned } = this.state;
        if (pinned && pinned.query === detail.query && pinned.key === detail.key) this.unpin();
        else {
          this.update({ pinned: { query: detail.query, key: detail.key } });
          this.announceSpot(detail);
        }
      });
      on(field, "unpin", () => this.unpin());
    }

    const tabs = [...byId("tabs").querySelectorAll<HTMLButtonElement>("[role=tab]")];
    for (const [i, tab] of tabs.entries()) {
      tab.addEventListener("click", () =>
        this.update({ tab: tab.dataset["tab"] === "numbers" ? "numbers" : "matrix" }),
      );
      tab.addEventListener("keydown", (event) => {
        const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
        if (step === 0) return;
        const next = tabs[(i + step + tabs.length) % tabs.length] as HTMLButtonElement;
        next.click();
        next.focus();
      });
    }

    on(byId("language"), "click", () => {
      const next = this.state.language === "zh" ? "en" : "zh";
      saveLanguage(next);
      this.update({ language: next });
      this.showLanguage();
    });
    on(byId("theme"), "click", () => {
      this.theme = THEMES[(THEMES.indexOf(this.theme) + 1) % THEMES.length] as Theme;
      applyTheme(this.theme);
      this.showTheme();
      this.schedule(true);
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.schedule(true));
    on(byId("copy"), "click", () => void this.copyLink());

    document.addEventListener("keydown", (event) => this.onKey(event));
    window.addEventListener("hashchange", () => {
      // Set by the visitor (a pasted link, the back button), not by this page.
      if (location.hash.replace(/^#/, "") === this.ownFragment) return;
      this.preview = null;
      this.update(fromFragment(location.hash, this.state));
      this.showLanguage();
    });
  }

  private onKey(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return;
    const typing = event.target instanceof HTMLTextAreaElement;
    if (typing) return;
    if (event.key === "[") this.stepHead(-1);
    else if (event.key === "]") this.stepHead(1);
    else if (event.key === "Escape") this.unpin();
  }

  private unpin(): void {
    if (this.state.pinned) this.update({ pinned: null });
  }

  // ---- address ------------------------------------------------------------------------------------------------

  // Browsers refuse more than a hundred changes of the address in half a minute.
  private writeAddressSoon(): void {
    clearTimeout(this.addressTimer);
    this.addressTimer = window.setTimeout(() => this.writeAddress(), 250);
  }

  private writeAddress(): void {
    clearTimeout(this.addressTimer);
    const { cutAt } = this.tokenization;
    // A link carries what is shown; the tail that was cut off would only make it too long.
    const state = cutAt === null ? this.state : { ...this.state, text: this.state.text.slice(0, cutAt) };
    this.ownFragment = toFragment(state);
    history.replaceState(null, "", `#${this.ownFragment}`);
  }

  private async copyLink(): Promise<void> {
    this.writeAddress();
    const button = byId("copy").firstElementChild as HTMLElement;
    let message = say("page.copied");
    try {
      await navigator.clipboard.writeText(location.href);
    } catch {
      message = say("page.copyFailed");
    }
    setText(button, message);
    this.say(message);
    setTimeout(() => setText(button, say("page.copy")), 2500);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the elements' events carry plain objects documented at each element.
function on(target: EventTarget, type: string, listener: (event: CustomEvent<any>) => void): void {
  target.addEventListener(type, listener as EventListener);
}

function check(name: string, value: string): void {
  for (const input of byId(name).querySelectorAll<HTMLInputElement>("input")) input.checked = input.value === value;
}

/** Characters as a reader counts them. A very long text is counted by code point: close enough, and quick. */
function countCharacters(text: string): number {
  if (text.length > 20_000 || !("Segmenter" in Intl)) {
    let count = 0;
    for (const _ of text) count++;
    return count;
  }
  let count = 0;
  for (const _ of new Intl.Segmenter("und", { granularity: "grapheme" }).segment(text)) count++;
  return count;
}
