/** Seeded numbers that are the same on every engine: integer steps and exact float64 sums only, no Math.log or Math.cos. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Uniform in [0, 1): mulberry32. */
  uniform(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** Whole number in [0, n). */
  below(n: number): number {
    return Math.floor(this.uniform() * n);
  }

  /** Bell-shaped, mean 0, variance 1: twelve uniforms less their mean. */
  normal(): number {
    let sum = -6;
    for (let i = 0; i < 12; ++i) sum += this.uniform();
    return sum;
  }

  /** n values of float32 precision, so that the float64 oracle and the module read the same inputs. */
  values(n: number, deviation = 1): Float32Array {
    const out = new Float32Array(n);
    for (let i = 0; i < n; ++i) out[i] = this.normal() * deviation;
    return out;
  }

  tensor(shape: readonly number[], deviation = 1): { data: Float32Array; shape: number[] } {
    return { data: this.values(product(shape), deviation), shape: [...shape] };
  }

  /** 0 / 1 with the given share of ones. */
  bits(n: number, share = 0.6): Uint8Array {
    const out = new Uint8Array(n);
    for (let i = 0; i < n; ++i) out[i] = this.uniform() < share ? 1 : 0;
    return out;
  }

  shuffled(n: number): number[] {
    const out = Array.from({ length: n }, (_, i) => i);
    for (let i = n - 1; i > 0; --i) {
      const j = this.below(i + 1);
      const kept = out[i] as number;
      out[i] = out[j] as number;
      out[j] = kept;
    }
    return out;
  }
}

export function product(shape: readonly number[]): number {
  return shape.reduce((a, b) => a * b, 1);
}
