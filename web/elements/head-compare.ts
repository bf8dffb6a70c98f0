/**
 * `<head-compare>`: two heads, two texts, or the same head before and after something was changed, side by side, with a
 * map of the difference around 0. All maps share one crosshair, and move together where their cells are the same.
 *
 *     compare.tokens = tokens;
 *     compare.weights = weights;             // two heads of one layer
 *     compare.right = { weights: without };  // or the same heads after an ablation
 */

import type { AttentionView } from "./attention-view.js";
import { isHidden, type Spot, weightAt } from "./attention-view.js";
import { type Difference, difference, type MapSide, type Obstacle, obstacle } from "./compare/difference.js";
import { divergingIndex, divergingRamp } from "./compare/diverging.js";
import { type CompareMap, type DifferenceMap, formatDifference, type MapOwner, makeMap } from "./compare/maps.js";
import { STYLE } from "./compare/style.js";
import { words } from "./compare/words.js";
import { el, setAttributes, setText } from "./dom.js";
import { formatWeight } from "./format.js";
import { type HeadInput, readHeads } from "./head-data.js";
import { HeadElement } from "./head-element.js";
import { css } from "./ramp.js";
import type { Reason } from "./scope-element.js";
import { fillSelect } from "./select.js";
import { SENTENCE_STYLE } from "./sentence-style.js";
import { phraseNodes, type Words } from "./strings.js";
import { tokenNode } from "./token-label.js";
import type { Viewport } from "./viewport.js";

/** Pixels from which two maps stand side by side, and three. */
const TWO = 620;
const THREE = 980;

/** One side: what is left out is as the element's own property. */
export interface CompareSide extends Partial<HeadInput> {
  /** Which head of its weights. */
  readonly head?: number | undefined;
  /** What it is called, instead of "head 3". */
  readonly label?: string | undefined;
}

type Which = "left" | "right";

interface Sides<T> {
  readonly left: T;
  readonly right: T;
}

interface Shown {
  readonly view: AttentionView;
  readonly head: number;
}

/** What was compared last, and what came of it. */
interface Result {
  readonly sides: Sides<Shown>;
  readonly byPosition: boolean;
  readonly obstacle: Obstacle | null;
  readonly difference: Difference | null;
}

/**
 * Properties: those of every head element, and `left`, `right`, `byPosition`, `limit`, `controls`. Without `left` and
 * `right` the first two of the state's heads are compared. Attributes: `by-position`, `limit`, `controls`. Events: `preview`
 * and `pick` (`{ head, query, key }`); `heads` (`{ left, right }`) before a head that the reader has chosen is shown, which
 * `preventDefault()` leaves to the page. Parts: `base`, `problem`, `maps`, `left`, `right`, `difference`, `legend`,
 * `obstacle`, `sentence`.
 */
export class HeadCompare extends HeadElement {
  static override get observedAttributes(): string[] {
    return [...HeadElement.observedAttributes, "by-position", "limit", "controls"];
  }

  readonly #left = makeMap("head-compare-map");
  readonly #right = makeMap("head-compare-map");
  readonly #difference = makeMap("head-compare-difference");
  readonly #captions = { left: el("span"), right: el("span"), difference: el("span") };
  readonly #selects = { left: el("select"), right: el("select") };
  readonly #obstacle = el("p", { class: "explained obstacle", part: "obstacle", role: "status", hidden: true });
  readonly #anyway = el("button", { type: "button", hidden: true });
  readonly #ramp = el("canvas", { width: 255, height: 1 });
  readonly #ticks = el("div", { class: "ticks" }, el("span"), el("span", {}, "0"), el("span"));
  readonly #meaning = el("div", { class: "meaning" }, el("span"), el("span"));
  readonly #bar = el("div", { role: "img" }, this.#ramp, this.#ticks);
  readonly #legend = el("div", { class: "legend", part: "legend" }, this.#bar, this.#meaning);
  readonly #maps = el("div", { class: "maps data", part: "maps" });
  readonly #sentence = el("p", { class: "sentence data", part: "sentence" });
  readonly #live = el("div", { class: "live", "aria-live": "polite" });

  #given: Sides<CompareSide | null> = { left: null, right: null };
  #read: Sides<{ input: HeadInput; view: AttentionView } | null> = { left: null, right: null };
  #result: Result | null = null;

  constructor() {
    super(SENTENCE_STYLE, STYLE);
    const figure = (name: Which | "difference", ...parts: Node[]) => {
      const caption = el("figcaption", { class: "caption" }, this.#captions[name]);
      if (name !== "difference") caption.append(this.#selects[name]);
      return el("figure", { class: `map ${name}`, part: name }, caption, ...parts);
    };
    this.#maps.append(
      figure("left", this.#left),
      figure("right", this.#right),
      figure("difference", this.#obstacle, this.#anyway, this.#difference, this.#legend),
    );
    this.base.append(this.#maps, this.#sentence, this.#live);
    const owner: MapOwner = {
      moved: (map, window) => this.#moved(map, window),
      turned: (map, head) => this.#turned(map, head),
    };
    for (const map of this.#all()) map.owner = owner;
    for (const which of ["left", "right"] as const) {
      const select = this.#selects[which];
      select.addEventListener("change", () => this.#turn(which, Number(select.value)));
    }
    this.#anyway.addEventListener("click", () => {
      this.byPosition = true;
    });
  }

  /** The left side; null is the element's own data and the first of the state's heads. Default null. */
  get left(): CompareSide | null {
    return this.#given.left;
  }
  set left(left: CompareSide | null) {
    this.#given = { ...this.#given, left };
    this.invalidate("data");
  }

  /** The right side; null is the element's own data and the second of the state's heads. Default null. */
  get right(): CompareSide | null {
    return this.#given.right;
  }
  set right(right: CompareSide | null) {
    this.#given = { ...this.#given, right };
    this.invalidate("data");
  }

  /** Compares cells of one place even if their tokens differ. Default false: that is explained instead. */
  get byPosition(): boolean {
    return this.hasAttribute("by-position");
  }
  set byPosition(byPosition: boolean) {
    this.toggleAttribute("by-position", Boolean(byPosition));
  }

  /** The difference at which the colours end, on both sides of 0. Default null: the largest there is. */
  get limit(): number | null {
    const limit = Number(this.getAttribute("limit"));
    return limit > 0 ? limit : null;
  }
  set limit(limit: number | null) {
    this.reflect("limit", limit === null ? "" : String(limit));
  }

  /** Shows a list of heads on each side to choose from. Default false. */
  get controls(): boolean {
    return this.hasAttribute("controls");
  }
  set controls(controls: boolean) {
    this.toggleAttribute("controls", Boolean(controls));
  }

  /** Both sides may bring weights of their own; the element's then need not be there. */
  protected override render(reasons: ReadonlySet<Reason>): void {
    super.render(reasons);
    if (this.weights === null && this.#hasOwn()) this.#draw(reasons);
  }

  protected override readData(): void {
    super.readData();
    if (this.problem === null && this.#hasSides()) this.#readSides();
  }

  protected override get filled(): boolean {
    return this.#hasSides() && this.#read.left !== null && this.#read.right !== null;
  }

  protected override renderView(_view: AttentionView, reasons: ReadonlySet<Reason>): void {
    if (this.weights !== null || !this.#hasOwn()) this.#draw(reasons);
  }

  #hasSides(): boolean {
    return this.weights !== null || this.#hasOwn();
  }

  #hasOwn(): boolean {
    const { left, right } = this.#given;
    return Boolean(left?.weights && right?.weights);
  }

  #all(): readonly CompareMap[] {
    return [this.#left, this.#right, this.#difference];
  }

  #draw(reasons: ReadonlySet<Reason>): void {
    const { left, right } = this.#read;
    if (!left || !right) return;
    const sides = { left: this.#shownOf("left", left.view), right: this.#shownOf("right", right.view) };
    const result = this.#compare(sides);
    const still = ![...reasons].some((reason) => reason !== "state" && reason !== "view") && result === this.#result;
    this.#result = result;
    if (!still) this.#drawMaps(result, { left: left.input, right: right.input });
    this.#drawSentence(result);
  }

  // Data ---------------------------------------------------------------------------------------------------------------

  #readSides(): void {
    const found = { ...this.#read };
    for (const which of ["left", "right"] as const) {
      const input = this.#inputOf(which);
      try {
        const view = readHeads(input);
        if (view) found[which] = { input, view };
      } catch (error) {
        this.showProblem(`${which}.${(error as Error).message}`);
        return;
      }
    }
    this.showProblem(null);
    this.#read = found;
  }

  #inputOf(which: Which): HeadInput {
    const { weights, tokens, keyTokens, scores, masked, causal } = this;
    const { head: _head, label: _label, ...own } = this.#given[which] ?? {};
    // Weights of its own come with their own tokens or none; scores and masks of others do not belong to them.
    const foreign = own.weights ? { scores: null, masked: null } : {};
    return { weights, tokens, keyTokens, scores, masked, causal, ...foreign, ...own };
  }

  #shownOf(which: Which, view: AttentionView): Shown {
    return { view, head: Math.max(0, Math.min(view.heads - 1, this.#headOf(which, view))) };
  }

  #headOf(which: Which, view: AttentionView): number {
    const given = this.#given[which]?.head;
    if (given !== undefined) return given;
    const first = this.#given.left?.head ?? this.head ?? this.state.heads[0] ?? 0;
    if (which === "left") return first;
    // The same head where the weights are others, else another one.
    if (this.#given.left?.weights || this.#given.right?.weights) return first;
    return this.state.heads[1] ?? (first + 1 < view.heads ? first + 1 : first - 1);
  }

  #compare(sides: Sides<Shown>): Result {
    const { byPosition } = this;
    const before = this.#result;
    const same =
      before !== null &&
      before.byPosition === byPosition &&
      (["left", "right"] as const).every(
        (which) => before.sides[which].view === sides[which].view && before.sides[which].head === sides[which].head,
      );
    if (same) return before;
    const [left, right] = [mapOf(sides.left), mapOf(sides.right)];
    const found = obstacle(left, right);
    const inTheWay = found && (found.reason === "shape" || !byPosition) ? found : null;
    return { sides, byPosition, obstacle: inTheWay, difference: inTheWay ? null : difference(left, right) };
  }

  // Maps ---------------------------------------------------------------------------------------------------------------

  #drawMaps(result: Result, inputs: Sides<HeadInput>): void {
    const { sides, difference: found } = result;
    const columns = this.width >= THREE && found ? 3 : this.width >= TWO ? 2 : 1;
    setAttributes(this.#maps, { "data-columns": columns });
    const names = this.#names(result);
    for (const which of ["left", "right"] as const) {
      const map = which === "left" ? this.#left : this.#right;
      const { head, view } = sides[which];
      give(map, { ...inputs[which], head, scale: this.scale });
      map.spokenName = this.say(words.grid, { name: names[which] });
      setText(this.#captions[which], names[which]);
      const select = this.#selects[which];
      // Paper has the name instead of the list.
      select.hidden = !this.controls || view.heads < 2 || this.printing;
      // The list says which head it is.
      this.#captions[which].hidden = !select.hidden && this.#given[which]?.label === undefined;
      setAttributes(select, { "aria-label": this.say(words.choose, { side: this.say(words[which]) }) });
      const options = Array.from(
        { length: view.heads },
        (_, h) => [String(h), this.say(words.head, { head: h })] as const,
      );
      fillSelect(select, options, String(head));
    }
    for (const map of this.#all()) give(map, { state: this.state, language: this.speaks, theme: this.shown });
    this.#drawDifference(result, names);
  }

  #drawDifference({ sides, obstacle: reason, difference: found }: Result, names: Sides<string>): void {
    const minus = this.say(words.minus, { ...names });
    this.#obstacle.hidden = reason === null;
    this.#obstacle.replaceChildren(...(reason ? this.#why(reason, names) : []));
    this.#anyway.hidden = reason === null || reason.reason === "shape";
    setText(this.#anyway, this.say(words.anyway));
    setText(this.#captions.difference, minus);
    this.#difference.hidden = found === null;
    this.#legend.hidden = found === null;
    if (!found) return;
    const limit = this.limit ?? (found.largest || 1);
    const { queryTexts: tokens, keyTexts: keyTokens } = sides.left.view;
    const { values: data, hidden: masked, queries, keys } = found;
    give(this.#difference, { tokens, keyTokens, masked, weights: { data, shape: [queries, keys] } });
    this.#difference.limit = limit;
    this.#difference.spokenName = this.say(words.gridDifference, { name: minus });
    this.#drawLegend(limit, names);
  }

  #drawLegend(limit: number, { right }: Sides<string>): void {
    const text = limit.toFixed(limit < 0.01 ? 4 : 2);
    const [from, , to] = this.#ticks.children;
    if (from) setText(from, `−${text}`);
    if (to) setText(to, `+${text}`);
    setAttributes(this.#bar, { "aria-label": this.say(words.legend, { from: `−${text}`, to: `+${text}` }) });
    const [less, more] = this.#meaning.children;
    if (less) setText(less, this.say(words.less, { right }));
    if (more) setText(more, this.say(words.more, { right }));
    const context = this.#ramp.getContext("2d");
    if (!context) return;
    const { colors } = divergingRamp(this.shown, this.paper() ?? undefined);
    for (let x = 0; x < 255; x++) {
      context.fillStyle = css(colors[divergingIndex(x - 127, 127)] as (typeof colors)[number]);
      context.fillRect(x, 0, 1, 1);
    }
  }

  #names({ sides }: Result): Sides<string> {
    const name = (which: Which) => this.#given[which]?.label ?? this.say(words.head, { head: sides[which].head });
    const [left, right] = [name("left"), name("right")];
    if (left !== right) return { left, right };
    // One head twice: told apart by where it stands.
    return { left: `${left} (${this.say(words.left)})`, right: `${right} (${this.say(words.right)})` };
  }

  #why(reason: Obstacle, names: Sides<string>): (Node | string)[] {
    if (reason.reason === "shape") {
      const [leftSize, rightSize] = [reason.left.join(" × "), reason.right.join(" × ")];
      return [this.say(words.shape, { ...names, leftSize, rightSize })];
    }
    return phraseNodes(this.speaks, words[reason.reason], {
      at: reason.at + 1,
      leftToken: tokenNode(reason.left),
      rightToken: tokenNode(reason.right),
    });
  }

  // Words --------------------------------------------------------------------------------------------------------------

  #drawSentence(result: Result): void {
    const { state } = this;
    const spot = state.query === null ? null : { query: state.query, key: state.key };
    this.#sentence.classList.toggle("hint", spot === null);
    const nodes = spot ? this.#sentenceOf(result, spot) : this.#overall(result);
    this.#sentence.replaceChildren(...nodes);
  }

  #overall({ sides, difference: found }: Result): (Node | string)[] {
    if (sides.left.view === sides.right.view && sides.left.view.heads < 2) return [this.say(words.only)];
    if (!found) return [this.say(words.hint)];
    // A row with a NaN or ∞ in it has no share.
    const shares = found.moved.filter(Number.isFinite);
    if (found.largest === 0) return [this.say(shares.length < found.queries ? words.noNumbers : words.equal)];
    const share = shares.reduce((sum, each) => sum + each, 0) / shares.length;
    const text = shares.length === 0 ? words.largestOnly : words.largest;
    return this.#phrase(text, sides.left.view, found.query, found.key, {
      difference: differenceNode(found.values[found.query * found.keys + found.key] as number),
      share: percent(share),
    });
  }

  #sentenceOf(result: Result, { query, key }: Spot): (Node | string)[] {
    const { sides, difference: found } = result;
    const { left, right } = sides;
    const names = this.#names(result);
    if (key === null) {
      if (!found || query >= found.queries) return [this.say(words.hint)];
      const at = largestOfRow(found, query);
      const value = found.values[query * found.keys + at] as number;
      const share = found.moved[query] as number;
      if (!Number.isFinite(share)) {
        return this.#phrase(words.rowNoShare, left.view, query, at, { difference: differenceNode(value) });
      }
      if (value === 0) return this.#phrase(words.rowEqual, left.view, query, at, {});
      return this.#phrase(words.row, left.view, query, at, {
        share: percent(share),
        difference: differenceNode(value),
      });
    }
    const inside = ({ view }: Shown) => query < view.queries && key < view.keys;
    if (!inside(left) && !inside(right)) return [this.say(words.outside)];
    const texts = inside(left) ? left.view : right.view;
    const both = { ...names, before: valueNode(left, query, key), after: valueNode(right, query, key) };
    if (!found) return this.#phrase(words.cellNone, texts, query, key, both);
    const value = found.values[query * found.keys + key] as number;
    return this.#phrase(words.cell, texts, query, key, { ...both, difference: differenceNode(value) });
  }

  #phrase(
    text: Words,
    view: AttentionView,
    query: number,
    key: number,
    values: Readonly<Record<string, Node | string>>,
  ): (Node | string)[] {
    const tokens = {
      query: tokenNode(view.queryTexts[query] as string),
      key: tokenNode(view.keyTexts[key] as string),
    };
    return phraseNodes(this.speaks, text, { ...tokens, ...values });
  }

  // The reader ---------------------------------------------------------------------------------------------------------

  #moved(from: CompareMap, window: Viewport): void {
    // Cells of another shape have other places.
    if (this.#result?.obstacle?.reason === "shape") return;
    for (const map of this.#all()) if (map !== from) map.follow(window);
  }

  #turned(map: CompareMap, head: number): void {
    if (map === this.#left) this.#turn("left", head);
    else if (map === this.#right) this.#turn("right", head);
  }

  #turn(which: Which, head: number): void {
    const { sides } = this.#result as Result;
    const next = { left: sides.left.head, right: sides.right.head, [which]: head };
    const options = { detail: next, bubbles: true, composed: true, cancelable: true };
    if (!this.dispatchEvent(new CustomEvent("heads", options))) {
      // The list goes back to what is shown.
      this.invalidate("look");
      return;
    }
    const given = this.#given[which];
    if (given?.head !== undefined) {
      this.#given = { ...this.#given, [which]: { ...given, head } };
      this.invalidate("data");
    } else if (which === "left" && this.head !== null) this.head = head;
    else this.state.set({ heads: [next.left, next.right, ...this.state.heads.slice(2)] });
  }
}

/** Sets what is not set already: every setter asks for a drawing. */
function give<T extends CompareMap | DifferenceMap>(map: T, values: Partial<{ [Key in keyof T]: unknown }>): void {
  for (const [name, value] of Object.entries(values)) {
    if (Reflect.get(map, name) !== value) Reflect.set(map, name, value);
  }
}

function mapOf({ view, head }: Shown): MapSide {
  const { queries, keys, weights, queryTexts, keyTexts } = view;
  const cells = queries * keys;
  const start = head * cells;
  const hidden = new Uint8Array(cells);
  let any = false;
  for (let cell = 0; cell < cells; cell++) {
    if (!isHidden(view, head, Math.floor(cell / keys), cell % keys)) continue;
    hidden[cell] = 1;
    any = true;
  }
  return {
    queries,
    keys,
    weights: weights.subarray(start, start + cells),
    hidden: any ? hidden : null,
    queryTexts,
    keyTexts,
  };
}

function largestOfRow({ values, keys }: Difference, query: number): number {
  let best = 0;
  const at = (key: number) => {
    const value = Math.abs(values[query * keys + key] as number);
    return Number.isFinite(value) ? value : -1;
  };
  for (let key = 1; key < keys; key++) if (at(key) > at(best)) best = key;
  return best;
}

function valueNode({ view, head }: Shown, query: number, key: number): Node {
  if (query >= view.queries || key >= view.keys) return el("b", {}, "—");
  return el("b", {}, formatWeight(weightAt(view, head, query, key), isHidden(view, head, query, key)));
}

function differenceNode(value: number): Node {
  return el("b", {}, formatDifference(value));
}

function percent(share: number): string {
  const value = share * 100;
  if (value > 0 && value < 0.1) return "<0.1 %";
  return `${value < 10 ? value.toFixed(1) : value.toFixed(0)} %`;
}
