/** The model that comes with the page: a small GPT-2, trained on this repository's own corpus (web/models). */

import type { WorkerHeadscope } from "headscope/worker";
import { say } from "../../i18n/index.js";
import { ModelSource } from "./model-source.js";

export async function openTiny(core: WorkerHeadscope, bytes: Blob): Promise<ModelSource> {
  const file = new File([bytes], "headscope.gguf");
  const model = await core.openModel(file);
  return new ModelSource(core, model, file, {
    id: "tiny",
    title: () => say("source.tiny"),
    about: () =>
      say("source.tiny.about", {
        layers: model.config.layers,
        heads: model.config.numHeads,
        width: model.config.dModel,
        context: model.config.contextLength,
      }),
  });
}
