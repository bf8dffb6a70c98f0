/**
 * What a model loses on one text without some of its heads. Each set of heads is a run of the whole model, a call of its
 * own, so that the picture's own runs have their turn between them; what is known is kept.
 */

import type { Tensor } from "headscope";
import type { WorkerModel } from "headscope/worker";
import { gatesOfLayers, headKey, headPlace } from "../head-key.js";
import { compare } from "./run-layer.js";
import type { Estimate, HeadLosses, Measurement, MeasureOptions, PruneReport, Reading } from "./source.js";

/** A curve of so many steps at most. */
const CURVE = 16;

export interface WorthOptions {
  readonly model: WorkerModel;
  readonly ids: readonly number[];
  readonly keepWeights: boolean;
  /** Milliseconds that a run of the whole model is likely to take, before there has been one; null where nobody knows. */
  readonly guess: number | null;
  /** What a run reads of the file; null where all of it is in memory. */
  readonly reading: Reading | null;
  /** Runs are so short that nobody has to be asked. */
  readonly quick: boolean;
}

/** Nats a token, or the stream behind the last block where there is no next token. */
type Outcome = { readonly nats: number } | { readonly hidden: Tensor };

export class HeadWorth {
  readonly measure: "loss" | "hidden";
  private readonly given: WorthOptions;
  private whole: Outcome | null = null;
  /** By the heads that are out. */
  private readonly costs = new Map<string, number>();
  private readonly timed: number[] = [];

  constructor(given: WorthOptions) {
    this.given = given;
    this.measure = given.model.architecture !== "bert" && given.ids.length > 1 ? "loss" : "hidden";
  }

  /** What is lost without each head of a layer, alone. */
  ofLayer(layer: number): Measurement<HeadLosses> {
    const heads = this.headsOf(layer);
    return {
      ...this.about(() => this.missing(heads)),
      run: async (options) => {
        const report = this.reporter(this.missing(heads), options);
        for (const head of heads) await this.cost([head], report);
        return { measure: this.measure, values: heads.map((head) => this.costs.get(String(head)) as number) };
      },
    };
  }

  /** Heads taken out one after the other, the least important first: of one layer, or of the model for null. */
  curve(layer: number | null): Measurement<PruneReport> {
    const heads =
      layer === null
        ? Array.from({ length: this.given.model.config.layers }, (_, at) => this.headsOf(at)).flat()
        : this.headsOf(layer);
    const steps = Math.min(CURVE, heads.length);
    const counts = Array.from({ length: steps + 1 }, (_, i) => Math.round((i * heads.length) / steps));
    const passes = () => {
      const singles = this.missing(heads);
      // Of the order nothing is known before the last single head; the first to go is one of them.
      if (singles > 0) return singles + counts.filter((count) => count > 1).length;
      const order = this.order(heads);
      return counts.filter((count) => count > 0 && !this.costs.has(nameOf(order.slice(0, count)))).length;
    };
    return {
      ...this.about(passes),
      run: async (options) => {
        const total = passes();
        const report = this.reporter(total, options);
        for (const head of heads) await this.cost([head], report);
        const order = this.order(heads);
        const points: { removed: number; cost: number }[] = [];
        for (const removed of counts) {
          points.push({ removed, cost: removed === 0 ? 0 : await this.cost(order.slice(0, removed), report) });
        }
        return { points, measure: this.measure, order: order.map(headPlace), heads: heads.length, layer };
      },
    };
  }

  private headsOf(layer: number): number[] {
    return Array.from({ length: this.given.model.config.numHeads }, (_, head) => headKey(layer, head));
  }

  /** Least important first. */
  private order(heads: readonly number[]): number[] {
    const cost = (head: number) => this.costs.get(String(head)) as number;
    return [...heads].sort((a, b) => cost(a) - cost(b) || a - b);
  }

  /** Runs until each head is known alone, the one with all heads included. */
  private missing(heads: readonly number[]): number {
    const unknown = heads.filter((head) => !this.costs.has(String(head))).length;
    return unknown + (unknown > 0 && this.whole === null ? 1 : 0);
  }

  private about(passes: () => number): Pick<Measurement<unknown>, "quick" | "estimate"> {
    const estimate = (): Estimate => {
      const { reading } = this.given;
      const count = passes();
      const each = this.perPass();
      // Once it has run, what is kept is there.
      const reads = reading && (reading.each || this.timed.length === 0) ? reading : null;
      return { passes: count, milliseconds: each === null ? null : count * each, reading: reads };
    };
    return { quick: () => this.given.quick || passes() === 0, estimate };
  }

  /** The first run reads what is missing of the file: it says little about the others. */
  private perPass(): number | null {
    const { timed } = this;
    const told = timed.length > 1 ? timed.slice(1) : timed;
    return told.length === 0 ? this.given.guess : told.reduce((sum, time) => sum + time, 0) / told.length;
  }

  private reporter(total: number, { signal, onProgress }: MeasureOptions) {
    let done = 0;
    const tell = () => {
      const each = this.perPass();
      onProgress({ done, total, left: each === null ? null : (total - done) * each });
    };
    tell();
    const passed = () => {
      done++;
      tell();
    };
    return { signal, passed };
  }

  private async cost(heads: readonly number[], report: ReturnType<HeadWorth["reporter"]>): Promise<number> {
    const name = nameOf(heads);
    const known = this.costs.get(name);
    if (known !== undefined) return known;
    this.whole ??= await this.run([], report);
    const cost = costOf(this.whole, await this.run(heads, report));
    this.costs.set(name, cost);
    return cost;
  }

  private async run(off: readonly number[], { signal, passed }: ReturnType<HeadWorth["reporter"]>): Promise<Outcome> {
    const { model, keepWeights } = this.given;
    const { layers, numHeads } = model.config;
    const headMask = gatesOfLayers(new Set(off), layers, numHeads);
    const started = performance.now();
    const outcome = await this.pass({ headMask, keepWeights, signal });
    this.timed.push(performance.now() - started);
    passed();
    return outcome;
  }

  private async pass(options: {
    readonly headMask: (Float32Array | undefined)[] | undefined;
    readonly keepWeights: boolean;
    readonly signal: AbortSignal;
  }): Promise<Outcome> {
    const { model, ids } = this.given;
    if (this.measure === "loss") return { nats: (await model.loss(ids, options)).nats };
    let hidden: Tensor | undefined;
    for await (const result of model.run(ids, { ...options, want: ["hidden"], output: false })) hidden = result.hidden;
    return { hidden: hidden as Tensor };
  }
}

function nameOf(heads: readonly number[]): string {
  return [...heads].sort((a, b) => a - b).join();
}

function costOf(whole: Outcome, without: Outcome): number {
  if ("nats" in whole && "nats" in without) return without.nats - whole.nats;
  if ("hidden" in whole && "hidden" in without) return compare(whole.hidden, without.hidden).relative;
  throw new Error("two measures of one text");
}
