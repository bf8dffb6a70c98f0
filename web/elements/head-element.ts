/** What the elements that show attention weights have in common: the data, the state they share, the events. */

import type { AttentionView, Spot } from "./attention-view.js";
import { type NestedNumbers, readHeads, type TensorLike } from "./head-data.js";
import { type Ramp, ramp } from "./ramp.js";
import { readJson } from "./read-json.js";
import { type HeatScale, isScale } from "./scale.js";
import { type Reason, ScopeElement } from "./scope-element.js";
import { problems } from "./strings.js";
import { ViewState } from "./view-state.js";

/** Detail of `preview` and `pick`. Null query: nothing is looked at (or pinned) any more; null key: the whole row. */
export interface SpotDetail {
  readonly head: number;
  readonly query: number | null;
  readonly key: number | null;
}

/** Detail of `ablate`. */
export interface AblateDetail {
  readonly head: number;
  readonly off: boolean;
}

/** A file for `src`: what `json.dump` makes of a dictionary with nested or flat lists. */
interface HeadFile {
  readonly tokens?: readonly string[];
  readonly keyTokens?: readonly string[] | null;
  readonly weights: TensorLike | NestedNumbers;
  readonly scores?: TensorLike | NestedNumbers | null;
  readonly masked?: readonly number[] | null;
  readonly causal?: boolean;
}

/**
 * Properties: `weights`, `tokens`, `keyTokens`, `scores`, `masked`, `scale`, `causal`, `state`, `head`; attributes: `head`,
 * `scale`, `causal`, `src`, and those of every element.
 *
 * Events bubble and leave shadow roots: `preview` and `pick` (SpotDetail), `ablate` (AblateDetail). They come before the
 * state changes, and `preventDefault()` keeps it as it is. `load` and `error` tell about `src`.
 *
 * A wrong property is said in words above the picture, and in `problem`; the last good picture stays.
 */
export abstract class HeadElement extends ScopeElement {
  static override get observedAttributes(): string[] {
    return [...ScopeElement.observedAttributes, "head", "scale", "causal", "src"];
  }

  private input: Parameters<typeof readHeads>[0] = {
    weights: null,
    tokens: [],
    keyTokens: null,
    scores: null,
    masked: null,
    causal: false,
  };
  private shownView: AttentionView | null = null;
  private said: string | null = null;
  private viewState = new ViewState();
  private loading: AbortController | null = null;
  private readonly onState = () => this.invalidate("state");

  override connectedCallback(): void {
    super.connectedCallback();
    this.viewState.addEventListener("change", this.onState);
    this.invalidate("state");
    if (this.src && this.input.weights === null && !this.loading) void this.fetchSource();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.viewState.removeEventListener("change", this.onState);
    this.loading?.abort();
    this.loading = null;
  }

  override attributeChangedCallback(name: string, before: string | null, now: string | null): void {
    if (before === now) return;
    if (name === "src") {
      if (this.isConnected) void this.fetchSource();
    } else if (name === "causal") this.give({ causal: now !== null });
    else super.attributeChangedCallback(name, before, now);
  }

  /**
   * Weights `[H,T,S]`, `[T,S]` or `[1,H,T,S]`: H heads, T queries (rows), S keys (columns); `{ data, shape }`, or lists in
   * lists. A Float32Array is read, never changed and not copied: set the property again after changing it. Default null:
   * nothing is shown.
   */
  get weights(): TensorLike | NestedNumbers | null {
    return this.input.weights;
  }
  set weights(weights: TensorLike | NestedNumbers | null) {
    this.give({ weights });
  }

  /** One text for each query. Default `[]`: positions are shown. */
  get tokens(): readonly string[] {
    return this.input.tokens;
  }
  set tokens(tokens: readonly string[]) {
    this.give({ tokens });
  }

  /** One text for each key, where they are not the tokens (cross-attention, cached keys). Default null. */
  get keyTokens(): readonly string[] | null {
    return this.input.keyTokens;
  }
  set keyTokens(keyTokens: readonly string[] | null) {
    this.give({ keyTokens });
  }

  /** Scores in the shape of the weights; −Infinity marks hidden cells. Default null. */
  get scores(): TensorLike | NestedNumbers | null {
    return this.input.scores;
  }
  set scores(scores: TensorLike | NestedNumbers | null) {
    this.give({ scores });
  }

  /** Non-zero where a key is hidden from a query: H·T·S cells, or T·S for all heads. Default null. Scores come first. */
  get masked(): ArrayLike<number> | null {
    return this.input.masked;
  }
  set masked(masked: ArrayLike<number> | null) {
    this.give({ masked });
  }

  /** Hides the keys after the query, where there are neither scores nor a mask. Default false. */
  get causal(): boolean {
    return this.input.causal;
  }
  set causal(causal: boolean) {
    this.toggleAttribute("causal", Boolean(causal));
  }

  /** What is looked at. Give several elements the same one to link them; null gives an own one. Never null when read. */
  get state(): ViewState {
    return this.viewState;
  }
  set state(state: ViewState | null) {
    this.viewState.removeEventListener("change", this.onState);
    this.viewState = state ?? new ViewState();
    if (this.isConnected) this.viewState.addEventListener("change", this.onState);
    this.invalidate("state");
  }

  /** The head of this element, whatever the state says. Default null: the first of the state's heads. */
  get head(): number | null {
    const given = this.getAttribute("head");
    return given !== null && /^\d+$/.test(given) ? Number(given) : null;
  }
  set head(head: number | null) {
    this.reflect("head", head === null ? "" : String(head));
  }

  /**
   * How weights become colours: `"unit"` from 0 to 1; `"head"` from 0 to the greatest weight of the head; `"uniform"`
   * with the even share (1 / visible keys of the row) in the middle; `"log"` from 0.0001 to 1. Default `"unit"`.
   */
  get scale(): HeatScale {
    const given = this.getAttribute("scale");
    return isScale(given) ? given : "unit";
  }
  set scale(scale: HeatScale) {
    this.reflect("scale", scale === "unit" ? "" : scale);
  }

  /**
   * Address of a JSON file `{ tokens, weights, keyTokens?, scores?, masked?, causal? }`, weights as `{ shape, data }` or as
   * lists in lists. Default "".
   */
  get src(): string {
    return this.getAttribute("src") ?? "";
  }
  set src(src: string) {
    this.reflect("src", src);
  }

  /** What is wrong with the data that was set last; null while all is well. */
  get problem(): string | null {
    return this.said;
  }

  /** The last good data; null before there was any. Up to date inside `render()`. */
  protected get view(): AttentionView | null {
    return this.shownView;
  }

  /** The head to show, inside the heads there are. */
  protected get shownHead(): number {
    const last = Math.max(0, (this.shownView?.heads ?? 1) - 1);
    return Math.min(last, this.head ?? this.viewState.heads[0] ?? 0);
  }

  /** The place looked at, as far as the data has it. */
  protected get spot(): Spot | null {
    const { query, key } = this.viewState;
    return query === null ? null : this.inside({ query, key });
  }

  protected get pinned(): Spot | null {
    return this.viewState.pinned && this.inside(this.viewState.pinned);
  }

  /** Draws `this.view`, which is not null, for `reasons`. */
  protected abstract renderView(view: AttentionView, reasons: ReadonlySet<Reason>): void;

  protected override render(reasons: ReadonlySet<Reason>): void {
    if (reasons.has("data")) this.readData();
    this.base.classList.toggle("blank", !this.filled);
    if (this.shownView) this.renderView(this.shownView, reasons);
  }

  /** Takes what was set since the last drawing, or says what is wrong with it. */
  protected readData(): void {
    try {
      const view = readHeads(this.input);
      this.said = null;
      if (view) this.shownView = view;
    } catch (error) {
      this.said = (error as Error).message;
    }
    this.showProblem(this.said);
  }

  /** Whether there is something to show: only then are the parts of the class "data" there. */
  protected get filled(): boolean {
    return this.shownView !== null && this.input.weights !== null;
  }

  /** The colours of the present theme, from the paper of the place. Asks for styles: keep it from one look to the next. */
  protected currentRamp(): Ramp {
    return ramp(this.shown, this.paper() ?? undefined);
  }

  /** The pointer is over a place, or has left (null). */
  protected preview(spot: Spot | null, head = this.shownHead): void {
    const detail: SpotDetail = { head, query: spot?.query ?? null, key: spot?.key ?? null };
    if (this.announce("preview", detail)) this.viewState.preview(spot);
  }

  /** A place is picked; picking what is pinned already, or null, lets go of it. */
  protected pick(spot: Spot | null, head = this.shownHead): void {
    const { pinned } = this.viewState;
    const next = spot && pinned?.query === spot.query && pinned.key === spot.key ? null : spot;
    const detail: SpotDetail = { head, query: next?.query ?? null, key: next?.key ?? null };
    if (this.announce("pick", detail)) this.viewState.pin(next);
  }

  /** A head is switched off or on. */
  protected ablate(head: number, off: boolean): void {
    if (this.announce("ablate", { head, off } satisfies AblateDetail)) this.viewState.ablate(head, off);
  }

  /** Tells the page; false when somebody prevented what follows. */
  protected announce(type: string, detail: SpotDetail | AblateDetail): boolean {
    return this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true, cancelable: true }));
  }

  private inside(spot: Spot): Spot | null {
    const view = this.shownView;
    if (!view || spot.query >= view.queries) return null;
    return spot.key !== null && spot.key >= view.keys ? { query: spot.query, key: null } : spot;
  }

  private give(input: Partial<Parameters<typeof readHeads>[0]>): void {
    this.input = { ...this.input, ...input };
    this.invalidate("data");
  }

  private async fetchSource(): Promise<void> {
    this.loading?.abort();
    const { src } = this;
    if (src === "") return;
    const loading = new AbortController();
    this.loading = loading;
    try {
      const response = await fetch(new URL(src, this.baseURI), { signal: loading.signal });
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      const file = readJson(await response.text()) as HeadFile;
      if (this.loading !== loading) return;
      const { weights, tokens = [], keyTokens = null, scores = null, masked = null, causal = this.causal } = file;
      if (!weights) throw new TypeError("the file has no weights");
      this.give({ weights, tokens, keyTokens, scores, masked, causal });
      this.dispatchEvent(new Event("load"));
    } catch (error) {
      if (loading.signal.aborted) return;
      this.said = this.say(problems.src, { src, reason: (error as Error).message });
      this.showProblem(this.said);
      this.dispatchEvent(new Event("error"));
    }
  }
}
