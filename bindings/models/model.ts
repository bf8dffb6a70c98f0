import { Call, execute } from "../call.js";
import { checkNames, checkObject } from "../check.js";
import { resolveConfig } from "../config.js";
import { wrongType } from "../errors.js";
import { Instance } from "../headscope.js";
import type { Handle, Heap } from "../heap.js";
import { readOptions, wantsTrace } from "../options.js";
import { disposeSymbol } from "../symbols.js";
import { traceLayer } from "../trace.js";
import type { AttentionResult, Headscope, ResolvedConfig, Tensor, TraceStep } from "../types.js";
import { throwIfAborted } from "./abort.js";
import { planModel } from "./architecture.js";
import type { BlockPart } from "./block.js";
import type { FileSource } from "./byte-source.js";
import { decoderOf } from "./decode.js";
import { embed } from "./embed.js";
import { eachLogits, RowLosses } from "./head.js";
import type { TensorInfo } from "./header.js";
import { type OpenOptions, openFile } from "./open.js";
import type { BlockPlan, ModelPlan } from "./plan.js";
import {
  type CheckedRun,
  checkLossTokens,
  checkPass,
  checkRun,
  type LayerResult,
  type ModelWant,
  noHead,
  type PassOptions,
  type RunOptions,
} from "./run-options.js";
import { readConfig } from "./settings.js";
import type { FileFormat, TensorReader, TensorReadOptions } from "./tensor-file.js";
import type { TextTokenizer, Token, TokenizeOptions } from "./token.js";
import { readTokenizer } from "./tokenizer.js";
import { nextTurn } from "./turn.js";
import { type BorrowedBlock, Weights } from "./weights.js";

export interface OpenModelOptions extends OpenOptions {
  /**
   * The model's tokenizer.json, as an object or as text. Default: what a GGUF file says itself; safetensors files say
   * nothing, and without this `tokenize` is refused.
   */
  readonly tokenizer?: unknown;
  /**
   * The model's config.json, as an object or as text, for safetensors: these files do not say how many heads there are.
   * An object with only what is missing, `{ n_head: 12 }`, will do. GGUF files say it all and this is not looked at.
   */
  readonly config?: unknown;
}

/**
 * Sizes of a model, and of its layers as `multiHeadAttention` takes them. Where rotary frequencies are scaled (Llama 3.1),
 * `rope` does not show it; `run` follows it.
 */
export type ModelConfig = ResolvedConfig & {
  readonly layers: number;
  /** Tokens at most; Infinity where nothing limits them. */
  readonly contextLength: number;
  readonly vocabularySize: number;
};

/** What a model says about the next token. */
export interface Loss {
  /** Mean of −ln p over the tokens after the first, in nats. */
  readonly nats: number;
  /** `[T-1]`: −ln p of each token after the first, given those before it. */
  readonly perToken: Float32Array;
  /** `[V]`: logits of the token after the last. */
  readonly logits: Tensor;
  /** `[T,D]`: the stream behind the last block. */
  readonly hidden: Tensor;
}

/** A model in a file. Not usable after `dispose()`. */
export interface Model extends Disposable {
  readonly architecture: "gpt2" | "bert" | "llama";
  readonly config: ModelConfig;
  readonly format: FileFormat;
  /** How messages call the file: its name or its address. */
  readonly name: string;
  readonly metadata: ReadonlyMap<string, unknown>;
  readonly tensors: ReadonlyMap<string, TensorInfo>;
  /** Bytes taken from the file or the network so far. */
  readonly bytesRead: number;
  /**
   * A text as the model reads it, with the marks that it puts around texts (`[CLS]`, `[SEP]`, `<s>`). What looks like a
   * mark in the text is text, unless `special` is true. Nothing is cut: `run` refuses more tokens than the context.
   *
   * @throws HeadscopeError `"unsupported"` where there is no tokenizer.
   */
  tokenize(text: string, options?: TokenizeOptions): Token[];
  /**
   * Runs the model and hands out each layer's results in turn. Weights are read when it is their layer's turn and let
   * go again, so that memory holds one block at a time; other work has its turn between blocks. Ending the loop early
   * reads nothing more.
   *
   * @param tokens from `tokenize`, or ids
   * @throws TypeError, RangeError, HeadscopeError `"shape"` (no token, or more than the context) at once; `"format"`,
   * `"unsupported"` (a type, by the name of the tensor), `"memory"`, `"aborted"` or `"disposed"` while it runs.
   */
  run<const W extends ModelWant = "weights", const O extends boolean = true>(
    tokens: readonly Token[] | ArrayLike<number>,
    options?: RunOptions<W, O>,
  ): AsyncIterableIterator<LayerResult<W, O>>;
  /**
   * How well the model foresees each token of a text. The head is read and multiplied in parts.
   *
   * @throws as `run`; HeadscopeError `"unsupported"` for bert, which predicts no next token.
   */
  loss(tokens: readonly Token[] | ArrayLike<number>, options?: PassOptions): Promise<Loss>;
  /** `[V]`: logits of the token after the last. Throws as `loss`. */
  logits(tokens: readonly Token[] | ArrayLike<number>, options?: PassOptions): Promise<Tensor>;
  /** A tensor of the file as float32, or some of its rows. */
  read(name: string, options?: TensorReadOptions): Promise<Tensor>;
  /** Lets go of weights, memory and connections. A run that is under way ends with code `"disposed"`. Idempotent. */
  dispose(): void;
}

/**
 * Opens a model of a known architecture (gpt2, bert, llama and what is built like it) in a GGUF or safetensors file.
 * Reads the header, nothing else.
 *
 * @throws HeadscopeError `"format"`, `"unsupported"` or `"shape"`, which names the part of the file, the tensor or the
 * key; `"aborted"`; TypeError for wrong arguments. Nothing is left open then.
 */
export async function openModel(hs: Headscope, source: FileSource, options: OpenModelOptions = {}): Promise<Model> {
  const heap = Instance.heapOf(hs);
  const given = checkObject("options", options, "an object { tokenizer, config, signal, … }") as OpenModelOptions;
  const { tokenizer, config, ...open } = given;
  const settings = readConfig(config);
  checkNames("options", open as Record<string, unknown>, ["format", "signal", "onProgress", "cache"]);
  const file = await openFile(decoderOf(hs), source, open);
  try {
    const plan = await planModel(file, settings);
    return new FileModel(heap, file, plan, await readTokenizer(file, tokenizer));
  } catch (error) {
    file.dispose();
    throw error;
  }
}

const NOTHING = new Float32Array(0);
const NO_RESULTS = { scoresStage: undefined, out: undefined } as const;

class FileModel implements Model {
  readonly architecture: Model["architecture"];
  readonly config: ModelConfig;
  readonly #heap: Heap;
  readonly #file: TensorReader;
  readonly #plan: ModelPlan;
  readonly #tokenizer: () => TextTokenizer;
  readonly #weights: Weights;
  readonly #life: Handle;

  constructor(heap: Heap, file: TensorReader, plan: ModelPlan, tokenizer: () => TextTokenizer) {
    this.architecture = plan.architecture;
    this.config = configOf(plan);
    this.#heap = heap;
    this.#file = file;
    this.#plan = plan;
    this.#tokenizer = tokenizer;
    this.#weights = new Weights(heap, file, plan, this);
    this.#life = heap.own(this, 1, undefined);
  }

  get format(): FileFormat {
    return this.#file.format;
  }

  get name(): string {
    return this.#file.name;
  }

  get metadata(): ReadonlyMap<string, unknown> {
    return this.#file.metadata;
  }

  get tensors(): ReadonlyMap<string, TensorInfo> {
    return this.#file.tensors;
  }

  get bytesRead(): number {
    return this.#file.bytesRead;
  }

  tokenize(text: string, options: TokenizeOptions = {}): Token[] {
    this.#weights.checkAlive();
    if (typeof text !== "string") throw wrongType("text", "a string", text);
    checkNames("options", checkObject("options", options, "an object { special }"), ["special"]);
    return this.#tokenizer().tokenize(text, options);
  }

  read(name: string, options?: TensorReadOptions): Promise<Tensor> {
    return this.#file.read(name, options);
  }

  run<const W extends ModelWant = "weights", const O extends boolean = true>(
    tokens: readonly Token[] | ArrayLike<number>,
    options?: RunOptions<W, O>,
  ): AsyncIterableIterator<LayerResult<W, O>> {
    this.#weights.checkAlive();
    const run = checkRun(this.#plan, tokens, options);
    // Arrays that do not fit a layer are refused before anything is read.
    for (let layer = 0; run.out !== undefined && layer < run.layers; ++layer) this.#call(run, layer, "whole", NOTHING);
    return this.#layers(run) as AsyncIterableIterator<LayerResult<W, O>>;
  }

  async loss(tokens: readonly Token[] | ArrayLike<number>, options?: PassOptions): Promise<Loss> {
    this.#checkHead();
    const pass = checkPass(this.#plan, tokens, options);
    checkLossTokens(pass.ids);
    const { dModel, vocabularySize } = this.#plan;
    const hidden = await this.#lastHidden(pass);
    const losses = new RowLosses(pass.ids.slice(1));
    const logits = new Float32Array(vocabularySize);
    await eachLogits(this.#weights, hidden, pass, (values, first, count) => {
      losses.add(values, first, count);
      logits.set(values.subarray(values.length - count), first);
    });
    const perToken = losses.nats();
    let sum = 0;
    for (const nats of perToken) sum += nats;
    return {
      nats: sum / perToken.length,
      perToken,
      logits: { data: logits, shape: [vocabularySize] },
      hidden: { data: hidden, shape: [pass.ids.length, dModel] },
    };
  }

  async logits(tokens: readonly Token[] | ArrayLike<number>, options?: PassOptions): Promise<Tensor> {
    this.#checkHead();
    const pass = checkPass(this.#plan, tokens, options);
    const { dModel, vocabularySize } = this.#plan;
    const hidden = await this.#lastHidden(pass);
    const logits = new Float32Array(vocabularySize);
    const last = hidden.subarray(hidden.length - dModel);
    await eachLogits(this.#weights, last, pass, (values, first) => logits.set(values, first));
    return { data: logits, shape: [vocabularySize] };
  }

  #checkHead(): void {
    this.#weights.checkAlive();
    if (this.#plan.head === undefined) throw noHead(this.architecture);
  }

  async #lastHidden(pass: ReturnType<typeof checkPass>): Promise<Float32Array> {
    const layers = this.#plan.blocks.length;
    const run: CheckedRun = { ...pass, layers, want: [], hidden: true, output: false, ...NO_RESULTS };
    let hidden: Tensor | undefined;
    for await (const result of this.#layers(run)) hidden = (result as { hidden: Tensor }).hidden;
    return (hidden as Tensor).data;
  }

  async *#layers(run: CheckedRun): AsyncGenerator<LayerResult> {
    const { keep, signal, layers } = run;
    const weights = this.#weights;
    let x = await embed(weights, run.ids, keep, signal);
    for (let layer = 0; layer < layers; ++layer) {
      const last = layer === layers - 1;
      const block = await weights.block(layer, last ? lastPart(run) : "whole", keep, signal);
      let result: LayerResult;
      try {
        const hidden = last && !run.hidden ? undefined : new Float32Array(x.length);
        result = this.#block(run, layer, block, x, hidden);
        if (hidden !== undefined) x = hidden;
      } finally {
        block.done();
      }
      yield result;
      await nextTurn();
      throwIfAborted(this.name, signal);
      weights.checkAlive();
    }
  }

  #call(run: CheckedRun, layer: number, part: BlockPart, x: Float32Array): Call {
    const { dModel, numHeads, headDim, valueHeadDim, windowLeft, causal } = this.#plan;
    const plan = this.#plan.blocks[layer] as BlockPlan;
    const queries = run.ids.length;
    const width = part === "heads" ? numHeads * valueHeadDim : dModel; // without a projection: the concatenation
    const call = new Call(x);
    call.queries = queries;
    call.newKeys = queries;
    call.keys = queries;
    call.numHeads = numHeads;
    call.numKVHeads = plan.numKVHeads;
    call.headDim = headDim;
    call.valueHeadDim = valueHeadDim;
    call.outDim = dModel;
    call.scale = plan.scale;
    call.outputShape = [queries, width];
    call.outputLength = queries * width;
    call.numerics = run.numerics;
    readOptions(
      call,
      {
        causal,
        want: run.want,
        headMask: run.headMask[layer],
        scoresStage: run.scoresStage,
        window: windowLeft === undefined ? undefined : { left: windowLeft },
        out: run.out,
      },
      0,
    );
    return call;
  }

  #block(run: CheckedRun, layer: number, block: BorrowedBlock, x: Float32Array, hidden: Float32Array | undefined) {
    const call = this.#call(run, layer, block.part, x);
    call.hidden = hidden;
    const result = execute(this.#heap, call, block.native, 0, true) as AttentionResult & { hidden?: Tensor };
    if (wantsTrace(call.wanted))
      result.trace = traceOf(this.config, this.#plan.blocks[layer] as BlockPlan, layer, call);
    if (run.hidden && hidden !== undefined)
      result.hidden = { data: hidden.slice(), shape: [call.queries, this.#plan.dModel] };
    if (!run.output) delete (result as { output?: Tensor }).output;
    return { layer, ...result } as LayerResult;
  }

  dispose(): void {
    this.#heap.release(this.#life);
    this.#weights.dispose();
  }

  [disposeSymbol](): void {
    this.dispose();
  }
}

/** What of the last wanted layer is needed. */
function lastPart(run: CheckedRun): BlockPart {
  if (run.hidden) return "whole";
  return run.output || run.want.includes("contributions") ? "attention" : "heads";
}

function configOf(plan: ModelPlan): ModelConfig {
  const { dModel, numHeads, headDim, valueHeadDim, rope, contextLength, vocabularySize, blocks } = plan;
  const [block] = blocks as readonly [BlockPlan];
  const { numKVHeads, scale } = block;
  const turn = rope && { pairing: rope.pairing, dims: rope.dims, base: rope.base };
  const layer = resolveConfig({ dModel, numHeads, numKVHeads, headDim, valueHeadDim, scale, rope: turn });
  return Object.freeze({ ...layer, layers: blocks.length, contextLength, vocabularySize });
}

/** A layer's steps, under the names that llama.cpp gives them in this block. */
function traceOf(config: ResolvedConfig, plan: BlockPlan, layer: number, call: Call): TraceStep[] {
  const steps = traceLayer({
    config: { ...config, numKVHeads: plan.numKVHeads, scale: plan.scale },
    batch: undefined,
    queries: call.queries,
    newKeys: call.newKeys,
    keys: call.keys,
    cached: false,
    keySource: false,
    valueSource: false,
    fused: plan.query.weight === plan.key.weight,
    bias: { q: plan.query.bias !== undefined, k: plan.key.bias !== undefined, v: plan.value.bias !== undefined },
    outputProjection: true,
    outputBias: plan.output.bias !== undefined,
    softcap: false,
    masked: call.flags !== 0,
    gated: call.headGate !== undefined,
  });
  for (const step of steps) {
    if (step.ggml === undefined) continue;
    const name = step.ggml.name.replace(/-0$/, `-${layer}`).replace("blk.0.", `blk.${layer}.`);
    step.ggml = { ...step.ggml, name };
  }
  return steps;
}
