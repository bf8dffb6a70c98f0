/** Layers that tutorials and papers talk about, with the sizes those sources give. */

export interface Preset {
  readonly id: string;
  readonly name: string;
  readonly dModel: number;
  readonly numHeads: number;
  readonly numKVHeads: number;
  readonly headDim: number;
  readonly layers: number;
  /** Longest sequence it was trained for. */
  readonly tokens: number;
}

function preset(id: string, name: string, sizes: readonly number[]): Preset {
  const [dModel, numHeads, numKVHeads, headDim, layers, tokens] = sizes as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  return { id, name, dModel, numHeads, numKVHeads, headDim, layers, tokens };
}

//                                        D      H    G   dk   layers  T
export const PRESETS: readonly Preset[] = [
  // Vaswani et al. 2017, table 3: one stack of six. Both were trained on sentences; 512 is a common cut.
  preset("transformer-base", "Transformer base", [512, 8, 8, 64, 6, 512]),
  preset("transformer-big", "Transformer big", [1024, 16, 16, 64, 6, 512]),
  preset("gpt2-small", "GPT-2 Small", [768, 12, 12, 64, 12, 1024]),
  // Brown et al. 2020, table 2.1.
  preset("gpt3-small", "GPT-3 Small", [768, 12, 12, 64, 12, 2048]),
  preset("gpt3-6.7b", "GPT-3 6.7B", [4096, 32, 32, 128, 32, 2048]),
  preset("gpt3-175b", "GPT-3 175B", [12288, 96, 96, 128, 96, 2048]),
  // Grattafiori et al. 2024, table 3: eight K/V heads at every size.
  preset("llama3-8b", "Llama 3 8B", [4096, 32, 8, 128, 32, 8192]),
  preset("llama3-70b", "Llama 3 70B", [8192, 64, 8, 128, 80, 8192]),
];

export function findPreset(id: string): Preset | undefined {
  return PRESETS.find((each) => each.id === id);
}
