/**
 * Other weights with the same output. A head's output for a query is Σ_j w_j v_j. Weights may move along every z with
 * Σ_j z_j v_j = 0 and Σ_j z_j = 0, the null space of Vᵀ with a row of ones, for as long as none of them gets below 0:
 * the output stays, and what a picture of the weights says does not (Jain and Wallace 2019; Brunner et al. 2020 for the
 * null space). With n visible keys there are n − rank[V 1] such directions, none at all for most texts of up to dv + 1.
 */

import { norm } from "./svd.js";

export interface OtherWeights {
  /** [S], as far from the given ones as was found; the given ones themselves where nothing can move. */
  readonly weights: Float64Array;
  /** Directions in which they can move. */
  readonly freedom: number;
  /** Half the sum of all changes, 0 to 1: the share of the weight that has moved. */
  readonly moved: number;
}

/** Directions are looked for among the heaviest so many keys; the others keep their weight. */
const MOST_KEYS = 128;
/** Of going on from what was found. */
const MOST_ROUNDS = 4;
/** A column that is left shorter than this by those before it, of its own length, depends on them. */
const DEPENDENT = 1e-9;

/**
 * @param weights [S], which sum to 1
 * @param values [S, width]
 * @param visible which keys may have weight
 */
export function otherWeights(
  weights: ArrayLike<number>,
  values: ArrayLike<number>,
  width: number,
  visible: readonly number[],
): OtherWeights {
  const given = Float64Array.from(weights);
  const byWeight = [...visible].sort((i, j) => (given[j] as number) - (given[i] as number));
  const keys = byWeight.slice(0, MOST_KEYS).sort((i, j) => i - j);
  const freedom = visible.length - rangeBasis(constraints(values, width, visible), visible.length).length;
  if (freedom === 0) return { weights: given, freedom, moved: 0 };
  const fixed = constraints(values, width, keys);
  const directions = nullBasis(rangeBasis(fixed, keys.length), keys.length);
  let best: Float64Array = given;
  let moved = 0;
  const go = (aim: Float64Array): boolean => {
    const found = walk(given, keys, fixed, directions, aim);
    const distance = distanceOf(given, found);
    if (distance <= moved + 1e-9) return false;
    [best, moved] = [found, distance];
    return true;
  };
  for (const aim of aims(given, keys)) go(aim);
  // Further along the changes that were found, for as long as that leads away (the distance is convex).
  for (let round = 0; round < MOST_ROUNDS; round++) {
    if (!go(Float64Array.from(keys, (key) => Math.sign((best[key] as number) - (given[key] as number))))) break;
  }
  return { weights: best, freedom, moved };
}

/** Half the sum of all changes (total variation). */
export function distanceOf(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += Math.abs((a[i] as number) - (b[i] as number));
  return sum / 2;
}

/** Σ_j w_j v_j */
export function outputOf(weights: ArrayLike<number>, values: ArrayLike<number>, width: number): Float64Array {
  const output = new Float64Array(width);
  for (let j = 0; j < weights.length; j++) {
    const weight = weights[j] as number;
    // A hidden value is never looked at, even NaN.
    if (weight === 0) continue;
    for (let c = 0; c < width; c++) output[c] = (output[c] as number) + weight * (values[j * width + c] as number);
  }
  return output;
}

/** ‖output − other output‖ / ‖output‖ */
export function outputChange(
  a: ArrayLike<number>,
  b: ArrayLike<number>,
  values: ArrayLike<number>,
  width: number,
): number {
  const before = outputOf(a, values, width);
  const after = outputOf(b, values, width);
  const change = norm(before.map((value, i) => value - (after[i] as number)));
  return change === 0 ? 0 : change / norm(before);
}

/** Where to: off the heaviest key, onto one of the next four, and away from all that is heavy. */
function aims(given: Float64Array, keys: readonly number[]): Float64Array[] {
  const heaviest = keys
    .map((_, i) => i)
    .sort((i, j) => (given[keys[j] as number] as number) - (given[keys[i] as number] as number));
  const unit = (at: number, sign: number) => Float64Array.from(keys, (_, i) => (i === at ? sign : 0));
  return [
    unit(heaviest[0] as number, -1),
    Float64Array.from(keys, (key) => -(given[key] as number)),
    ...heaviest.slice(1, 5).map((at) => unit(at, 1)),
  ];
}

/**
 * From the given weights as far towards an aim as it goes without leaving what keeps the output and the sum: a linear
 * program. Where a weight reaches 0 it stops there and the walk goes on among the others; where that leads no nearer, a
 * stopped one is let go again if it helps (the reduced cost of the simplex method). It ends in a corner, as a rule, with
 * rank[V 1] weights left.
 */
function walk(
  given: Float64Array,
  keys: readonly number[],
  fixed: readonly Float64Array[],
  nullSpace: readonly Float64Array[],
  aim: Float64Array,
): Float64Array {
  const weights = given.slice();
  const directions: Float64Array[] = nullSpace.map((direction) => direction.slice());
  const stopped = new Set<number>();
  const step = new Float64Array(keys.length);
  for (let turn = 0; turn < 4 * keys.length; turn++) {
    step.fill(0);
    for (const direction of directions) addTimes(step, direction, dot(direction, aim));
    if (norm(step) <= 1e-9) {
      if (letGo(directions, stopped, fixed, aim)) continue;
      break;
    }
    let length = Number.POSITIVE_INFINITY;
    let blocking = -1;
    for (const [i, key] of keys.entries()) {
      const slope = step[i] as number;
      if (slope >= 0 || stopped.has(i)) continue;
      const reach = (weights[key] as number) / -slope;
      if (reach < length) [length, blocking] = [reach, i];
    }
    // Directions sum to 0, so that some weight always shrinks.
    if (blocking < 0) break;
    for (const [i, key] of keys.entries()) {
      if (!stopped.has(i)) weights[key] = Math.max(0, (weights[key] as number) + length * (step[i] as number));
    }
    weights[keys[blocking] as number] = 0;
    stopped.add(blocking);
    stopAt(directions, blocking);
  }
  return weights;
}

/** Adds the direction in which the stopped weight grows that leads nearest to the aim; false where none does. */
function letGo(
  directions: Float64Array[],
  stopped: Set<number>,
  fixed: readonly Float64Array[],
  aim: Float64Array,
): boolean {
  // Orthonormal over the places that are not stopped; at those that are, what the others have to give way.
  const free = Array.from(aim.keys()).filter((i) => !stopped.has(i));
  const basis: Float64Array[] = [];
  for (const column of fixed) addDirection(basis, column, free);
  const gain = aim.slice();
  for (const vector of basis) addTimes(gain, vector, -dot(vector, aim, free));
  const helpful = [...stopped].filter((i) => (gain[i] as number) > 1e-9);
  helpful.sort((i, j) => (gain[j] as number) - (gain[i] as number));
  for (const i of helpful) {
    const direction = new Float64Array(aim.length);
    for (const vector of basis) addTimes(direction, vector, -(vector[i] as number));
    for (const other of stopped) direction[other] = 0;
    direction[i] = 1;
    // Where too few are left to give way, it would change the output.
    if (fixed.some((column) => Math.abs(dot(direction, column)) > 1e-9 * norm(column))) continue;
    const length = norm(direction);
    directions.push(direction.map((value) => value / length));
    stopped.delete(i);
    return true;
  }
  return false;
}

/**
 * Leaves an orthonormal basis of what of a space is 0 at one place: a Householder reflection makes all vectors but one so,
 * and that one goes.
 */
function stopAt(basis: Float64Array[], at: number): void {
  const mirror = Float64Array.from(basis, (vector) => vector[at] as number);
  const length = norm(mirror);
  if (length > 1e-14) {
    const last = basis.length - 1;
    mirror[last] = (mirror[last] as number) + (Math.sign(mirror[last] as number) || 1) * length;
    const square = dot(mirror, mirror);
    const along = new Float64Array((basis[0] as Float64Array).length);
    for (const [k, vector] of basis.entries()) addTimes(along, vector, mirror[k] as number);
    for (const [k, vector] of basis.entries()) addTimes(vector, along, (-2 * (mirror[k] as number)) / square);
    basis.pop();
  }
  for (const vector of basis) vector[at] = 0;
}

/** Columns of [V 1] for some keys, one after the other. */
function constraints(values: ArrayLike<number>, width: number, keys: readonly number[]): Float64Array[] {
  const columns = Array.from({ length: width }, (_, c) =>
    Float64Array.from(keys, (key) => values[key * width + c] as number),
  );
  return [new Float64Array(keys.length).fill(1), ...columns];
}

/** An orthonormal basis of what the columns span (Gram and Schmidt, twice, which is enough: Giraud et al. 2005). */
function rangeBasis(columns: readonly Float64Array[], rows: number): Float64Array[] {
  const basis: Float64Array[] = [];
  for (const column of columns) {
    if (basis.length === rows) break;
    addDirection(basis, column);
  }
  return basis;
}

/** An orthonormal basis of all that is orthogonal to another one. */
function nullBasis(range: readonly Float64Array[], rows: number): Float64Array[] {
  const basis = [...range];
  for (let i = 0; i < rows && basis.length < rows; i++) {
    const unit = new Float64Array(rows);
    unit[i] = 1;
    addDirection(basis, unit);
  }
  return basis.slice(range.length);
}

/** Adds what of a vector the basis does not have yet, unless that is nothing. Lengths and angles are of some places, if given. */
function addDirection(basis: Float64Array[], vector: Float64Array, among?: readonly number[]): void {
  const length = Math.sqrt(dot(vector, vector, among));
  if (length === 0) return;
  const rest = vector.map((value) => value / length);
  takeAway(rest, basis, among);
  const left = Math.sqrt(dot(rest, rest, among));
  if (left <= DEPENDENT) return;
  // What was short is made long, and the rounding in it too: hence once more.
  const next = rest.map((value) => value / left);
  takeAway(next, basis, among);
  const size = Math.sqrt(dot(next, next, among));
  basis.push(next.map((value) => value / size));
}

/** What of a vector is orthogonal to a basis, in place. */
function takeAway(vector: Float64Array, basis: readonly Float64Array[], among?: readonly number[]): void {
  for (let pass = 0; pass < 2; pass++) {
    for (const direction of basis) addTimes(vector, direction, -dot(vector, direction, among));
  }
}

function dot(a: Float64Array, b: Float64Array, among?: readonly number[]): number {
  let sum = 0;
  if (among) for (const i of among) sum += (a[i] as number) * (b[i] as number);
  else for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

function addTimes(to: Float64Array, vector: Float64Array, factor: number): void {
  for (let i = 0; i < to.length; i++) to[i] = (to[i] as number) + factor * (vector[i] as number);
}
