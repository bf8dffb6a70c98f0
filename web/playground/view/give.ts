/** Gives the page's view to an element, when it is another one than before: setting it is telling it to draw. */

import type { AttentionView } from "../../elements/attention-view.js";
import type { HeadElement } from "../../elements/head-element.js";

const given = new WeakMap<HeadElement, { view: AttentionView | null; texts: readonly string[] }>();

/** @param texts of the rows, where there is no view yet */
export function give(
  element: HeadElement,
  view: AttentionView | null,
  texts: readonly string[] = view?.queryTexts ?? [],
): void {
  const before = given.get(element);
  if (before?.view === view && before?.texts === texts) return;
  given.set(element, { view, texts });
  element.tokens = texts;
  if (!view) {
    element.weights = null;
    return;
  }
  const { heads, queries, keys, weights, scores, hidden } = view;
  const shape = [heads, queries, keys];
  element.weights = { data: weights, shape };
  element.scores = scores && { data: scores, shape };
  element.masked = scores ? null : (hidden ?? null);
}
