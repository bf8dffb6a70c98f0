import type {
  Ablation,
  GqaPoint,
  HeadRef,
  ImportanceReport,
  LayerHeadStats,
  LayerResult,
  LoneHead,
  Loss,
  MeasureOptions,
  ModelTokens,
  ModelWant,
  PassOptions,
  PruneCurve,
  PruneOptions,
  TensorReadOptions,
  Token,
} from "../models/index.js";
import type { Tensor } from "../types.js";
import { aborted, type Connection, checkSignal } from "./connection.js";
import { Copier } from "./copy.js";
import { Handle, split, splitSignal } from "./handle.js";
import { Lane } from "./lane.js";
import { refuseOut } from "./layer.js";
import type { Operation } from "./operations.js";
import type { Kept } from "./protocol.js";
import type { WorkerModel, WorkerRunOptions } from "./types.js";

type ModelSnapshot = Pick<
  WorkerModel,
  "architecture" | "config" | "format" | "name" | "metadata" | "tensors" | "bytesRead"
>;
type AnyOptions = object | undefined;

/** Ids are all that a pass needs of its tokens. What is no token goes as it is, to be refused. */
function slim(tokens: unknown): unknown {
  if (!Array.isArray(tokens)) return tokens;
  return Array.from(tokens, (token: unknown) =>
    typeof token === "object" && token !== null ? { id: (token as Partial<Token>).id } : token,
  );
}

const slimAll = (texts: unknown): unknown => (Array.isArray(texts) ? Array.from(texts, slim) : texts);

export class RemoteModel extends Handle implements WorkerModel {
  declare readonly architecture: WorkerModel["architecture"];
  declare readonly config: WorkerModel["config"];
  declare readonly format: WorkerModel["format"];
  declare readonly name: string;
  declare readonly metadata: WorkerModel["metadata"];
  declare readonly tensors: WorkerModel["tensors"];
  declare readonly bytesRead: number;
  /** For passes; what reads the file alone goes beside them. */
  readonly #passes = new Lane();

  constructor(connection: Connection, kept: Kept<ModelSnapshot>) {
    super(connection, kept, undefined);
    Object.assign(this, kept.snapshot);
    Object.freeze(Object.freeze(this.config).rope);
  }

  tokenize(text: string, options?: Parameters<WorkerModel["tokenize"]>[1]): Promise<Token[]> {
    const { signal, rest } = splitSignal(options);
    return this.call("tokenize", "model.tokenize", { args: { text, options: rest }, signal });
  }

  read(name: string, options?: TensorReadOptions): Promise<Tensor> {
    const { signal, rest } = splitSignal(options);
    return this.call("read", "file.read", { args: { name, options: rest }, signal });
  }

  run<const W extends ModelWant = "weights", const O extends boolean = true>(
    tokens: ModelTokens,
    options?: WorkerRunOptions<W, O>,
  ): AsyncIterableIterator<LayerResult<W, O>> {
    refuseOut(options);
    const { signal, rest } = splitSignal(options);
    // Copied now, so that what the caller does with them before the first step changes nothing.
    const copier = new Copier();
    const args = { tokens: copier.copy("tokens", slim(tokens)), options: copier.copy("options", rest) };
    return new RemoteRun<LayerResult<W, O>>(this.connection, this.id, this.#passes, args, checkSignal(signal));
  }

  loss(tokens: ModelTokens, options?: PassOptions): Promise<Loss> {
    return this.#pass("loss", "model.loss", { tokens: slim(tokens) }, options);
  }

  logits(tokens: ModelTokens, options?: PassOptions): Promise<Tensor> {
    return this.#pass("logits", "model.logits", { tokens: slim(tokens) }, options);
  }

  ablateHeads(tokens: ModelTokens, heads: readonly HeadRef[], options?: MeasureOptions): Promise<Ablation> {
    return this.#pass("ablateHeads", "model.ablateHeads", { tokens: slim(tokens), heads }, options);
  }

  headStats(tokens: ModelTokens, options?: MeasureOptions): Promise<LayerHeadStats[]> {
    return this.#pass("headStats", "model.headStats", { tokens: slim(tokens) }, options);
  }

  headImportance(texts: readonly ModelTokens[], options?: MeasureOptions): Promise<ImportanceReport> {
    return this.#pass("headImportance", "model.headImportance", { texts: slimAll(texts) }, options);
  }

  pruneCurve(texts: readonly ModelTokens[], options?: PruneOptions): Promise<PruneCurve> {
    return this.#pass("pruneCurve", "model.pruneCurve", { texts: slimAll(texts) }, options);
  }

  loneHeads(texts: readonly ModelTokens[], options?: MeasureOptions): Promise<LoneHead[]> {
    return this.#pass("loneHeads", "model.loneHeads", { texts: slimAll(texts) }, options);
  }

  gqaCurve(tokens: ModelTokens, options?: Parameters<WorkerModel["gqaCurve"]>[1]): Promise<GqaPoint[]> {
    return this.#pass("gqaCurve", "model.gqaCurve", { tokens: slim(tokens) }, options);
  }

  inspectPrompt(
    ...[prompt, options]: Parameters<WorkerModel["inspectPrompt"]>
  ): ReturnType<WorkerModel["inspectPrompt"]> {
    return this.#pass("inspectPrompt", "model.inspectPrompt", { prompt }, options);
  }

  #pass<T>(name: string, operation: Operation, args: Record<string, unknown>, options: AnyOptions): Promise<T> {
    const { signal, onProgress, rest } = split(options);
    return this.call(name, operation, { args: { ...args, options: rest }, lane: this.#passes, signal, onProgress });
  }
}

/** Layers as the loop asks for them. The iterator in the worker is made by the first step. */
class RemoteRun<T> implements AsyncIterableIterator<T> {
  readonly #connection: Connection;
  readonly #model: number;
  readonly #lane: Lane;
  readonly #signal: AbortSignal | undefined;
  #args: Record<string, unknown> | undefined;
  #run: Promise<number> | undefined;
  #ended = false;

  constructor(
    connection: Connection,
    model: number,
    lane: Lane,
    args: Record<string, unknown>,
    signal: AbortSignal | undefined,
  ) {
    this.#connection = connection;
    this.#model = model;
    this.#lane = lane;
    this.#args = args;
    this.#signal = signal;
  }

  async next(): Promise<IteratorResult<T>> {
    if (this.#ended) return { done: true, value: undefined };
    try {
      const signal = this.#signal;
      if (signal?.aborted) throw aborted("run", signal);
      this.#run ??= this.#start();
      const target = await this.#run;
      const step = await this.#connection.call<IteratorResult<T>>("run", "run.next", {
        target,
        lane: this.#lane,
        signal,
      });
      if (step.done) this.#ended = true;
      return step;
    } catch (error) {
      this.#stop();
      throw error;
    }
  }

  async return(value?: unknown): Promise<IteratorResult<T>> {
    this.#stop();
    return { done: true, value };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #start(): Promise<number> {
    const args = this.#args;
    this.#args = undefined;
    const { kept } = await this.#connection.call<Kept<undefined>>("run", "model.run", { target: this.#model, args });
    return kept;
  }

  /** Whatever ended the loop: the worker lets go of its iterator, which reads nothing more. */
  #stop(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#run?.then(
      (run) => this.#connection.drop(run),
      () => undefined,
    );
  }
}
