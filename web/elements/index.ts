/**
 * `headscope/elements`: attention heads as elements for anyone's page. Plain custom elements, no framework, no global.
 *
 *     import { defineElements, ViewState } from "headscope/elements";
 *     defineElements();
 */

export type { Spot } from "./attention-view.js";
export { CostBills, type CostConfig } from "./cost-bills.js";
export { defineElements, type ElementName } from "./define.js";
export { type CompareSide, HeadCompare } from "./head-compare.js";
export type { NestedNumbers, TensorLike } from "./head-data.js";
export { type AblateDetail, HeadElement, type SpotDetail } from "./head-element.js";
export { type HeadCaption, HeadGrid } from "./head-grid.js";
export { HeadHeatmap } from "./head-heatmap.js";
export { HeadLines } from "./head-lines.js";
export type { HeatScale } from "./scale.js";
export { ScopeElement } from "./scope-element.js";
export { ShapeTrace } from "./shape-trace.js";
export type { ElementEvents, ElementProperties, ElementTags } from "./tags.js";
export { TokenStrip } from "./token-strip.js";
export { ViewState, type ViewValues } from "./view-state.js";
