// What the worker does with files and the models in them.
import { type Model, openModel } from "../models/model.js";
import { openTensors } from "../models/open.js";
import type { TensorFile } from "../models/tensor-file.js";
import { fresh, type Operations, options, reporting, type Work } from "./operations.js";

const asModel = (work: Work) => work.target as Model;
const asFile = (work: Work) => work.target as TensorFile;

type Run = AsyncIterableIterator<unknown>;

export const MODELS = {
  async openModel(work) {
    const model = await openModel(work.hs, work.args[0], reporting(work, work.args[1]));
    const { architecture, config, format, name, metadata, tensors, bytesRead } = model;
    return { value: work.keep(model, { architecture, config, format, name, metadata, tensors, bytesRead }) };
  },
  async openTensors(work) {
    const file = await openTensors(work.hs, work.args[0], reporting(work, work.args[1]));
    const { format, name, size, version, metadata, metadataTypes, tensors, dataOffset, bytesRead } = file;
    const snapshot = { format, name, size, version, metadata, metadataTypes, tensors, dataOffset, bytesRead };
    return { value: work.keep(file, snapshot) };
  },
  /** Of models too. */
  "file.read": async (work) => fresh(await asFile(work).read(work.args[0], options(work, work.args[1]))),

  "model.tokenize": (work) => ({ value: asModel(work).tokenize(work.args[0], work.args[1]) }),
  /** Makes the iterator; its own signal lives as long as it does, see `run.next`. */
  "model.run"(work) {
    const [tokens, given] = work.args;
    const stop = new AbortController();
    const steps = asModel(work).run(tokens, { ...given, signal: stop.signal });
    return { value: work.keep({ steps, stop, owner: work.id }, undefined) };
  },
  async "run.next"(work) {
    const { steps, stop } = work.target as { steps: Run; stop: AbortController };
    work.signal.addEventListener("abort", () => stop.abort(), { once: true });
    let ended = true;
    try {
      const step = await steps.next();
      ended = step.done === true;
      return fresh(step);
    } finally {
      if (ended) work.drop();
    }
  },
  "model.loss": async (work) => fresh(await asModel(work).loss(work.args[0], options(work, work.args[1]))),
  "model.logits": async (work) => fresh(await asModel(work).logits(work.args[0], options(work, work.args[1]))),
} satisfies Operations;
