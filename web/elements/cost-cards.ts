/** <cost-cards>: what the layer costs, in exact numbers: parameters, FLOPs, score memory, keys and values to keep. */

import type { AttentionConfig } from "headscope";
import { cost } from "headscope";
import { say } from "../i18n/index.js";
import { el } from "./dom.js";
import { formatBytes, formatCount, formatInteger } from "./format.js";

export class CostCards extends HTMLElement {
  /** @param model whether the layer is one of a model, which may have fewer K/V heads, and biases. */
  update(config: AttentionConfig, tokens: number, model = false): void {
    const { dModel, numHeads } = config;
    const numKVHeads = config.numKVHeads ?? numHeads;
    const headDim = config.headDim ?? dModel / numHeads;
    const { total: parameters } = cost.parameters(config);
    const { total: flops } = cost.flops({ ...config, T: tokens });
    const scores = cost.scoreBytes({ numHeads, T: tokens, bytesPerElement: 4 });
    const { bytesPerToken } = cost.kvCache({ layers: 1, numKVHeads, headDim, bytesPerElement: 4 });
    this.replaceChildren(
      card(formatInteger(parameters), say(model ? "cost.parametersModel" : "cost.parameters", { d: dModel })),
      card(formatCount(flops), say(model ? "cost.flopsModel" : "cost.flops", { tokens }), formatInteger(flops)),
      card(formatBytes(scores), say("cost.scores", { heads: numHeads, tokens }), `${formatInteger(scores)} B`),
      card(formatBytes(bytesPerToken), say("cost.cache"), `${formatInteger(bytesPerToken)} B`),
    );
  }
}

function card(figure: string, words: string, exact?: string): HTMLElement {
  return el(
    "div",
    { class: "card cost" },
    el("b", { class: "figure", title: exact ?? figure }, figure),
    el("span", {}, words),
  );
}
