/**
 * <head-matrix>: one head large, rows are queries, columns are keys, tokens on both axes, numbers where they fit.
 * Events: `preview` {query, key} or {query: null} when the pointer leaves, `pick` {query, key}, `unpin`.
 *
 * The cells are pixels of one canvas. For the keyboard and for screen readers there is a single grid cell that lies over
 * the cell it stands for and moves with the arrows: 512 × 512 real cells would stop the page.
 */

import { say } from "../i18n/index.js";
import type { AttentionView, Scale, Spot } from "./attention-view.js";
import { domainTop, isHidden, weightAt } from "./attention-view.js";
import { AxisLabels } from "./axis-labels.js";
import { darkTheme, el, pixelRatio, place, setAttributes, setStyle, setText } from "./dom.js";
import { formatCell, formatWeight } from "./format.js";
import { paintHead } from "./paint.js";
import type { Rgb } from "./ramp.js";
import { css, ramp, rampIndex } from "./ramp.js";
import { labelText } from "./token-label.js";

export interface HeadMatrixState {
  readonly view: AttentionView;
  readonly head: number;
  readonly scale: Scale;
  readonly spot: Spot | null;
  readonly pinned: Spot | null;
}

/** A part of the matrix: `count` rows and columns from the given ones. */
interface Area {
  readonly query: number;
  readonly key: number;
  readonly queries: number;
  readonly keys: number;
}

const MAX_CELL = 92;
const MAX_LABEL = 104;
/** Below this a cell is too small to hit, and the surroundings of the picked one are shown large as well. */
const SMALL_CELL = 12;
const LOUPE = 11;
/** Lines of label text need this much from one to the next. */
const LABEL_LINE = 11;
/** Column labels lean; where cells are narrow they stand up more, so that they stay apart. */
const LEAN = 38;
const STEEP = 64;
const STEEP_BELOW = 20;
/** On a phone too: leaning labels would take the width from the cells. */
const NARROW = 420;

function digitsFor(cell: number): 0 | 2 | 3 {
  return cell >= 36 ? 3 : cell >= 20 ? 2 : 0;
}

export class HeadMatrix extends HTMLElement {
  /** Show only this many cells around the spot. */
  loupe = false;
  private readonly canvas = el("canvas", { class: "matrix-canvas", "aria-hidden": "true" });
  private readonly columnBand = el("div", { class: "band" });
  private readonly rowBand = el("div", { class: "band" });
  private readonly pin = el("div", { class: "pin" });
  private readonly cell = el("div", { role: "gridcell", class: "cursor", tabindex: 0 });
  private readonly row = el("div", { role: "row" }, this.cell);
  private readonly grid = el("div", { role: "grid", class: "matrix-grid" }, this.row);
  private readonly field = el(
    "div",
    { class: "matrix-field" },
    this.canvas,
    this.columnBand,
    this.rowBand,
    this.pin,
    this.grid,
  );
  private readonly corner = el("div", { class: "matrix-corner" });
  private readonly columnLabels = new AxisLabels("matrix-columns", "left");
  private readonly rowLabels = new AxisLabels("matrix-rows", "top");
  private state: HeadMatrixState | null = null;
  private area: Area | null = null;
  private size = 0;
  private slant = 0;
  private drawn = "";
  private drawnView: AttentionView | null = null;
  private family = "";
  private screen = { display: 0, ratio: 1 };
  private measured: { texts: readonly string[]; width: number } | null = null;
  /** Kept by the observer: asking the page for it at every move of the pointer would force a layout each time. */
  private width = 0;
  private readonly resized = new ResizeObserver(([entry]) => {
    const width = Math.floor(entry?.contentRect.width ?? 0);
    if (width === this.width) return;
    this.width = width;
    this.screen = { display: 0, ratio: 1 };
    if (this.state) this.update(this.state);
  });

  connectedCallback(): void {
    if (!this.field.isConnected) this.append(this.corner, this.columnLabels.node, this.rowLabels.node, this.field);
    this.resized.observe(this);
    this.field.addEventListener("pointermove", (event) => this.point(event, "preview"));
    this.field.addEventListener("pointerleave", () => this.emit("preview", { query: null }));
    this.field.addEventListener("click", (event) => this.point(event, "pick"));
    this.cell.addEventListener("keydown", (event) => this.onKey(event));
    this.cell.addEventListener("focus", () => this.onFocus());
    this.cell.addEventListener("blur", () => this.emit("preview", { query: null }));
  }

  disconnectedCallback(): void {
    this.resized.disconnect();
  }

  update(state: HeadMatrixState): void {
    this.state = state;
    if (this.width === 0) this.width = this.clientWidth;
    const width = this.width;
    if (width === 0) return;
    const area = this.chooseArea(state);
    this.area = area;
    const labelWidth = this.labelWidth(state.view, width, area);
    const columns = Math.max(area.keys, 1);
    const rows = Math.max(area.queries, 1);
    const room = width - labelWidth - 8;
    const steep = width < NARROW || room / Math.max(columns, rows) < STEEP_BELOW;
    const slant = ((steep ? STEEP : LEAN) * Math.PI) / 180;
    this.slant = slant;
    // The last label leans over the right edge.
    const over = Math.min(labelWidth * Math.cos(slant), steep ? 30 : 48);
    const cell = Math.min(MAX_CELL, (room - over) / Math.max(columns, rows));
    const fieldWidth = Math.floor(cell * columns);
    const fieldHeight = Math.floor(cell * rows);
    this.size = cell;
    setStyle(this, "--slant", `${steep ? -STEEP : -LEAN}deg`);
    setStyle(this, "--label-size", cell < 14 ? "10px" : "12px");
    const labelHeight = Math.ceil(labelWidth * Math.sin(slant) + 30);
    place(this.field, { left: labelWidth + 8, top: labelHeight, width: fieldWidth, height: fieldHeight });
    place(this.columnLabels.node, { left: labelWidth + 8, top: 0, width: fieldWidth, height: labelHeight });
    place(this.rowLabels.node, { left: 0, top: labelHeight, width: labelWidth, height: fieldHeight });
    setStyle(this, "height", `${labelHeight + fieldHeight + 2}px`);
    setText(this.corner, say("detail.axes"));
    this.drawField(state, area, fieldWidth, fieldHeight);
    this.drawLabels(state, area, labelWidth);
    this.drawSpot(state, area, fieldWidth, fieldHeight);
    this.describe(state);
  }

  /** True when single cells are too small to hit. */
  get cramped(): boolean {
    return this.size < SMALL_CELL;
  }

  /** Whether the cells are large enough for their numbers. */
  get numbered(): boolean {
    return digitsFor(this.size) > 0;
  }

  private chooseArea({ view, spot }: HeadMatrixState): Area {
    if (!this.loupe) return { query: 0, key: 0, queries: view.queries, keys: view.keys };
    const queries = Math.min(LOUPE, view.queries);
    const keys = Math.min(LOUPE, view.keys);
    const around = (at: number, count: number, total: number) =>
      Math.max(0, Math.min(total - count, at - Math.floor(count / 2)));
    return {
      query: around(spot?.query ?? 0, queries, view.queries),
      key: around(spot?.key ?? spot?.query ?? 0, keys, view.keys),
      queries,
      keys,
    };
  }

  private labelWidth(view: AttentionView, available: number, area: Area): number {
    const most = Math.min(MAX_LABEL, available * 0.26);
    if (area.queries > 60) return Math.min(64, most);
    if (this.measured?.texts !== view.queryTexts) {
      const context = this.canvas.getContext("2d");
      let width = 28;
      if (context) {
        context.font = `12px ${getComputedStyle(this.rowLabels.node).fontFamily}`;
        const texts = view.queries <= 60 ? [...view.queryTexts, ...view.keyTexts] : [];
        for (const text of texts) width = Math.max(width, context.measureText(labelText(text)).width + 4);
        if (texts.length === 0) width = 80;
      }
      this.measured = { texts: view.queryTexts, width: Math.ceil(width) };
    }
    return Math.min(most, this.measured.width);
  }

  private drawField(state: HeadMatrixState, area: Area, width: number, height: number): void {
    const { view, head, scale } = state;
    const dark = darkTheme();
    if (this.screen.display !== window.devicePixelRatio) {
      this.screen = { display: window.devicePixelRatio, ratio: pixelRatio(this) };
    }
    const { ratio } = this.screen;
    const stamp = [head, scale, dark, ratio, width, height, area.query, area.key, area.queries, area.keys].join();
    if (this.drawn === stamp && this.drawnView === view) return;
    this.drawn = stamp;
    this.drawnView = view;
    const colors = ramp(dark ? "dark" : "light");
    const top = domainTop(view, head, scale);
    const cell = this.size;
    place(this.canvas, { width, height });
    if (cell < 8) {
      // One pixel a cell, or the greatest weight of several: the browser enlarges it without smoothing.
      paintHead(this.canvas, view, head, { top, ramp: colors, maxPixels: Math.floor(Math.max(width, height) * ratio) });
      return;
    }
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const context = this.canvas.getContext("2d");
    if (!context) return;
    context.scale(ratio, ratio);
    const gap = cell >= 16 ? 1 : 0;
    const digits = digitsFor(cell);
    this.family ||= getComputedStyle(this).fontFamily;
    context.font = `${cell >= 44 ? 11 : cell >= 36 ? 10.5 : 9}px ${this.family}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (let r = 0; r < area.queries; r++) {
      for (let c = 0; c < area.keys; c++) {
        const query = area.query + r;
        const key = area.key + c;
        if (isHidden(view, head, query, key)) continue;
        const weight = weightAt(view, head, query, key);
        const entry = rampIndex(weight, top);
        const x = Math.round(c * cell * ratio) / ratio;
        const y = Math.round(r * cell * ratio) / ratio;
        const w = Math.round((c + 1) * cell * ratio) / ratio - x - gap;
        const h = Math.round((r + 1) * cell * ratio) / ratio - y - gap;
        if (gap) {
          // The lines between visible cells are paper; the hatch behind belongs to hidden ones only.
          context.fillStyle = css(colors.colors[0] as Rgb);
          context.fillRect(x, y, w + gap, h + gap);
        }
        context.fillStyle = entry < 0 ? colors.accent : css(colors.colors[entry] as Rgb);
        context.fillRect(x, y, w, h);
        if (!digits) continue;
        const text = formatCell(weight, digits);
        context.fillStyle = colors.ink[Math.max(0, entry)] as string;
        context.globalAlpha = text === "·" ? 0.65 : 1;
        context.fillText(text, x + w / 2, y + h / 2 + 0.5);
        context.globalAlpha = 1;
      }
    }
  }

  private drawLabels({ view, spot }: HeadMatrixState, area: Area, labelWidth: number): void {
    const { size } = this;
    const rowStep = Math.max(1, Math.ceil(LABEL_LINE / size));
    // Slanted lines are nearer to each other than their cells are.
    const columnStep = Math.max(1, Math.ceil((LABEL_LINE - 1) / (size * Math.sin(this.slant))));
    const { queryTexts, keyTexts } = view;
    this.rowLabels.update(
      { texts: queryTexts, first: area.query, count: area.queries, size, step: rowStep, longest: labelWidth },
      spot?.query ?? null,
    );
    this.columnLabels.update(
      { texts: keyTexts, first: area.key, count: area.keys, size, step: columnStep, longest: labelWidth + 2 },
      spot?.key ?? null,
    );
  }

  private drawSpot({ spot, pinned }: HeadMatrixState, area: Area, width: number, height: number): void {
    const inside = (at: number | null | undefined, first: number, count: number): at is number =>
      at !== null && at !== undefined && at >= first && at < first + count;
    const rowOn = spot !== null && inside(spot.query, area.query, area.queries);
    const columnOn = spot !== null && inside(spot.key, area.key, area.keys);
    this.rowBand.hidden = !rowOn;
    this.columnBand.hidden = !columnOn;
    const cell = this.size;
    if (rowOn) place(this.rowBand, { left: 0, top: (spot.query - area.query) * cell, width, height: cell });
    if (columnOn)
      place(this.columnBand, { left: ((spot.key as number) - area.key) * cell, top: 0, width: cell, height });
    // Around tiny cells the ring keeps a size that can be seen.
    const ring = Math.max(cell, 9);
    const ringAt = (node: HTMLElement, query: number, key: number) =>
      place(node, {
        left: (key - area.key + 0.5) * cell - ring / 2 - 1,
        top: (query - area.query + 0.5) * cell - ring / 2 - 1,
        width: ring + 1,
        height: ring + 1,
      });
    const pinOn =
      pinned !== null && inside(pinned.query, area.query, area.queries) && inside(pinned.key, area.key, area.keys);
    this.pin.hidden = !pinOn;
    if (pinOn) ringAt(this.pin, pinned.query, pinned.key as number);
    const query = rowOn ? spot.query : area.query;
    const key = columnOn ? (spot.key as number) : area.key;
    ringAt(this.cell, query, key);
    this.cell.classList.toggle("shown", rowOn && columnOn);
  }

  private describe({ view, head, spot, pinned }: HeadMatrixState): void {
    const query = spot?.query ?? 0;
    const key = spot?.key ?? 0;
    setAttributes(this.grid, {
      "aria-label": say("detail.grid", { head }),
      "aria-rowcount": view.queries,
      "aria-colcount": view.keys,
    });
    setAttributes(this.row, { "aria-rowindex": query + 1 });
    setAttributes(this.cell, {
      "aria-colindex": key + 1,
      "aria-selected": pinned?.query === query && pinned.key === key ? "true" : "false",
      "aria-label": say("detail.cell", {
        query: labelText(view.queryTexts[query] ?? ""),
        key: labelText(view.keyTexts[key] ?? ""),
        weight: formatWeight(weightAt(view, head, query, key), isHidden(view, head, query, key)),
      }),
    });
  }

  private point(event: MouseEvent, type: "preview" | "pick"): void {
    const area = this.area;
    if (!area || !this.state) return;
    const box = this.field.getBoundingClientRect();
    const row = Math.floor(((event.clientY - box.top) / box.height) * area.queries);
    const column = Math.floor(((event.clientX - box.left) / box.width) * area.keys);
    if (row < 0 || column < 0 || row >= area.queries || column >= area.keys) return;
    this.emit(type, { query: area.query + row, key: area.key + column });
  }

  private onFocus(): void {
    // A click focuses too, and says itself which cell it means.
    if (!this.cell.matches(":focus-visible")) return;
    const { spot } = this.state ?? {};
    if (this.state && (!spot || spot.key === null)) this.emit("preview", { query: spot?.query ?? 0, key: 0 });
  }

  private onKey(event: KeyboardEvent): void {
    const state = this.state;
    if (!state || event.altKey || event.metaKey) return;
    const { view, spot } = state;
    let query = spot?.query ?? 0;
    let key = spot?.key ?? 0;
    switch (event.key) {
      case "ArrowRight":
        key++;
        break;
      case "ArrowLeft":
        key--;
        break;
      case "ArrowDown":
        query++;
        break;
      case "ArrowUp":
        query--;
        break;
      case "Home":
        key = 0;
        if (event.ctrlKey) query = 0;
        break;
      case "End":
        key = view.keys - 1;
        if (event.ctrlKey) query = view.queries - 1;
        break;
      case "PageDown":
        query += 10;
        break;
      case "PageUp":
        query -= 10;
        break;
      case "Enter":
      case " ":
        event.preventDefault();
        this.emit("pick", { query, key });
        return;
      case "Escape":
        this.emit("unpin", {});
        return;
      default:
        return;
    }
    event.preventDefault();
    query = Math.max(0, Math.min(view.queries - 1, query));
    key = Math.max(0, Math.min(view.keys - 1, key));
    this.emit("preview", { query, key, spoken: true });
  }

  private emit(type: string, detail: object): void {
    this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true }));
  }
}
