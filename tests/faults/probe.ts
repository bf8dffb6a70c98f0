import { test } from "node:test";
import type { AttentionResult, Headscope } from "headscope";
import { hasConformance } from "../conformance/data.js";
import { type ProbeCase, probeCase } from "../conformance/probes.js";
import { runCase } from "../conformance/run.js";
import { eachVariant } from "../variants.js";

/** A probe by its name: right by its own numbers, and then by what else `body` finds in its result. */
export function probe(
  id: string,
  name: string,
  body: (result: AttentionResult<"weights">, given: ProbeCase) => void = () => {},
): void {
  if (!hasConformance) {
    test(name, { skip: `no conformance data, so no ${id}` }, () => {});
    return;
  }
  eachVariant(`${name} [${id}]`, (hs: Headscope) => {
    const given = probeCase(id);
    runCase(hs, given);
    const call = given.attention[0];
    if (call) body(hs.attention(call.q, call.k, call.v, call.options), given);
  });
}
