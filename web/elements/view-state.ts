/**
 * What a reader is looking at. Elements that are given the same ViewState are linked: the query under the pointer in one
 * is marked in all, a head that is switched off in one is off in all.
 */

import type { Spot } from "./attention-view.js";

/** The fields of a ViewState; `set()` takes any of them. */
export interface ViewValues {
  /** Layer of the model, 0-based. Default 0; the elements only show it. */
  readonly layer: number;
  /** The heads looked at; the first one is the head of elements that show one. Default [0]. */
  readonly heads: readonly number[];
  /** The query looked at: that under the pointer, else the pinned one. Default null. */
  readonly query: number | null;
  /** The key looked at; null is the whole row of the query. Default null. */
  readonly key: number | null;
  /** What stays when the pointer leaves. Default null. */
  readonly pinned: Spot | null;
  /** Heads that are switched off. Default none. */
  readonly off: ReadonlySet<number>;
}

const DEFAULTS: ViewValues = { layer: 0, heads: [0], query: null, key: null, pinned: null, off: new Set() };

/**
 * `new ViewState({ heads: [3] })`. Event `"change"`: at least one field has another value; it comes at once, the
 * elements draw at the next frame.
 */
export class ViewState extends EventTarget implements ViewValues {
  private current: ViewValues;

  constructor(values: Partial<ViewValues> = {}) {
    super();
    this.current = { ...DEFAULTS, ...values };
  }

  get layer(): number {
    return this.current.layer;
  }
  get heads(): readonly number[] {
    return this.current.heads;
  }
  get query(): number | null {
    return this.current.query;
  }
  get key(): number | null {
    return this.current.key;
  }
  get pinned(): Spot | null {
    return this.current.pinned;
  }
  get off(): ReadonlySet<number> {
    return this.current.off;
  }

  /** Everything at once, for saving. */
  get values(): ViewValues {
    return this.current;
  }

  /** Changes some fields; what is equal to the present value changes nothing and tells nobody. */
  set(change: Partial<ViewValues>): void {
    const next = { ...this.current, ...change };
    const names = Object.keys(DEFAULTS) as (keyof ViewValues)[];
    if (names.every((name) => same(next[name], this.current[name]))) return;
    this.current = next;
    this.dispatchEvent(new Event("change"));
  }

  /** Looks at a place for as long as the pointer is there; null goes back to the pinned place. */
  preview(spot: Spot | null): void {
    const { query, key } = spot ?? this.pinned ?? { query: null, key: null };
    this.set({ query, key });
  }

  /** Keeps a place; null lets go of it. */
  pin(spot: Spot | null): void {
    this.set({ pinned: spot, query: spot?.query ?? null, key: spot?.key ?? null });
  }

  /** Switches a head off (or on again). */
  ablate(head: number, off: boolean): void {
    const next = new Set(this.off);
    if (off) next.add(head);
    else next.delete(head);
    this.set({ off: next });
  }
}

function same(a: ViewValues[keyof ViewValues], b: ViewValues[keyof ViewValues]): boolean {
  if (a === b) return true;
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return false;
  if (a instanceof Set && b instanceof Set) return a.size === b.size && [...a].every((each) => b.has(each));
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((each, i) => each === b[i]);
  const [one, other] = [a as Spot, b as Spot];
  return one.query === other.query && one.key === other.key;
}
