// Compiled, never run: what templates of Vue and Svelte are checked against.
import type { HeadGrid, HeadHeatmap } from "headscope/elements";
import type {} from "headscope/elements/svelte";
import type {} from "headscope/elements/vue";
import type { SvelteHTMLElements } from "svelte/elements";
import type { GlobalComponents } from "vue";
import { tokens, weights } from "./data.js";

export const svelte: SvelteHTMLElements["head-grid"] = {
  weights,
  tokens,
  causal: true,
  class: "heads",
  onpick: (event) => event.detail.head.toFixed(),
};
// @ts-expect-error no such scale
export const wrongSvelte: SvelteHTMLElements["head-heatmap"] = { scale: "cubic" };

type VueProps = InstanceType<GlobalComponents["head-grid"]>["$props"];
export const vue: VueProps = { weights, tokens, causal: true, onPick: (event) => event.detail.head.toFixed() };
// @ts-expect-error tokens are a list
export const wrongVue: VueProps = { tokens: "a b c" };

const grid: HeadGrid = document.createElement("head-grid");
grid.addEventListener("ablate", (event) => event.detail.off === true);
export const map: HeadHeatmap | null = document.querySelector("head-heatmap");
