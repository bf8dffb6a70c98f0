import type { Properties } from "../check.js";
import { describe } from "../describe.js";
import { bert } from "./bert.js";
import { fileError, quoted } from "./file-error.js";
import { gpt2 } from "./gpt2.js";
import { llama } from "./llama.js";
import type { ModelFile } from "./model-tensors.js";
import type { ModelPlan } from "./plan.js";
import { Settings } from "./settings.js";

/** A bundler may fetch a family's code when a file of its kind is opened. */
type Family = (file: ModelFile, settings: Settings, kind: string) => ModelPlan | Promise<ModelPlan>;

/** Names of architectures, as GGUF's `general.architecture` and config.json's `model_type` have them. */
const FAMILIES: Readonly<Record<string, Family>> = {
  gpt2,
  bert,
  llama,
  mistral: llama,
  qwen2: llama,
};

/** Finds out what a file holds and where. Looks at its header only. */
export async function planModel(file: ModelFile, config: Properties | undefined): Promise<ModelPlan> {
  const kind = file.format === "gguf" ? kindOfGguf(file) : kindOfSafetensors(file, config);
  const family = Object.hasOwn(FAMILIES, kind) ? FAMILIES[kind] : undefined;
  if (family === undefined) {
    const expected = `a known architecture (${Object.keys(FAMILIES).join(", ")})`;
    const part = file.format === "gguf" ? `key "general.architecture"` : "options.config.model_type";
    throw fileError(file.name, part, expected, quoted(kind), { code: "unsupported" });
  }
  return family(file, new Settings(file, kind, config), kind);
}

function kindOfGguf(file: ModelFile): string {
  const kind = file.metadata.get("general.architecture");
  if (typeof kind === "string") return kind;
  throw fileError(file.name, `key "general.architecture"`, "the name of an architecture", describe(kind));
}

/** What config.json says, else what the names of the tensors tell. */
function kindOfSafetensors(file: ModelFile, config: Properties | undefined): string {
  const said = config?.["model_type"];
  if (typeof said === "string") return said;
  for (const name of file.tensors.keys()) {
    if (/^(transformer\.)?wte\.weight$/.test(name)) return "gpt2";
    if (/^(bert\.)?embeddings\.word_embeddings\.weight$/.test(name)) return "bert";
    if (/^(model\.)?embed_tokens\.weight$/.test(name)) return "llama";
  }
  const expected = `those of a known architecture (${Object.keys(FAMILIES).join(", ")})`;
  const [first] = file.tensors.keys();
  const actual = first === undefined ? "none" : `${file.tensors.size}, ${quoted(first)} first`;
  throw fileError(file.name, "the tensors", expected, actual, {
    code: "unsupported",
    hint: "openTensors reads the tensors of any file",
  });
}
