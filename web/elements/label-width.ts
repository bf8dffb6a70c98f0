import { labelText } from "./token-label.js";

/** So many labels are measured, spread over the text. */
const MEASURED = 200;

/** Pixels of the longest of some token labels, in a CSS font. */
export function longestLabel(context: CanvasRenderingContext2D, texts: readonly string[], font: string): number {
  context.font = font;
  let width = 0;
  const step = Math.max(1, Math.ceil(texts.length / MEASURED));
  for (let i = 0; i < texts.length; i += step) {
    width = Math.max(width, context.measureText(labelText(texts[i] as string)).width);
  }
  return Math.ceil(width);
}
