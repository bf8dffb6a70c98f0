/** The elements of the page: those of the first picture at once, the others when they are needed. */

import { HeadGrid } from "../elements/head-grid.js";
import { HeadHeatmap } from "../elements/head-heatmap.js";
import { TokenStrip } from "../elements/token-strip.js";
import { busy } from "./busy.js";

export function defineFirst(): void {
  customElements.define("head-grid", HeadGrid);
  customElements.define("head-heatmap", HeadHeatmap);
  customElements.define("token-strip", TokenStrip);
}

const later = {
  "head-compare": async () => (await import("../elements/head-compare.js")).HeadCompare,
  "head-lines": async () => (await import("../elements/head-lines.js")).HeadLines,
  "shape-trace": async () => (await import("../elements/shape-trace.js")).ShapeTrace,
  "cost-bills": async () => (await import("../elements/cost-bills.js")).CostBills,
} satisfies Record<string, () => Promise<CustomElementConstructor>>;

const wanted = new Set<string>();

/**
 * Fetches an element; properties that are set meanwhile are there when it comes. A fetch that fails is told of, and tried
 * again when the network is back or the element is wanted once more.
 */
export async function want(name: keyof typeof later, missed: (error: unknown) => void): Promise<void> {
  if (wanted.has(name)) return;
  wanted.add(name);
  try {
    const fetched: Promise<CustomElementConstructor> = later[name]();
    for (const place of document.querySelectorAll(name)) busy(place, fetched).catch(() => {});
    customElements.define(name, await fetched);
  } catch (error) {
    wanted.delete(name);
    addEventListener("online", () => void want(name, missed), { once: true });
    missed(error);
  }
}

/** Frames until what stands above has its height: before, everything is near the screen. */
const SETTLE = 4;

/** Calls once, when a place comes near the screen. To be called when the first picture is drawn. */
export function whenSeen(place: Element, seen: () => void, frames = SETTLE): void {
  if (frames > 0) {
    requestAnimationFrame(() => whenSeen(place, seen, frames - 1));
    return;
  }
  const near = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      near.disconnect();
      seen();
    },
    { rootMargin: "200px" },
  );
  near.observe(place);
}
