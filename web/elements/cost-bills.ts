/**
 * `<cost-bills>`: what attention costs, with sliders for everything it depends on: parameters, FLOPs, the memory of the
 * scores with the 4 GiB line of wasm32, and the keys and values to keep for each token.
 *
 *     <cost-bills preset="llama3-8b"></cost-bills>
 */

import { cost } from "headscope";
import {
  type Bills,
  bills,
  type CostFunctions,
  DTYPES,
  type Finding,
  findings,
  followedHeadDim,
  fraction,
  LIMITS,
  type SizeName,
  type Sizes,
  WASM32_LIMIT,
} from "./cost/bills.js";
import { findPreset, PRESETS } from "./cost/presets.js";
import { logPlace, nearestStop, stops } from "./cost/stops.js";
import { STYLE } from "./cost/style.js";
import { sizes as sizeWords, words } from "./cost/words.js";
import { el, setAttributes, setStyle, setText } from "./dom.js";
import { formatBytes, formatInteger } from "./format.js";
import { type Reason, ScopeElement } from "./scope-element.js";
import { fillSelect } from "./select.js";
import { SENTENCE_STYLE } from "./sentence-style.js";

/** What `config` takes: headscope's names, and `T`, `layers`, `bytesPerElement`. */
export type CostConfig = {
  readonly [K in "dModel" | "numHeads" | "numKVHeads" | "headDim" | "T" | "layers" | "bytesPerElement"]?:
    | number
    | undefined;
} & NonNullable<Sizes["unusual"]>;

interface Control {
  readonly row: HTMLElement;
  readonly label: HTMLLabelElement;
  readonly range: HTMLInputElement;
  readonly number: HTMLInputElement;
  readonly wrong: HTMLElement;
  readonly stops: readonly number[];
}

const NAMES = Object.keys(LIMITS) as SizeName[];

/** Pixels from which controls and bills stand side by side. */
const WIDE = 760;

/**
 * Properties: `config`, `preset`, `fixed`, `cost`; attributes `preset`, `fixed`. Event `sizes` (detail: `config`) when the
 * reader has changed something. Parts: `base`, `problem`, `controls`, `bills`, `bill`, `notes`.
 */
export class CostBills extends ScopeElement {
  static override get observedAttributes(): string[] {
    return [...ScopeElement.observedAttributes, "preset", "fixed"];
  }

  readonly #controls = new Map<SizeName, Control>();
  readonly #preset = el("select", { id: "preset" });
  readonly #dtype = el("select", { id: "dtype" });
  readonly #follow = el("input", { type: "checkbox", id: "follow" });
  readonly #texts = new Map<string, HTMLElement>();
  readonly #form: HTMLFormElement;
  readonly #bills = el("div", { class: "bills", part: "bills", role: "group" });
  readonly #notes = el("div", { class: "notes", part: "notes", "aria-live": "polite" });
  readonly #parts: HTMLElement;
  #sizes: Sizes = { ...sizesOf("gpt2-small"), bytesPerElement: 2 };
  #functions: CostFunctions = cost;
  #problem: string | null = null;

  constructor() {
    super(SENTENCE_STYLE, STYLE);
    this.#form = this.#makeForm();
    this.#parts = el("div", { class: "parts" }, this.#form, el("div", {}, this.#bills, this.#notes));
    this.#notes.style.setProperty("margin-top", "12px");
    this.base.append(this.#parts);
  }

  /** The sizes shown. What is left out when it is set keeps its value, except `numKVHeads` (H) and `headDim` (D / H). */
  get config(): CostConfig {
    const { tokens, unusual, ...others } = this.#sizes;
    return { ...others, T: tokens, ...unusual };
  }
  set config(config: CostConfig) {
    const read = this.#read(config ?? {});
    if (read) {
      this.#sizes = read;
      this.#follow.checked = read.headDim === followedHeadDim(read.dModel, read.numHeads);
    }
    this.invalidate("data");
  }

  /** A model to start from: `"gpt2-small"`, `"llama3-8b"` …; setting it sets `config`. Default `"gpt2-small"`. */
  get preset(): string {
    return this.getAttribute("preset") ?? "";
  }
  set preset(preset: string) {
    this.reflect("preset", preset);
  }

  /** Whether the controls are left away: the bills of one layer, to be looked at. Default false. */
  get fixed(): boolean {
    return this.hasAttribute("fixed");
  }
  set fixed(fixed: boolean) {
    this.toggleAttribute("fixed", Boolean(fixed));
  }

  /** What computes the bills. Default: `cost` of headscope; null goes back to it. */
  get cost(): CostFunctions {
    return this.#functions;
  }
  set cost(functions: CostFunctions | null) {
    this.#functions = functions ?? cost;
    this.invalidate("data");
  }

  /** What is wrong with what was set last; null while all is well. */
  get problem(): string | null {
    return this.#problem;
  }

  override attributeChangedCallback(name: string, before: string | null, now: string | null): void {
    super.attributeChangedCallback(name, before, now);
    if (name !== "preset" || before === now || now === null) return;
    if (findPreset(now)) {
      this.#problem = null;
      this.#sizes = { ...sizesOf(now), bytesPerElement: this.#sizes.bytesPerElement };
      this.#follow.checked = true;
    } else {
      const names = PRESETS.map(({ id }) => id).join(", ");
      this.#problem = this.say(words.presetProblem, { names, value: JSON.stringify(now) });
    }
  }

  protected render(_reasons: ReadonlySet<Reason>): void {
    this.showProblem(this.#problem);
    this.#form.hidden = this.fixed;
    setAttributes(this.#parts, { "data-wide": !this.fixed && this.width >= WIDE ? "true" : "false" });
    if (!this.fixed) this.#fillForm();
    const room = this.fixed || this.width < WIDE ? this.width : this.width - 358;
    setAttributes(this.#bills, { "data-columns": room >= 1000 ? 4 : room >= 520 ? 2 : 1 });
    const found = bills(this.#sizes, this.#functions);
    setAttributes(this.#bills, { "aria-label": this.say(words.bills) });
    this.#bills.replaceChildren(
      this.#parameterBill(found),
      this.#flopBill(found),
      this.#scoreBill(found),
      this.#cacheBill(found),
    );
    const notes = findings(this.#sizes, this.#follow.checked).map((finding) => this.#note(finding));
    if (!this.fixed) notes.push(el("p", {}, this.say(words.lunch)));
    // It is read aloud when it changes, and only then.
    const said = (nodes: Iterable<Node>) => Array.from(nodes, (node) => node.textContent).join("\n");
    if (said(notes) !== said(this.#notes.children)) this.#notes.replaceChildren(...notes);
  }

  // Controls ---------------------------------------------------------------------------------------------------------

  #makeForm(): HTMLFormElement {
    const text = (name: string, tag: "label" | "span" = "label", forId: string | null = name) => {
      const node = el(tag, { for: tag === "label" ? forId : null });
      this.#texts.set(name, node);
      return node;
    };
    this.#follow.checked = true;
    for (const name of NAMES) this.#controls.set(name, this.#control(name));
    const rows = NAMES.flatMap((name) => {
      const { row } = this.#controls.get(name) as Control;
      return name === "headDim" ? [row, el("div", { class: "check" }, this.#follow, text("follow"))] : [row];
    });
    this.#preset.addEventListener("change", () => {
      const { value } = this.#preset;
      if (findPreset(value)) this.#change({ ...sizesOf(value), bytesPerElement: this.#sizes.bytesPerElement }, true);
    });
    this.#dtype.addEventListener("change", () => {
      this.#change({ ...this.#sizes, bytesPerElement: Number(this.#dtype.value) });
    });
    this.#follow.addEventListener("change", () => {
      const { dModel, numHeads } = this.#sizes;
      const follow = this.#follow.checked ? { headDim: followedHeadDim(dModel, numHeads) } : {};
      this.#change({ ...this.#sizes, ...follow });
    });
    const form = el(
      "form",
      { part: "controls" },
      el("div", { class: "choice" }, text("preset"), this.#preset),
      ...rows,
      el("div", { class: "choice" }, text("dtype"), this.#dtype),
    );
    form.addEventListener("submit", (event) => event.preventDefault());
    return form;
  }

  #control(name: SizeName): Control {
    const [from, to] = LIMITS[name];
    const places = stops(from, to);
    const label = el("label", { for: name });
    const range = el("input", { type: "range", min: 0, max: places.length - 1, step: 1 });
    const number = el("input", {
      type: "number",
      id: name,
      min: from,
      max: to,
      step: 1,
      inputmode: "numeric",
      "aria-describedby": `${name}-wrong`,
    });
    const wrong = el("span", { class: "wrong", id: `${name}-wrong`, role: "status" });
    range.addEventListener("input", () => this.#resize(name, places[Number(range.value)] as number));
    number.addEventListener("input", () => {
      const value = Number(number.value);
      const fine = number.value !== "" && Number.isInteger(value) && value >= from && value <= to;
      setAttributes(number, { "aria-invalid": fine ? null : "true" });
      setText(wrong, fine ? "" : this.say(words.range, { from, to: formatInteger(to) }));
      if (fine) this.#resize(name, value);
    });
    const row = el("div", { class: "control" }, label, range, number, wrong);
    return { row, label, range, number, wrong, stops: places };
  }

  /** One size changes; what was meant to follow it does. */
  #resize(name: SizeName, value: number): void {
    const before = this.#sizes;
    let next: Sizes = { ...before, [name]: value };
    if (name === "numHeads" && before.numKVHeads === before.numHeads) next = { ...next, numKVHeads: value };
    if (this.#follow.checked && (name === "dModel" || name === "numHeads")) {
      next = { ...next, headDim: followedHeadDim(next.dModel, next.numHeads) };
    }
    if (name === "headDim") this.#follow.checked = value === followedHeadDim(next.dModel, next.numHeads);
    this.#change(next);
  }

  #change(sizes: Sizes, follow = this.#follow.checked): void {
    this.#sizes = sizes;
    this.#follow.checked = follow;
    this.invalidate("data");
    this.dispatchEvent(new CustomEvent("sizes", { detail: this.config, bubbles: true, composed: true }));
  }

  #fillForm(): void {
    setAttributes(this.#form, { "aria-label": this.say(words.controls) });
    for (const name of ["preset", "dtype", "follow"] as const)
      setText(this.#texts.get(name) as Node, this.say(words[name]));
    for (const [name, { label, range, number, wrong, stops: places }] of this.#controls) {
      const value = this.#sizes[name];
      setText(label, this.say(sizeWords[name]));
      const shown = name === "headDim" && this.#follow.checked;
      number.disabled = shown;
      range.disabled = shown;
      range.value = String(nearestStop(places, value));
      setAttributes(range, {
        "aria-label": this.say(words.slider, { name: this.say(sizeWords[name]) }),
        "aria-valuetext": formatInteger(value),
      });
      // What is being typed is left alone, as long as it means the same.
      if (wrong.textContent === "" || this.shadowRoot?.activeElement !== number) {
        if (Number(number.value) !== value) number.value = String(value);
        setText(wrong, "");
        setAttributes(number, { "aria-invalid": null });
      }
    }
    const { bytesPerElement } = this.#sizes;
    const preset = PRESETS.find((each) => NAMES.every((name) => each[name] === this.#sizes[name]));
    const known = PRESETS.map(({ id, name }) => [id, name] as const);
    const own = preset ? [] : [["", this.say(words.own)] as const];
    fillSelect(this.#preset, [...own, ...known], preset?.id ?? "");
    fillSelect(
      this.#dtype,
      DTYPES.map(({ name, bytes }) => [String(bytes), this.say(words.dtypeName, { name, bytes })]),
      String(bytesPerElement),
    );
  }

  // Bills ------------------------------------------------------------------------------------------------------------

  /** H · dk = D, as many K/V heads as heads, no width of its own: what the textbook's formulas are about. */
  #plain(): boolean {
    const { dModel, numHeads, numKVHeads, headDim, unusual } = this.#sizes;
    return numHeads * headDim === dModel && numKVHeads === numHeads && !isUnusual(unusual);
  }

  #parameterBill({ layer }: Bills): HTMLElement {
    const { layers, unusual } = this.#sizes;
    const formula = this.#plain()
      ? words.parametersPlain
      : isUnusual(unusual)
        ? words.parametersOther
        : words.parametersShared;
    const [wq, wk, wv, wo] = (layer?.matrices ?? []).map(formatInteger);
    return bill(
      "parameters",
      layer && formatInteger(layer.parameters),
      this.say(words.parameters),
      this.say(formula),
      layer && this.say(words.matrices, { wq: wq ?? "", wk: wk ?? "", wv: wv ?? "", wo: wo ?? "" }),
      layer && layers > 1
        ? this.say(words.allLayers, { layers, total: formatInteger(layer.parameters * BigInt(layers)) })
        : null,
    );
  }

  #flopBill({ layer }: Bills): HTMLElement {
    return bill(
      "flops",
      layer && formatInteger(layer.attentionFlops),
      this.say(words.flops),
      this.say(this.#plain() ? words.flopsPlain : words.flopsOther),
      layer && this.say(words.causal, { flops: formatInteger(layer.causalFlops) }),
      layer && this.say(words.projections, { flops: formatInteger(layer.flops) }),
    );
  }

  #scoreBill({ scoreBytes }: Bills): HTMLElement {
    const said =
      scoreBytes === WASM32_LIMIT
        ? this.say(words.filled)
        : scoreBytes > WASM32_LIMIT
          ? this.say(words.beyond, { times: times(Number(scoreBytes) / Number(WASM32_LIMIT)) })
          : this.say(words.within, { share: percent(Number(scoreBytes) / Number(WASM32_LIMIT)) });
    const gauge = el(
      "div",
      { class: "gauge", role: "img", "aria-label": `${formatBytes(scoreBytes)}: ${said}` },
      el("span", { class: "track" }),
      el("span", { class: "fill" }),
      el("span", { class: "line" }),
      el("span", { class: "label", title: this.say(words.limit) }, this.say(words.limitShort)),
    );
    gauge.classList.toggle("beyond", scoreBytes >= WASM32_LIMIT);
    setStyle(gauge, "--part", `${100 * logPlace(scoreBytes)}%`);
    setStyle(gauge, "--limit", `${100 * logPlace(WASM32_LIMIT)}%`);
    const card = bill(
      "scores",
      formatBytes(scoreBytes),
      this.say(words.scores),
      this.say(words.scoresFormula, { bytes: this.#sizes.bytesPerElement }),
      formatBytes(scoreBytes).endsWith(" B") ? null : this.say(words.exact, { bytes: formatInteger(scoreBytes) }),
      said,
    );
    card.append(gauge);
    return card;
  }

  #cacheBill({ cacheNumbers, cacheBytes, cacheTotal }: Bills): HTMLElement {
    const { numHeads, numKVHeads, tokens, unusual } = this.#sizes;
    const numbers = formatInteger(cacheNumbers);
    const kind = numKVHeads === 1 ? "MQA" : "GQA";
    const shared =
      numKVHeads >= numHeads
        ? this.say(words.cacheFull)
        : this.say(words.cacheShared, {
            kind,
            share: fraction(numKVHeads, numHeads),
            heads: numHeads,
            times: times(numHeads / numKVHeads),
          });
    return bill(
      "cache",
      `${formatInteger(cacheBytes)} B`,
      this.say(words.cache),
      this.say(isUnusual(unusual) ? words.cacheOther : words.cacheFormula, { numbers }),
      shared,
      this.say(words.cacheTotal, { tokens: formatInteger(tokens), bytes: formatBytes(cacheTotal) }),
    );
  }

  #rankNote(headDim: number, tokens: number): HTMLElement {
    return el("p", {}, this.say(words.rank, { headDim, tokens: formatInteger(tokens) }));
  }

  #note(finding: Finding): HTMLElement {
    if (finding.kind === "rank") return this.#rankNote(finding.headDim, finding.tokens);
    if (finding.kind === "uneven") {
      const { headDim, numHeads } = this.#sizes;
      return el(
        "p",
        { class: "explained finding" },
        this.say(words.uneven, { ...finding, headDim, concat: headDim * numHeads }),
      );
    }
    if (finding.kind === "apart") return el("p", { class: "explained finding" }, this.say(words.apart, { ...finding }));
    const { numHeads, numKVHeads, divisors } = finding;
    const buttons = divisors.map((heads) => {
      const button = el("button", { type: "button" }, this.say(words.use, { heads }));
      button.addEventListener("click", () => this.#resize("numKVHeads", heads));
      return button;
    });
    const said = this.say(words.groups, { numHeads, numKVHeads });
    return el("p", { class: "explained finding" }, said, ...(this.fixed ? [` ${divisors.join(", ")}`] : buttons));
  }

  #read(config: CostConfig): Sizes | null {
    const given: Partial<Record<SizeName | "bytesPerElement", unknown>> = { ...config, tokens: config.T };
    const before = this.#sizes;
    const next: Record<SizeName, number> = { ...sizesOnly(before) };
    this.#problem = null;
    for (const name of [...NAMES, "bytesPerElement"] as const) {
      const value = given[name];
      if (value === undefined) continue;
      const limits = name === "bytesPerElement" ? ([1, 8] as const) : LIMITS[name];
      if (!this.#whole(name === "tokens" ? "T" : name, value, limits)) return null;
      if (name !== "bytesPerElement") next[name] = value;
    }
    if (config.numKVHeads === undefined && config.numHeads !== undefined) next.numKVHeads = next.numHeads;
    if (config.headDim === undefined && (config.dModel !== undefined || config.numHeads !== undefined)) {
      next.headDim = followedHeadDim(next.dModel, next.numHeads);
    }
    const unusual = this.#readUnusual(config, next);
    if (unusual === null) return null;
    return { ...next, bytesPerElement: config.bytesPerElement ?? before.bytesPerElement, unusual };
  }

  /** Widths that are not what they would be anyway. Null where one is wrong. */
  #readUnusual(
    config: CostConfig,
    { dModel, headDim }: Record<SizeName, number>,
  ): NonNullable<Sizes["unusual"]> | null {
    const usual = { valueHeadDim: headDim, keyDim: dModel, valueDim: config.keyDim ?? dModel, outDim: dModel };
    const found: Record<string, number> = {};
    for (const [name, width] of Object.entries(usual)) {
      const value = config[name as keyof typeof usual];
      if (value === undefined || value === width) continue;
      if (!this.#whole(name, value, LIMITS.dModel)) return null;
      found[name] = value;
    }
    return found;
  }

  #whole(name: string, value: unknown, [from, to]: readonly [number, number]): value is number {
    if (Number.isInteger(value) && (value as number) >= from && (value as number) <= to) return true;
    this.#problem = this.say(words.problem, { name, from, to, value: String(value) });
    return false;
  }
}

function sizesOf(id: string): Record<SizeName, number> {
  return sizesOnly(findPreset(id) as Readonly<Record<SizeName, number>>);
}

function sizesOnly(from: Readonly<Record<SizeName, number>>): Record<SizeName, number> {
  return Object.fromEntries(NAMES.map((name) => [name, from[name]])) as Record<SizeName, number>;
}

function isUnusual(unusual: Sizes["unusual"]): boolean {
  return unusual !== undefined && Object.keys(unusual).length > 0;
}

function bill(id: string, figure: string | null, what: string, ...lines: (string | null | undefined)[]): HTMLElement {
  return el(
    "div",
    { class: "bill", part: `bill ${id}`, "data-bill": id },
    el("p", { class: (figure?.length ?? 0) > 13 ? "figure long" : "figure" }, figure ?? "—"),
    el("p", { class: "what" }, what),
    ...lines.map((line) => (line ? el("p", {}, line) : null)),
  );
}

/** 4, 2.5, 1,024. */
function times(ratio: number): string {
  return ratio < 100 ? String(Number(ratio.toPrecision(3))) : formatInteger(Math.round(ratio));
}

function percent(share: number): string {
  const value = share * 100;
  return value < 0.01 ? "<0.01 %" : `${Number(value.toPrecision(2))} %`;
}
