/** Pictures of the laboratories. Each is an image with a name; its numbers stand beside it in words or in a table. */

import { darkTheme, el, setStyle } from "../../elements/dom.js";
import { ramp } from "../../elements/ramp.js";

/** Numbers from 0 to `top` in the ramp's colours, one pixel each; the page enlarges it. */
export function heatPicture(
  values: ArrayLike<number>,
  { rows, columns, top, label, name }: { rows: number; columns: number; top: number; label: string; name: string },
): HTMLCanvasElement {
  const canvas = el("canvas", { class: name, role: "img", "aria-label": label, width: columns, height: rows });
  const context = canvas.getContext("2d");
  if (!context) return canvas;
  const image = context.createImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  const { words } = ramp(darkTheme() ? "dark" : "light");
  for (let i = 0; i < rows * columns; i++) {
    const place = top > 0 ? Math.min(1, Math.max(0, (values[i] as number) / top)) : 0;
    pixels[i] = words[Math.round(place * 255)] as number;
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/** Upright bars, each 0 to 1; the first `filled` are filled. */
export function bars(heights: readonly number[], filled: number, label: string): HTMLElement {
  const row = el("div", { class: "lab-bars", role: "img", "aria-label": label });
  for (const [i, height] of heights.entries()) {
    const bar = el("i", { class: i < filled ? "on" : null });
    setStyle(bar, "height", `${Math.max(1, Math.round(height * 100))}%`);
    row.append(bar);
  }
  return row;
}

/** A lying bar from 0, to the left where it is negative; −1 to 1. */
export function signedBar(share: number): HTMLElement {
  const bar = el("i", { class: share < 0 ? "negative" : null });
  const length = Math.min(1, Math.abs(share)) * 50;
  setStyle(bar, "width", `${length}%`);
  setStyle(bar, share < 0 ? "right" : "left", "50%");
  return el("div", { class: "lab-bar", "aria-hidden": "true" }, bar);
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  ...children: Node[]
): SVGElement {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  node.append(...children);
  return node;
}

/** A table that scrolls inside its own box, reachable by keyboard. */
export function scrollTable(
  caption: string,
  headings: readonly string[],
  rows: readonly (readonly (Node | string)[])[],
  picked: (row: number) => boolean = () => false,
): HTMLElement {
  const body = el("tbody");
  for (const [i, row] of rows.entries()) {
    const [first, ...rest] = row;
    body.append(
      el(
        "tr",
        { "data-picked": picked(i) },
        el("th", { scope: "row" }, first),
        ...rest.map((cell) => el("td", {}, cell)),
      ),
    );
  }
  const top = el("tr", {}, ...headings.map((heading) => el("th", { scope: "col" }, heading)));
  const table = el("table", {}, el("caption", {}, el("span", {}, caption)), el("thead", {}, top), body);
  return el("div", { class: "table-scroll", role: "group", tabindex: 0, "aria-label": caption }, table);
}

/** "1.2e-7", "0.0314", "2.00", "1250": two or three digits, whatever the size. */
export function threeDigits(value: number): string {
  const size = Math.abs(value);
  const plain = size === 0 || (size >= 1e-3 && size < 1e5);
  const written = plain ? (size >= 100 || size === 0 ? size.toFixed(0) : size.toPrecision(3)) : size.toExponential(1);
  return `${value < 0 ? "−" : ""}${written.replace("e+", "e")}`;
}

export function percent(share: number): string {
  if (Number.isNaN(share)) return "—";
  const value = share * 100;
  const written = Math.abs(value) >= 99.95 ? value.toFixed(0) : value.toFixed(1);
  return `${written.replace("-", "−")} %`;
}
