import assert from "node:assert/strict";
import { test } from "node:test";
import { eachVariant } from "../variants.js";
import { withConformance } from "./data.js";
import { probeCases } from "./probes.js";
import { runCases } from "./run.js";

withConformance("probes 41", () => {
  const cases = probeCases();

  test("probes: 41 are there", () => {
    assert.equal(cases.length, 41);
  });

  eachVariant(`probes: ${cases.length} cases`, (hs, t) => runCases(hs, t, cases));
});
