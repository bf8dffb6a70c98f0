import assert from "node:assert/strict";
import { test } from "node:test";
import { eachVariant } from "../variants.js";
import { withConformance } from "./data.js";
import { probeCases } from "./probes.js";
import { runCase } from "./run.js";

withConformance("probes 41", () => {
  const cases = probeCases();

  test("probes: 41 are there", () => {
    assert.equal(cases.length, 41);
  });

  for (const c of cases) eachVariant(c.name, (hs) => runCase(hs, c));
});
