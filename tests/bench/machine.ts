import { type ChainKind, type Limit, startLimit } from "./limit.ts";
import { median, quantile } from "./statistics.ts";

/** Slower than this share of the speed that a chain has at its best: something else is at work. */
const QUIET = 0.92;
const KINDS = ["relaxed", "simd", "loads"] as const;

/**
 * Chains between turns of the contenders: they give the limit of the same minutes, and tell whether others use the
 * machine. On virtual machines the other thread of a core may be someone else's: registers alone do not feel it, a product
 * takes half as long again, and so do the loads.
 */
export class Machine {
  readonly #chains: ReadonlyMap<ChainKind, Limit>;
  readonly #speeds = new Map<ChainKind, number[]>(KINDS.map((kind) => [kind, []]));
  #before = 0;
  #patience = 0;

  private constructor(chains: ReadonlyMap<ChainKind, Limit>) {
    this.#chains = chains;
  }

  static async start(): Promise<Machine> {
    const chains = new Map<ChainKind, Limit>();
    for (const kind of KINDS) {
      const chain = await startLimit(kind);
      if (chain) chains.set(kind, chain);
    }
    return new Machine(chains);
  }

  /** `limits()` is of what comes now; what quiet means, of all the time. */
  startCase(patienceMs: number): void {
    this.#patience = patienceMs;
    this.#before = this.#speeds.get("simd")?.length ?? 0;
  }

  /** Waits for undisturbed times, as long as the case's patience lasts. Says whether they have come. */
  async quiet(): Promise<boolean> {
    for (;;) {
      if (this.isQuiet()) return true;
      if (this.#patience <= 0) return false;
      const begin = performance.now();
      await new Promise((done) => setTimeout(done, 100));
      this.#patience -= performance.now() - begin;
    }
  }

  /** Three milliseconds. */
  isQuiet(): boolean {
    let quiet = true;
    for (const [kind, chain] of this.#chains) {
      const speeds = this.#speeds.get(kind) as number[];
      speeds.push(chain.measure());
      quiet &&= isFast(speeds.at(-1) as number, speeds);
    }
    return quiet;
  }

  /** GFLOP/s since startCase(), medians of undisturbed measurements. */
  limits(): { relaxed?: number; simd?: number } {
    const of = (kind: ChainKind) => {
      const all = this.#speeds.get(kind) as number[];
      const now = all.slice(this.#before);
      const fast = now.filter((speed) => isFast(speed, all));
      return median(fast.length > 0 ? fast : now);
    };
    return { ...(this.#chains.has("relaxed") && { relaxed: of("relaxed") }), simd: of("simd") };
  }
}

const isFast = (speed: number, among: readonly number[]) => speed >= QUIET * quantile(among, 0.9);
