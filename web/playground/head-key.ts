/**
 * One number for a head of a model, for sets and links. The heads of a source with a single layer are 0, 1, 2, … as they
 * are counted.
 */

import { language, say } from "../i18n/index.js";

const STRIDE = 4096;

export interface HeadPlace {
  readonly layer: number;
  readonly head: number;
}

export function headKey(layer: number, head: number): number {
  return layer * STRIDE + head;
}

export function headPlace(key: number): HeadPlace {
  return { layer: Math.floor(key / STRIDE), head: key % STRIDE };
}

/** The heads of one layer that are switched off. */
export function offIn(off: ReadonlySet<number>, layer: number): Set<number> {
  return new Set([...off].map(headPlace).flatMap((place) => (place.layer === layer ? [place.head] : [])));
}

/** A gate of 0 for each head of a layer that is off; undefined where none is. */
export function gatesOf(off: ReadonlySet<number>, heads: number): Float32Array | undefined {
  if (off.size === 0) return undefined;
  return Float32Array.from({ length: heads }, (_, head) => (off.has(head) ? 0 : 1));
}

/** The same for each layer of a model; undefined where all heads are on. */
export function gatesOfLayers(
  off: ReadonlySet<number>,
  layers: number,
  heads: number,
): (Float32Array | undefined)[] | undefined {
  if (off.size === 0) return undefined;
  return Array.from({ length: layers }, (_, layer) => gatesOf(offIn(off, layer), heads));
}

/** "3" in the first layer, "2-5" elsewhere: how links write a head. */
export function headCode(key: number): string {
  const { layer, head } = headPlace(key);
  return layer === 0 ? String(head) : `${layer}-${head}`;
}

export function parseHeadCode(code: string): number | null {
  const match = /^(?:(\d{1,3})-)?(\d{1,3})$/.exec(code);
  return match ? headKey(Number(match[1] ?? 0), Number(match[2])) : null;
}

/** More names than this are no sentence: a model may have a thousand heads. */
const NAMED = 8;

/** "H2, H5", or "L0 H4" where there are several layers; of many the first, and how many more. */
export function namesOf(off: ReadonlySet<number>, layered: boolean): string {
  const names = [...off]
    .sort((a, b) => a - b)
    // One more is named as shortly as it is counted.
    .slice(0, off.size > NAMED + 1 ? NAMED : undefined)
    .map((key) => say(layered ? "heads.shortLayer" : "heads.short", { ...headPlace(key) }));
  const list = names.join(language() === "zh" ? "、" : ", ");
  return names.length < off.size ? say("heads.andMore", { heads: list, count: off.size - names.length }) : list;
}
