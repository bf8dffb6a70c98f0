import { type Headscope, HeadscopeError, load } from "headscope";
import { type FileReport, inspectFile, inspectPrompt, type PromptReport } from "headscope/inspect";
import { type Model, openModel, openTensors, type TensorFile } from "headscope/models";
import { openSource, readCompanion } from "./source.js";
import { type InspectCall, UsageError } from "./usage.js";

export interface Inspected {
  readonly file: FileReport;
  readonly prompt: PromptReport | undefined;
  /** Why the file's model cannot be run, where only its header was asked for. */
  readonly refusal: string | undefined;
  readonly bytesRead: number;
}

/** Opens the file, and its model where it is one that can be run. */
export async function inspect(call: InspectCall): Promise<Inspected> {
  // The build that gives the same bits on every machine.
  const hs = await load({ variant: "simd" });
  const source = await openSource(call.file);
  const file = await openTensors(hs, source);
  try {
    return await inspectOpened(hs, source, file, call);
  } finally {
    file.dispose();
  }
}

async function inspectOpened(
  hs: Headscope,
  source: Blob | string,
  file: TensorFile,
  call: InspectCall,
): Promise<Inspected> {
  const asked = call.prompt !== undefined || call.tokens !== undefined;
  // GGUF files say all of it themselves.
  const beside = file.format === "safetensors";
  const companion = async (option: "config" | "tokenizer"): Promise<string | undefined> =>
    beside || call[option] !== undefined ? readCompanion(option, call[option], call.file) : undefined;
  const [config, tokenizer] = [await companion("config"), await companion("tokenizer")];
  let model: Model;
  try {
    model = await openModel(hs, source, { config, tokenizer });
  } catch (error) {
    if (asked || !(error instanceof HeadscopeError)) throw error;
    return { file: inspectFile(file), prompt: undefined, refusal: error.message, bytesRead: file.bytesRead };
  }
  try {
    const prompt = asked ? await runPrompt(model, call) : undefined;
    const bytesRead = file.bytesRead + model.bytesRead;
    return { file: inspectFile(file, model), prompt, refusal: undefined, bytesRead };
  } finally {
    model.dispose();
  }
}

async function runPrompt(model: Model, call: InspectCall): Promise<PromptReport> {
  const { layers, numHeads, contextLength, vocabularySize } = model.config;
  checkBelow("layer", call.layer, layers, "the model's layers");
  checkBelow("head", call.head ?? 0, numHeads, "its heads");
  for (const id of call.tokens ?? []) checkBelow("tokens", id, vocabularySize, "its vocabulary");
  const prompt = call.tokens ?? (call.prompt as string);
  const count = typeof prompt === "string" ? model.tokenize(prompt).length : prompt.length;
  if (count === 0) throw new UsageError("--prompt: expected a text with at least one token, got none");
  if (count > contextLength) {
    throw new UsageError(`--prompt: expected at most ${contextLength} tokens, the model's context, got ${count}`);
  }
  return inspectPrompt(model, prompt, { layer: call.layer, numerics: call.numerics });
}

function checkBelow(name: string, value: number, limit: number, meaning: string): void {
  if (value < limit) return;
  throw new UsageError(`--${name}: expected 0 to ${limit - 1}, ${meaning}, got ${value}`);
}
