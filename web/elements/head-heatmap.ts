import type { AttentionView, Spot } from "./attention-view.js";
import { isHidden, rowsSumToOne, strongestKey, weightAt } from "./attention-view.js";
import { AxisStrip } from "./axis-strip.js";
import { el, pixelRatio, place, setAttributes, setStyle, setText } from "./dom.js";
import { formatCell, formatWeight } from "./format.js";
import { HeadElement } from "./head-element.js";
import { listenToGestures } from "./heat/gestures.js";
import { heatCommand } from "./heat/keys.js";
import { type HeatLayout, labelStep, layoutHeat } from "./heat/layout.js";
import { HeatLegend, LEGEND_STYLE } from "./heat/legend.js";
import { HeatMap } from "./heat/map.js";
import { HeatMarks, MARKS_STYLE, move } from "./heat/marks.js";
import { paintCells } from "./heat/painter.js";
import { HEAT_STYLE } from "./heat/style.js";
import { heatWords as words } from "./heat/words.js";
import { longestLabel } from "./label-width.js";
import type { Ramp } from "./ramp.js";
import { encodeHead } from "./raster.js";
import { type HeatScale, scaleTop } from "./scale.js";
import type { Reason } from "./scope-element.js";
import { phraseNodes, type Words } from "./strings.js";
import { labelText, tokenNode } from "./token-label.js";
import * as viewport from "./viewport.js";

/** Above this many rows or columns there is a minimap. */
const MAP_ABOVE = 64;
/** Below this a cell is hard to hit, and there are buttons to zoom. */
const SMALL_CELL = 20;
/** Longest side of the box without --hs-max-plot: what is larger does not fit a screen. */
const MAX_PLOT = 720;
/** The legend does not get narrower with a small matrix. */
const NARROWEST_FOOT = 440;
/** A touch on the minimap of the whole zooms to cells of this size. */
const READABLE = 24;

interface Encoding {
  readonly view: AttentionView;
  readonly head: number;
  readonly scale: HeatScale;
  readonly codes: Uint16Array;
  readonly top: number;
  readonly hasHidden: boolean;
  readonly rowsSum: boolean;
  readonly version: number;
}

/**
 * `<head-heatmap>`: one head large. Rows are queries, columns are keys, both axes are named and carry the tokens; hidden
 * cells are hatched, never 0. Square or not, 1 to 1,024 tokens and more. Where cells are large enough their numbers stand
 * in them, with a contrast of at least 4.5 to 1 on every step of the ramp; below there is the legend with its domain and
 * a sentence that reads the cell looked at.
 *
 * Properties: those of every head element (`weights`, `tokens`, `keyTokens`, `scores`, `masked`, `causal`, `state`, `head`,
 * `scale`, `language`, `theme`, `src`), and `controls`. Methods: `fit()`, `zoomTo(spot, cells)`.
 *
 * Events: `preview` and `pick` (`{ head, query, key }`); `scale` after a choice in the list that `controls` shows.
 *
 * Pointer: hover looks, a click pins, a click on the pinned cell unpins. Touch: a tap looks, a second tap on the same cell
 * pins. Zoom: Ctrl and the wheel, pinch, `+` `−` `0`, or the buttons; a drag pans, and above 64 tokens there is a minimap.
 * Keys: arrows, Page Up and Down, Home and End (of the row; with Ctrl of the matrix), Enter pins, Escape unpins, `[` and
 * `]` change the head.
 *
 * Parts: `base`, `problem`, `frame`, `corner`, `labels` (`rows`, `columns`), `box`, `tools`, `map`, `legend`, `scale`,
 * `sentence`. Custom properties: the colours and fonts of `sheet.ts`, and `--hs-max-plot` (longest side of the box, 720px).
 *
 * Speed, one of 12 heads of 512 × 512 in Chromium 156 without a GPU: 34 ms from the data to the first paint and 2.6 ms for a
 * frame while the pointer moves; with `<head-grid>` linked to it 49 and 2.6, of 12 × 1,024 tokens 65 and 3.2, of 144 heads ×
 * 128 tokens 94 and 5.1. Medians by the clock of `tests/bench/elements.ts`, which has the main thread's work too.
 * Cells are encoded once for each data, head and scale; hovering repaints none of them.
 */
export class HeadHeatmap extends HeadElement {
  static override get observedAttributes(): string[] {
    return [...HeadElement.observedAttributes, "controls"];
  }

  private readonly cells = el("canvas", { "aria-hidden": "true", class: "cells" });
  private readonly marks = new HeatMarks();
  // One live grid cell lies over the cell it stands for and moves with it: 512 × 512 of them would stop the page.
  private readonly cursor = el("div", { role: "gridcell", class: "cursor", tabindex: 0 });
  private readonly cursorRow = el("div", { role: "row" }, this.cursor);
  private readonly grid = el("div", { role: "grid" }, this.cursorRow);
  private readonly box = el("div", { class: "box hatch", part: "box" }, this.cells, this.marks.node, this.grid);
  private readonly corner = el("div", { class: "corner", part: "corner" });
  private readonly columns = new AxisStrip("columns", "left");
  private readonly rows = new AxisStrip("rows", "top");
  private readonly matrix = el(
    "div",
    { class: "frame data", part: "frame" },
    ...[this.corner, this.columns.node, this.rows.node, this.box],
  );
  private readonly legend = new HeatLegend((scale) => this.chooseScale(scale));
  private readonly map = new HeatMap((row, column) => this.lookAround(row, column));
  private readonly zoomOut = el("button", { type: "button" }, "−");
  private readonly zoomIn = el("button", { type: "button" }, "+");
  private readonly zoomFit = el("button", { type: "button" });
  private readonly buttons = [this.zoomOut, this.zoomIn, this.zoomFit];
  private readonly tools = el("div", { class: "tools", part: "tools" }, ...this.buttons, this.map.node);
  private readonly foot = el("div", { class: "foot data" }, this.legend.node, this.tools);
  private readonly sentence = el("p", { class: "sentence data", part: "sentence" });
  private readonly live = el("div", { class: "live", "aria-live": "polite" });

  private layout: HeatLayout | null = null;
  /** The part in view. */
  protected window = viewport.FIT;
  private encoding: Encoding | null = null;
  private labels: { texts: readonly string[]; keys: readonly string[]; font: string; width: number } | null = null;
  private looks: { ramp: Ramp; sans: string; mono: string; maxPlot: number; ratio: number } | null = null;
  private picture = "";
  private drawnRamp: Ramp | null = null;
  private hasDots = false;
  private hovered: Spot | null = null;
  private footed = 0;
  private tapping = false;

  constructor() {
    super(LEGEND_STYLE, MARKS_STYLE, HEAT_STYLE);
    this.base.append(this.matrix, this.foot, this.sentence, this.live);
    const element = this;
    listenToGestures(this.box, {
      get pannable() {
        return element.window.zoom > 1;
      },
      look: (x, y) => this.lookAt(this.cellUnder(x, y)),
      leave: () => this.lookAt(null),
      click: (x, y, touch) => this.tap(this.cellUnder(x, y), touch),
      pan: (dx, dy) => this.move((plot, now) => viewport.panBy(plot, now, dx, dy)),
      zoom: (factor, before, after) => this.move((plot, now) => viewport.pinch(plot, now, factor, before, after)),
    });
    this.cursor.addEventListener("keydown", (event) => this.onKey(event));
    this.cursor.addEventListener("focus", () => this.onFocus());
    this.cursor.addEventListener("blur", () => this.lookAt(null));
    this.zoomOut.addEventListener("click", () => this.zoomBy(1 / 2));
    this.zoomIn.addEventListener("click", () => this.zoomBy(2));
    this.zoomFit.addEventListener("click", () => this.fit());
  }

  /** Shows a list to choose the scale from, beside the legend. Default false. */
  get controls(): boolean {
    return this.hasAttribute("controls");
  }
  set controls(controls: boolean) {
    this.toggleAttribute("controls", Boolean(controls));
  }

  /** Shows the whole matrix. */
  fit(): void {
    this.move(() => viewport.FIT);
  }

  /** Zooms to about `cells` rows and columns around a place. Default 11. */
  zoomTo({ query, key }: Spot, cells = 11): void {
    this.move((plot) => {
      const zoom = Math.max(plot.width, plot.height) / Math.max(1, cells) / Math.max(plot.cellWidth, plot.cellHeight);
      const near = viewport.clampViewport(plot, { zoom, row: 0, column: 0 });
      return viewport.centerOn(plot, near, query + 0.5, (key ?? query) + 0.5);
    });
  }

  protected override renderView(view: AttentionView, reasons: ReadonlySet<Reason>): void {
    const before = this.encoding?.view;
    const still = this.looks && this.layout && ![...reasons].some((reason) => reason !== "state" && reason !== "view");
    if (!still) this.readStyle();
    const layout = still && this.layout ? this.layout : this.arrange(view);
    if (before && (before.queries !== view.queries || before.keys !== view.keys)) this.window = viewport.FIT;
    this.window = viewport.clampViewport(layout.plot, this.window);
    const encoding = this.encode(view);
    this.drawCells(encoding, layout);
    this.drawLabels(view, layout);
    this.drawMarks(layout);
    this.describe(view, reasons);
    if (!still || reasons.has("view") || encoding.version !== this.footed) this.drawFoot(encoding, layout);
    this.footed = encoding.version;
  }

  private readStyle(): void {
    const maxPlot = Number.parseFloat(getComputedStyle(this).getPropertyValue("--hs-max-plot"));
    this.looks = {
      ramp: this.currentRamp(),
      sans: this.styleOf("sans"),
      mono: this.styleOf("mono"),
      maxPlot: maxPlot > 0 ? maxPlot : MAX_PLOT,
      ratio: pixelRatio(this),
    };
  }

  private arrange(view: AttentionView): HeatLayout {
    const { queries: rows, keys: columns } = view;
    const { maxPlot } = this.looks as NonNullable<typeof this.looks>;
    const layout = layoutHeat({ rows, columns, width: this.width, maxPlot, label: this.labelWidth(view) });
    const { plot, left, top } = layout;
    this.layout = layout;
    place(this.box, { left, top, width: plot.width, height: plot.height });
    place(this.columns.node, { left, top: 0, width: plot.width, height: top });
    place(this.rows.node, { left: 0, top, width: layout.rowLabel, height: plot.height });
    // Beside a matrix on a wide page, and not at the other end of it.
    setStyle(this.foot, "max-width", `${Math.max(NARROWEST_FOOT, left + Math.ceil(plot.width))}px`);
    setStyle(this.matrix, "height", `${Math.ceil(top + plot.height + 2)}px`);
    setText(this.corner, this.say(words.axes));
    return layout;
  }

  private labelWidth({ queryTexts, keyTexts }: AttentionView): number {
    const { labels } = this;
    const font = this.labelFont();
    if (labels?.texts === queryTexts && labels.keys === keyTexts && labels.font === font) return labels.width;
    const width = Math.max(28, 4 + longestLabel(queryTexts, font), 4 + longestLabel(keyTexts, font));
    this.labels = { texts: queryTexts, keys: keyTexts, font, width };
    return width;
  }

  private labelFont(): string {
    return `12px ${this.looks?.mono}`;
  }

  private encode(view: AttentionView): Encoding {
    const { scale, shownHead: head, encoding } = this;
    if (encoding?.view === view && encoding.head === head && encoding.scale === scale) return encoding;
    const { codes, top } = this.encodeCells(view, head);
    const version = (encoding?.version ?? 0) + 1;
    const rowsSum = rowsSumToOne(view, head);
    this.encoding = { view, head, scale, codes, top, hasHidden: codes.includes(0), rowsSum, version };
    return this.encoding;
  }

  /** The cells of a head as codes of the ramp, and the upper end of its domain. */
  protected encodeCells(view: AttentionView, head: number): { codes: Uint16Array; top: number } {
    const { scale } = this;
    const top = scaleTop(view, head, scale);
    const codes = new Uint16Array(view.queries * view.keys);
    encodeHead(view, head, scale, top, codes);
    return { codes, top };
  }

  /** A number inside a cell, and the same with all its digits in words. */
  protected cellText(value: number, digits: 2 | 3 | 4, _width: number): string {
    return formatCell(value, digits);
  }
  protected valueText(value: number, hidden: boolean): string {
    return formatWeight(value, hidden);
  }

  private drawCells({ view, head, codes, version }: Encoding, { plot }: HeatLayout): void {
    const { ramp, ratio, sans: family } = this.looks as NonNullable<typeof this.looks>;
    const { zoom, row, column } = this.window;
    const picture = [version, zoom, row, column, plot.width, plot.height, ratio].join();
    if (picture === this.picture && this.drawnRamp === ramp) return;
    this.picture = picture;
    this.drawnRamp = ramp;
    this.box.classList.toggle("zoomed", zoom > 1);
    const weight = (query: number, key: number) => weightAt(view, head, query, key);
    const text = this.cellText.bind(this);
    this.hasDots = paintCells(this.cells, { codes, ramp, plot, viewport: this.window, ratio, family, weight, text });
  }

  private drawLabels(view: AttentionView, { plot, slant, rowLabel, columnLabel }: HeatLayout): void {
    const { row, column, zoom } = this.window;
    const cell = viewport.cellSize(plot, zoom);
    const { spot } = this;
    const font = this.labelFont();
    const across = {
      ...{ texts: view.keyTexts, first: column, size: cell.width, length: plot.width },
      ...{ step: labelStep(cell.width, slant), longest: columnLabel, font, slant },
    };
    const down = {
      ...{ texts: view.queryTexts, first: row, size: cell.height, length: plot.height },
      ...{ step: labelStep(cell.height, 90), longest: rowLabel, font, slant: 0 },
    };
    this.columns.update(across, spot?.key ?? null);
    this.rows.update(down, spot?.query ?? null);
  }

  private drawMarks({ plot }: HeatLayout): void {
    const { spot, pinned, window } = this;
    this.marks.update(plot, window, spot, pinned);
    const { width, height } = viewport.cellSize(plot, window.zoom);
    const left = ((spot?.key ?? 0) - window.column) * width;
    move(this.cursor, left, ((spot?.query ?? 0) - window.row) * height, width, height);
  }

  protected gridLabel(): string {
    return this.say(words.grid, { head: this.shownHead });
  }

  private describe(view: AttentionView, reasons: ReadonlySet<Reason>): void {
    const { spot, pinned, shownHead: head } = this;
    const query = spot?.query ?? 0;
    const key = spot?.key ?? 0;
    if (reasons.has("data") || reasons.has("look") || !this.grid.hasAttribute("aria-label")) {
      setAttributes(this.grid, { "aria-rowcount": view.queries, "aria-colcount": view.keys });
    }
    setAttributes(this.grid, {
      "aria-label": this.gridLabel(),
      "aria-description": this.say(words.keys),
    });
    setAttributes(this.cursorRow, { "aria-rowindex": query + 1 });
    setAttributes(this.cursor, {
      "aria-colindex": key + 1,
      "aria-selected": pinned?.query === query && pinned.key === key ? "true" : "false",
      "aria-label": this.read(view, query, key, words.cell, words.hiddenCell),
    });
    this.sentence.classList.toggle("hint", spot === null);
    this.sentence.replaceChildren(...this.sentenceOf(view, spot, head));
  }

  private sentenceOf(view: AttentionView, spot: Spot | null, head: number): (Node | string)[] {
    if (spot === null) return [this.say(words.hint)];
    const key = spot.key ?? strongestKey(view, head, spot.query);
    const hidden = isHidden(view, head, spot.query, key);
    const text = spot.key === null ? words.strongest : hidden ? words.sentenceHidden : words.sentence;
    return phraseNodes(this.speaks, text, {
      query: tokenNode(view.queryTexts[spot.query] as string),
      key: tokenNode(view.keyTexts[key] as string),
      weight: el("b", {}, this.valueText(weightAt(view, head, spot.query, key), hidden)),
      head,
    });
  }

  private read(view: AttentionView, query: number, key: number, visible: Words, hidden: Words): string {
    const head = this.shownHead;
    return this.say(isHidden(view, head, query, key) ? hidden : visible, {
      query: labelText(view.queryTexts[query] as string),
      key: labelText(view.keyTexts[key] as string),
      weight: this.valueText(weightAt(view, head, query, key), false),
      head,
    });
  }

  private drawFoot({ codes, version, scale, top, hasHidden, rowsSum }: Encoding, { plot }: HeatLayout): void {
    const { ramp } = this.looks as NonNullable<typeof this.looks>;
    const { controls: choice, hasDots } = this;
    const say = (text: Words, values?: Readonly<Record<string, string | number>>) => this.say(text, values);
    this.legend.update({ ramp, scale, top, hasHidden, rowsSum, hasDots, choice, say });
    const most = viewport.maxZoom(plot);
    const mapped = Math.max(plot.rows, plot.columns) > MAP_ABOVE && most > 1.01;
    const small = Math.min(plot.cellWidth, plot.cellHeight) < SMALL_CELL && most > 1.01;
    this.tools.hidden = !small && !mapped;
    this.map.node.hidden = !mapped;
    if (mapped) this.map.update(codes, version, ramp, plot, this.window);
    const { zoom } = this.window;
    setAttributes(this.zoomOut, { "aria-label": this.say(words.zoomOut), disabled: zoom <= 1 });
    setAttributes(this.zoomIn, { "aria-label": this.say(words.zoomIn), disabled: zoom >= most });
    setAttributes(this.zoomFit, { disabled: zoom <= 1 });
    setText(this.zoomFit, this.say(words.fit));
  }

  /** Moves the window; the drawing follows in the next frame. */
  private move(next: (plot: viewport.Plot, now: viewport.Viewport) => viewport.Viewport): void {
    if (!this.layout) return;
    const to = next(this.layout.plot, this.window);
    const { zoom, row, column } = this.window;
    if (to.zoom === zoom && to.row === row && to.column === column) return;
    this.window = to;
    this.invalidate("view");
    this.onMove();
  }

  /** Called when the reader has zoomed or moved `window`. */
  protected onMove(): void {}

  private zoomBy(factor: number): void {
    const { spot } = this;
    this.move((plot, now) => {
      const cell = viewport.cellSize(plot, now.zoom);
      const at = { x: ((spot?.key ?? 0) + 0.5 - now.column) * cell.width, y: 0 };
      at.y = ((spot?.query ?? 0) + 0.5 - now.row) * cell.height;
      const inside = spot && spot.key !== null && at.x >= 0 && at.y >= 0 && at.x <= plot.width && at.y <= plot.height;
      return viewport.zoomAt(plot, now, factor, inside ? at.x : plot.width / 2, inside ? at.y : plot.height / 2);
    });
  }

  private lookAround(row: number, column: number): void {
    this.move((plot, now) => {
      const zoom = now.zoom > 1 ? now.zoom : READABLE / Math.min(plot.cellWidth, plot.cellHeight);
      return viewport.centerOn(plot, viewport.clampViewport(plot, { ...now, zoom }), row, column);
    });
  }

  private cellUnder(x: number, y: number): Spot | null {
    return this.layout && viewport.cellAt(this.layout.plot, this.window, x, y);
  }

  private lookAt(spot: Spot | null): void {
    if (spot?.query === this.hovered?.query && spot?.key === this.hovered?.key) return;
    this.hovered = spot;
    this.preview(spot);
  }

  private tap(spot: Spot | null, touch: boolean): void {
    if (!spot) return;
    this.tapping = true;
    this.cursor.focus({ preventScroll: true });
    this.tapping = false;
    const { spot: now } = this;
    if (touch && (now?.query !== spot.query || now.key !== spot.key)) this.lookAt(spot);
    else this.pick(spot);
  }

  private chooseScale(scale: HeatScale): void {
    this.scale = scale;
    this.dispatchEvent(new CustomEvent("scale", { detail: { scale }, bubbles: true, composed: true }));
  }

  private onFocus(): void {
    // A click focuses too, and says itself which cell it means.
    if (this.tapping || !this.cursor.matches(":focus-visible")) return;
    const { spot } = this;
    if (!spot || spot.key === null) this.lookAt({ query: spot?.query ?? 0, key: 0 });
  }

  private onKey(event: KeyboardEvent): void {
    const { view, spot } = this;
    const command = view && heatCommand(event, spot, view.queries, view.keys);
    if (!view || !command) return;
    event.preventDefault();
    switch (command.do) {
      case "move":
        this.lookAt({ query: command.query, key: command.key });
        this.move((plot, now) => viewport.reveal(plot, now, command.query, command.key));
        setText(this.live, this.read(view, command.query, command.key, words.spoken, words.hiddenCell));
        break;
      case "pick":
        this.pick({ query: spot?.query ?? 0, key: spot?.key ?? 0 });
        break;
      case "unpin":
        this.pick(null);
        break;
      case "zoom":
        this.zoomBy(command.factor);
        break;
      case "fit":
        this.fit();
        break;
      case "head":
        this.turnTo(Math.max(0, Math.min(view.heads - 1, this.shownHead + command.by)));
        break;
    }
  }

  protected turnTo(head: number): void {
    if (this.head === null) this.state.set({ heads: [head] });
    else this.head = head;
  }
}
