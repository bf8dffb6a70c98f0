import { test } from "node:test";
import type { AttentionResult, Headscope } from "headscope";
import { hasConformance } from "../conformance/data.ts";
import { type ProbeCase, probeCase } from "../conformance/probes.ts";
import { runCase } from "../conformance/run.ts";
import { eachVariant } from "../variants.ts";

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
