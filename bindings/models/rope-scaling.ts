import type { ModelTensors } from "./model-tensors.js";
import type { RopePlan } from "./plan.js";
import type { Key, Settings } from "./settings.js";

const DIMS: Key = { gguf: "rope.dimension_count", json: [] };
const BASE: Key = { gguf: "rope.freq_base", json: ["rope_theta"] };
const TYPE: Key = { gguf: "rope.scaling.type", json: ["rope_scaling", "rope_parameters"] };
const FACTOR: Key = { gguf: "rope.scaling.factor", json: [] };
const PART: Key = { json: ["partial_rotary_factor"] };
const FREQUENCIES = "rope_freqs.weight";

/** Rotary positions, with the scalings that only divide frequencies: "linear", and "llama3" of Llama 3.1 and later. */
export function readRope(tensors: ModelTensors, settings: Settings, headDim: number): Omit<RopePlan, "pairing"> {
  settings.refuse(PART, [1]);
  const dims = settings.count(DIMS, headDim);
  if (dims > headDim || dims % 2 !== 0) throw settings.wrong(DIMS, `an even number up to ${headDim}`, dims);
  const said = settings.value(TYPE);
  // config.json has an object; since Transformers 5 the base is in it too.
  const scaling = typeof said === "object" && said !== null ? (said as Scaling) : undefined;
  const base = settings.positive(BASE, numberOf(scaling?.rope_theta) ?? 10000);
  const type = scaling === undefined ? said : (scaling.rope_type ?? scaling.type);
  // The converter to GGUF has worked "llama3" out already.
  if (tensors.has(FREQUENCIES) && type !== "linear") {
    return { dims, base, factors: tensors.use(FREQUENCIES, [dims / 2]) };
  }
  switch (type) {
    case undefined:
    case "none":
    case "default":
      return { dims, base };
    case "linear": {
      const factor = scaling === undefined ? settings.positive(FACTOR) : numberOf(scaling.factor);
      if (factor === undefined) break;
      return { dims, base, factors: new Array<number>(dims / 2).fill(factor) };
    }
    case "llama3": {
      const factors = scaling && llama3Factors(dims, base, scaling);
      if (factors === undefined) break;
      return { dims, base, factors };
    }
  }
  const known = type === "linear" || type === "llama3";
  const expected = known ? `all numbers of "${type}"` : 'no scaling of rotary positions, "linear" or "llama3"';
  throw settings.wrong(TYPE, expected, type, known ? "format" : "unsupported");
}

/** config.json's rope_scaling. */
interface Scaling {
  readonly rope_theta?: unknown;
  readonly rope_type?: unknown;
  readonly type?: unknown;
  readonly factor?: unknown;
  readonly low_freq_factor?: unknown;
  readonly high_freq_factor?: unknown;
  readonly original_max_position_embeddings?: unknown;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : undefined;
}

/**
 * Long waves turn `factor` times more slowly, short ones as before, and those between in between (Llama 3.1's
 * apply_scaling). undefined where a number is missing.
 */
function llama3Factors(dims: number, base: number, scaling: Scaling): number[] | undefined {
  const factor = numberOf(scaling.factor);
  const low = numberOf(scaling.low_freq_factor);
  const high = numberOf(scaling.high_freq_factor);
  const context = numberOf(scaling.original_max_position_embeddings);
  if (factor === undefined || low === undefined || high === undefined || context === undefined) return undefined;
  return Array.from({ length: dims / 2 }, (_, i) => {
    const wave = 2 * Math.PI * base ** ((2 * i) / dims);
    if (wave < context / high) return 1;
    if (wave > context / low) return factor;
    const share = (context / wave - low) / (high - low);
    return 1 / ((1 - share) / factor + share);
  });
}
