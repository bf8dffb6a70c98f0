/** Small random models as a visitor has them: with a tokenizer, as GGUF or as safetensors with its two companions. */

import { TOKENIZER_KEYS, VOCABULARY } from "../inspect/files.ts";
import { configJson, ggufModel, safetensorsModel } from "../models/fixtures/model-files.ts";
import { randomModel, type Shape } from "../models/fixtures/random-model.ts";
import { bertTokenizerJson } from "../models/fixtures/vocabularies.ts";

export interface Chosen {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

const chosen = (name: string, content: Uint8Array | string): Chosen => ({
  name,
  mimeType: "",
  buffer: Buffer.from(content as Uint8Array),
});

/** The tokenizer knows all bytes and the words of "How are". */
export function ggufFile(name: string, family: "gpt2" | "llama", change: Partial<Shape> = {}): Chosen {
  const model = randomModel(family, "F32", { vocabulary: VOCABULARY, ...change });
  return chosen(name, ggufModel(model, { keys: TOKENIZER_KEYS }));
}

/** More than the page runs without being asked: a tensor that nobody reads makes up the rest. */
export function largeFile(name: string, family: "gpt2" | "llama", change: Partial<Shape> = {}): Chosen {
  const model = randomModel(family, "F32", { vocabulary: VOCABULARY, ...change });
  const data = new Uint8Array(65 * 2 ** 20);
  const padding = { name: "padding.weight", ne: [1024, data.length / 4096], type: 0, data };
  return chosen(name, ggufModel(model, { keys: TOKENIZER_KEYS, tensors: (tensors) => [...tensors, padding] }));
}

const WORDS = ["▁the", "▁cat", "▁sat", "▁on", "▁mat", "▁because", "▁it", "▁was"];
const BERT_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ...WORDS];

/** model.safetensors, config.json and tokenizer.json of a BERT that knows the page's own sentence. */
export function bertFiles(): readonly [Chosen, Chosen, Chosen] {
  const model = randomModel("bert", "F32", { vocabulary: BERT_TOKENS.length });
  return [
    chosen("model.safetensors", safetensorsModel(model)),
    chosen("config.json", JSON.stringify(configJson(model))),
    chosen("tokenizer.json", JSON.stringify(bertTokenizerJson(BERT_TOKENS))),
  ];
}
