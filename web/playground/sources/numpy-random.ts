/**
 * NumPy's legacy generator, so that `np.random.seed(42)` gives the same numbers here: MT19937 (Matsumoto and
 * Nishimura, 1998) seeded by its `init_genrand`, 53-bit doubles, and the polar method of Marsaglia for
 * `np.random.randn` (numpy/random/src: mt19937.c, legacy-distributions.c).
 */

const N = 624;
const M = 397;

export class LegacyRandom {
  private readonly state = new Uint32Array(N);
  private position = N;
  private spare: number | null = null;

  /** @param seed an integer from 0 to 2^32 − 1, as `np.random.seed` takes it. */
  constructor(seed: number) {
    let word = seed >>> 0;
    for (let i = 0; i < N; i++) {
      this.state[i] = word;
      word = (Math.imul(1812433253, word ^ (word >>> 30)) + i + 1) >>> 0;
    }
  }

  private twist(): void {
    const s = this.state;
    for (let i = 0; i < N; i++) {
      const y = ((s[i] as number) & 0x80000000) | ((s[(i + 1) % N] as number) & 0x7fffffff);
      s[i] = (s[(i + M) % N] as number) ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
    }
    this.position = 0;
  }

  /** A whole number from 0 to 2^32 − 1. */
  uint32(): number {
    if (this.position === N) this.twist();
    let y = this.state[this.position++] as number;
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    y ^= y >>> 18;
    return y >>> 0;
  }

  /** From [0, 1): 27 bits and 26 bits make the 53 of a double. */
  double(): number {
    const high = this.uint32() >>> 5;
    const low = this.uint32() >>> 6;
    return (high * 67108864 + low) / 9007199254740992;
  }

  /** Standard normal. Two come at a time; the second is handed out first and the other kept. */
  gaussian(): number {
    if (this.spare !== null) {
      const kept = this.spare;
      this.spare = null;
      return kept;
    }
    for (;;) {
      const x1 = 2 * this.double() - 1;
      const x2 = 2 * this.double() - 1;
      const r2 = x1 * x1 + x2 * x2;
      if (r2 >= 1 || r2 === 0) continue;
      const f = Math.sqrt((-2 * Math.log(r2)) / r2);
      this.spare = f * x1;
      return f * x2;
    }
  }

  /** `np.random.randn(count)` in double precision. */
  randn(count: number): Float64Array {
    return Float64Array.from({ length: count }, () => this.gaussian());
  }
}
