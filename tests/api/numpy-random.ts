/**
 * NumPy's legacy generator, `np.random.seed(n)` and `np.random.randn`, bit for bit: MT19937 (Matsumoto and Nishimura
 * 1998) and Marsaglia's polar method, which makes two numbers at a time and returns the second one first.
 */
export class NumpyRandom {
  readonly #state = new Uint32Array(624);
  #next = 624;
  #spare: number | undefined;

  constructor(seed: number) {
    const state = this.#state;
    state[0] = seed;
    for (let i = 1; i < 624; ++i) {
      const before = state[i - 1] as number;
      state[i] = Math.imul(1812433253, before ^ (before >>> 30)) + i;
    }
  }

  #uint32(): number {
    const state = this.#state;
    if (this.#next === 624) {
      for (let i = 0; i < 624; ++i) {
        const y = ((state[i] as number) & 0x80000000) | ((state[(i + 1) % 624] as number) & 0x7fffffff);
        state[i] = (state[(i + 397) % 624] as number) ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
      }
      this.#next = 0;
    }
    let y = state[this.#next++] as number;
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  }

  /** In [0, 1), 53 bits. */
  #double(): number {
    const high = this.#uint32() >>> 5;
    const low = this.#uint32() >>> 6;
    return (high * 67108864 + low) / 9007199254740992;
  }

  normal(): number {
    if (this.#spare !== undefined) {
      const spare = this.#spare;
      this.#spare = undefined;
      return spare;
    }
    for (;;) {
      const x1 = 2 * this.#double() - 1;
      const x2 = 2 * this.#double() - 1;
      const r2 = x1 * x1 + x2 * x2;
      if (r2 < 1 && r2 !== 0) {
        const f = Math.sqrt((-2 * Math.log(r2)) / r2);
        this.#spare = f * x1;
        return f * x2;
      }
    }
  }

  /** `randn(n) * factor`, in the order of NumPy, then rounded to single precision. */
  randn(n: number, factor = 1): Float32Array {
    return Float32Array.from({ length: n }, () => this.normal() * factor);
  }
}
