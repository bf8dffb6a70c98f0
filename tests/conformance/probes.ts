import { decodeTensor, type Exact, mergeHeads, type StoredTensor, toFloat32 } from "../support/tensor.js";
import type { ConformanceCase, Options } from "./cases.js";
import { readJson } from "./data.js";
import { identityLayer } from "./layers.js";

interface Probe {
  id: string;
  bugs: string[];
  about: string;
  q: StoredTensor;
  k: StoredTensor;
  v: StoredTensor;
  mask?: StoredTensor;
  causal_offset?: number;
  valid_len?: number[];
  softcap?: number;
  scale?: number;
  tol?: number;
  y: StoredTensor;
  w: StoredTensor;
}

/** y and w were solved in float64 and stored as float32. */
const TOLERANCE = 4e-6;

export interface ProbeCase extends ConformanceCase {
  faults: string[];
  weights: Exact;
}

export function probeCases(): ProbeCase[] {
  return readJson<Probe[]>("probes.json").map(adapt);
}

export function probeCase(id: string): ProbeCase {
  const found = readJson<Probe[]>("probes.json").find((p) => p.id === id);
  if (!found) throw new Error(`no probe ${id}`);
  return adapt(found);
}

function adapt(p: Probe): ProbeCase {
  const q = decodeTensor(p.q);
  const k = decodeTensor(p.k);
  const v = decodeTensor(p.v);
  const y = decodeTensor(p.y);
  const w = decodeTensor(p.w);
  const mask = p.mask && decodeTensor(p.mask);
  const options: Options = {
    ...(mask && p.mask?.dtype === "bool" ? { mask: { data: Uint8Array.from(mask.data), shape: mask.shape } } : {}),
    ...(mask && p.mask?.dtype === "float32" ? { bias: toFloat32(mask) } : {}),
    ...(p.causal_offset === undefined ? {} : { causal: { offset: p.causal_offset } }),
    ...(p.valid_len ? { keyPadding: Int32Array.from(p.valid_len) } : {}),
    ...(p.softcap === undefined ? {} : { softcap: p.softcap }),
    ...(p.scale === undefined ? {} : { scale: p.scale }),
  };
  const [heads, groups, dk, dv] = [q.shape[1], k.shape[1], q.shape[3], v.shape[3]] as [number, number, number, number];
  const layer = identityLayer(heads, groups, dk, dv);
  const tensors = { query: mergeHeads(q), key: mergeHeads(k), value: mergeHeads(v) };
  return {
    name: `${p.id} (${p.bugs.join(", ")}: ${p.about})`,
    faults: p.bugs,
    weights: w,
    tolerance: { absolute: p.tol ?? TOLERANCE, relative: TOLERANCE },
    attention: [{ q: toFloat32(q), k: toFloat32(k), v: toFloat32(v), options, output: y, weights: w }],
    layer: [
      {
        ...layer,
        query: toFloat32(tensors.query),
        key: toFloat32(tensors.key),
        value: toFloat32(tensors.value),
        options,
        output: mergeHeads(y),
        attention: w,
      },
    ],
  };
}
