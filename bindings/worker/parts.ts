// The script of the worker in parts, for a page that is built together with it: layers at once, the rest when it is first
// asked for. No entry of the package, whose script is one file (script.ts).
import { listen } from "./listen.js";
import type { MEASURES } from "./measure-operations.js";
import type { MODELS } from "./model-operations.js";
import { LAYERS, type Operation, type Operations } from "./operations.js";

const PARTS = {
  models: async (): Promise<Operations> => (await import("./model-operations.js")).MODELS,
  measures: async (): Promise<Operations> => (await import("./measure-operations.js")).MEASURES,
};

type Part = keyof typeof PARTS;

const PART_OF: Readonly<Record<keyof typeof MODELS, "models"> & Record<keyof typeof MEASURES, "measures">> = {
  openModel: "models",
  openTensors: "models",
  "file.read": "models",
  "model.tokenize": "models",
  "model.run": "models",
  "run.next": "models",
  "model.loss": "models",
  "model.logits": "models",
  "stats.heads": "measures",
  "stats.similarity": "measures",
  gqaCurve: "measures",
  "model.ablateHeads": "measures",
  "model.headStats": "measures",
  "model.headImportance": "measures",
  "model.pruneCurve": "measures",
  "model.loneHeads": "measures",
  "model.gqaCurve": "measures",
  "model.inspectPrompt": "measures",
};

const fetched: Partial<Record<Part, Operations>> = {};

/** A part that could not be fetched is tried again at the next call. */
async function fetchPart(part: Part): Promise<Operations> {
  const operations = await PARTS[part]();
  fetched[part] = operations;
  return operations;
}

function find(operation: Operation): Operations[string] | Promise<Operations[string]> {
  if (operation in LAYERS) return LAYERS[operation as keyof typeof LAYERS];
  const part = PART_OF[operation as keyof typeof PART_OF];
  const operations = fetched[part];
  const pick = (from: Operations) => from[operation] as Operations[string];
  return operations === undefined ? fetchPart(part).then(pick) : pick(operations);
}

listen(find);

// The page expects to open a model, and has it fetched meanwhile. A failure is told to the call that needs the part.
addEventListener("message", ({ data }: MessageEvent<{ headscope?: unknown } | null>) => {
  if (data?.headscope === "models" && fetched.models === undefined) fetchPart("models").catch(() => undefined);
});
