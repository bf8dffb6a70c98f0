/**
 * The module of this thread behind the asynchronous API of `headscope/worker`, as far as the page's sources use it: their
 * tests need no worker.
 */

import type { AttentionConfig, AttentionWeights, ForwardOptions, Headscope, Tensor } from "headscope";
import { ablateHeads, headImportance, type Model, openModel, pruneCurve } from "headscope/models";
import type { WorkerHeadscope, WorkerModel } from "headscope/worker";

export function inThread(hs: Headscope): WorkerHeadscope {
  const core = {
    version: hs.version,
    variant: hs.variant,
    async multiHeadAttention(config: AttentionConfig, weights: AttentionWeights) {
      const layer = hs.multiHeadAttention(config, weights);
      const forward = async (x: Tensor, { signal: _, ...options }: ForwardOptions & { signal?: AbortSignal } = {}) =>
        layer.forward(x, options);
      return { config: layer.config, forward, dispose: async () => layer.dispose() };
    },
    openModel: async (...[source, options]: Parameters<WorkerHeadscope["openModel"]>) =>
      modelOf(await openModel(hs, source, options)),
  };
  return core as unknown as WorkerHeadscope;
}

function modelOf(model: Model): WorkerModel {
  const { architecture, config, format, name, metadata, tensors } = model;
  const remote: Partial<WorkerModel> = {
    ...{ architecture, config, format, name, metadata, tensors },
    tokenize: async (text) => model.tokenize(text),
    run: (tokens, options) => model.run(tokens, options),
    read: (tensor, options) => model.read(tensor, options),
    ablateHeads: (tokens, heads, options) => ablateHeads(model, tokens, heads, options),
    headImportance: (texts, options) => headImportance(model, texts, options),
    pruneCurve: (texts, options) => pruneCurve(model, texts, options),
    dispose: async () => model.dispose(),
  };
  return remote as WorkerModel;
}
