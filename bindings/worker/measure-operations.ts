// What the worker finds out about weights, heads and models: statistics, curves, reports.
import { inspectPrompt } from "../inspect/prompt.js";
import { ablateHeads, headStats } from "../models/ablation.js";
import { gqaCurve, gqaCurveOfModel } from "../models/gqa.js";
import type { Model } from "../models/model.js";
import { headImportance, loneHeads, pruneCurve } from "../models/prune.js";
import { stats } from "../stats.js";
import { fresh, type Operations, options, reporting, type Work } from "./operations.js";

const asModel = (work: Work) => work.target as Model;

export const MEASURES = {
  "stats.heads": ({ args: [weights, tokenIds] }) => ({ value: stats.heads(weights, tokenIds) }),
  "stats.similarity": ({ args: [weights] }) => fresh(stats.similarity(weights)),
  gqaCurve: ({ hs, args: [config, weights, x, given] }) => ({ value: gqaCurve(hs, config, weights, x, given) }),

  async "model.ablateHeads"(work) {
    const [tokens, heads, given] = work.args;
    return fresh(await ablateHeads(asModel(work), tokens, heads, reporting(work, given)));
  },
  async "model.headStats"(work) {
    return { value: await headStats(asModel(work), work.args[0], reporting(work, work.args[1])) };
  },
  async "model.headImportance"(work) {
    return { value: await headImportance(asModel(work), work.args[0], reporting(work, work.args[1])) };
  },
  async "model.pruneCurve"(work) {
    return { value: await pruneCurve(asModel(work), work.args[0], reporting(work, work.args[1])) };
  },
  async "model.loneHeads"(work) {
    return { value: await loneHeads(asModel(work), work.args[0], reporting(work, work.args[1])) };
  },
  async "model.gqaCurve"(work) {
    return { value: await gqaCurveOfModel(work.hs, asModel(work), work.args[0], options(work, work.args[1])) };
  },
  // Cloned, not transferred: parts of a report may be the inspector's own tables.
  async "model.inspectPrompt"(work) {
    return { value: await inspectPrompt(asModel(work), work.args[0], options(work, work.args[1])) };
  },
} satisfies Operations;
