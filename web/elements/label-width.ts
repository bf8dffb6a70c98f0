import { labelText } from "./token-label.js";

/** So many labels are measured, spread over the text. */
const MEASURED = 200;

let measuring: { context: CanvasRenderingContext2D | null; font: string } | null = null;

/** Pixels of a token's label in a CSS font. */
export function labelWidth(text: string, font: string): number {
  measuring ??= { context: document.createElement("canvas").getContext("2d"), font: "" };
  const { context } = measuring;
  if (!context) return 0;
  if (measuring.font !== font) {
    measuring.font = font;
    context.font = font;
  }
  return context.measureText(labelText(text)).width;
}

/** Pixels of the longest of some tokens' labels. */
export function longestLabel(texts: readonly string[], font: string): number {
  let width = 0;
  const step = Math.max(1, Math.ceil(texts.length / MEASURED));
  for (let i = 0; i < texts.length; i += step) width = Math.max(width, labelWidth(texts[i] as string, font));
  return Math.ceil(width);
}
