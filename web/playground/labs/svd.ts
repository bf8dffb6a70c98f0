/**
 * Singular values by one-sided Jacobi rotations (Hestenes 1958; Golub and Van Loan, section 8.6.3): columns are turned in
 * pairs until all are orthogonal, and their lengths are then the singular values. Slow for large matrices, exact to the
 * last digits for small ones, and no library of 50 KB.
 */

export interface Svd {
  readonly rows: number;
  readonly columns: number;
  /** Descending; min(rows, columns) of them. */
  readonly values: Float64Array;
  /** Left vectors, one after the other: values.length × rows. All 0 where the value is. */
  readonly left: Float64Array;
  /** Right vectors: values.length × columns. */
  readonly right: Float64Array;
}

/** Cosines below this are rounding. */
const ORTHOGONAL = 1e-15;
/** Convergence is quadratic: sizes up to 512 take fewer than 12. */
const MOST_SWEEPS = 40;

/** @param matrix [rows, columns], row-major */
export function svd(matrix: ArrayLike<number>, rows: number, columns: number): Svd {
  if (columns > rows) {
    const { values, left, right } = svd(transpose(matrix, rows, columns), columns, rows);
    return { rows, columns, values, left: right, right: left };
  }
  // Columns lie one after the other, so that the loops below run along memory.
  const a = transpose(matrix, rows, columns);
  const v = new Float64Array(columns * columns);
  for (let i = 0; i < columns; i++) v[i * columns + i] = 1;
  for (let sweep = 0; sweep < MOST_SWEEPS; sweep++) {
    let turned = false;
    for (let p = 0; p < columns - 1; p++) {
      for (let q = p + 1; q < columns; q++) turned = turnPair(a, v, rows, columns, p, q) || turned;
    }
    if (!turned) break;
  }
  const lengths = Array.from({ length: columns }, (_, i) => norm(a.subarray(i * rows, (i + 1) * rows)));
  const order = lengths.map((_, i) => i).sort((i, j) => (lengths[j] as number) - (lengths[i] as number));
  const left = new Float64Array(columns * rows);
  const right = new Float64Array(columns * columns);
  for (const [to, from] of order.entries()) {
    const length = lengths[from] as number;
    if (length > 0) {
      left.set(
        a.subarray(from * rows, (from + 1) * rows).map((value) => value / length),
        to * rows,
      );
    }
    right.set(v.subarray(from * columns, (from + 1) * columns), to * columns);
  }
  return { rows, columns, values: Float64Array.from(order, (i) => lengths[i] as number), left, right };
}

/** Turns two columns until they are orthogonal, and the right vectors with them; false where they are already. */
function turnPair(a: Float64Array, v: Float64Array, rows: number, columns: number, p: number, q: number): boolean {
  let [alpha, beta, gamma] = [0, 0, 0];
  for (let i = 0; i < rows; i++) {
    const x = a[p * rows + i] as number;
    const y = a[q * rows + i] as number;
    alpha += x * x;
    beta += y * y;
    gamma += x * y;
  }
  if (gamma === 0 || Math.abs(gamma) <= ORTHOGONAL * Math.sqrt(alpha) * Math.sqrt(beta)) return false;
  const zeta = (beta - alpha) / (2 * gamma);
  const tangent = (zeta < 0 ? -1 : 1) / (Math.abs(zeta) + Math.hypot(1, zeta));
  const cosine = 1 / Math.hypot(1, tangent);
  turn(a, rows, p, q, cosine, cosine * tangent);
  turn(v, columns, p, q, cosine, cosine * tangent);
  return true;
}

function turn(matrix: Float64Array, length: number, p: number, q: number, cosine: number, sine: number): void {
  for (let i = 0; i < length; i++) {
    const x = matrix[p * length + i] as number;
    const y = matrix[q * length + i] as number;
    matrix[p * length + i] = cosine * x - sine * y;
    matrix[q * length + i] = sine * x + cosine * y;
  }
}

export function transpose(matrix: ArrayLike<number>, rows: number, columns: number): Float64Array {
  const turned = new Float64Array(rows * columns);
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++) turned[c * rows + r] = matrix[r * columns + c] as number;
  }
  return turned;
}

export function norm(vector: ArrayLike<number>): number {
  let squares = 0;
  for (let i = 0; i < vector.length; i++) squares += (vector[i] as number) ** 2;
  return Math.sqrt(squares);
}

/** The nearest matrix of a rank: the first `rank` terms (Eckart and Young 1936). [rows, columns]. */
export function bestOfRank({ rows, columns, values, left, right }: Svd, rank: number): Float64Array {
  const best = new Float64Array(rows * columns);
  for (let k = 0; k < Math.min(rank, values.length); k++) {
    for (let r = 0; r < rows; r++) {
      const factor = (values[k] as number) * (left[k * rows + r] as number);
      for (let c = 0; c < columns; c++) {
        best[r * columns + c] = (best[r * columns + c] as number) + factor * (right[k * columns + c] as number);
      }
    }
  }
  return best;
}

/** How far that one is away: ‖A − A_rank‖ / ‖A‖, from the values that are left out. */
export function errorOfRank({ values }: Svd, rank: number): number {
  const all = norm(values);
  return all === 0 ? 0 : norm(values.slice(rank)) / all;
}

/** How many singular values are more than rounding of float32 numbers leaves of a zero. */
export function numericalRank({ rows, columns, values }: Svd, precision = 2 ** -23): number {
  const least = (values[0] ?? 0) * precision * Math.max(rows, columns);
  return values.filter((value) => value > least).length;
}

/** A⁺ B, with B [rows, width]: what comes nearest to X in A X = B. Values below `least` × the largest count as 0. */
export function solveLeastSquares(a: Svd, b: ArrayLike<number>, width: number, least: number): Float64Array {
  const { rows, columns, values, left, right } = a;
  const x = new Float64Array(columns * width);
  const part = new Float64Array(width);
  for (const [k, value] of values.entries()) {
    if (value <= least * (values[0] as number) || value === 0) break;
    part.fill(0);
    for (let r = 0; r < rows; r++) {
      const factor = (left[k * rows + r] as number) / value;
      for (let c = 0; c < width; c++) part[c] = (part[c] as number) + factor * (b[r * width + c] as number);
    }
    for (let i = 0; i < columns; i++) {
      const factor = right[k * columns + i] as number;
      for (let c = 0; c < width; c++) x[i * width + c] = (x[i * width + c] as number) + factor * (part[c] as number);
    }
  }
  return x;
}
