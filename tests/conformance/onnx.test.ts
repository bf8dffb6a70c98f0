import assert from "node:assert/strict";
import { test } from "node:test";
import { eachVariant } from "../variants.js";
import { withConformance } from "./data.js";
import { onnxCase, onnxNames } from "./onnx.js";
import { runCases } from "./run.js";

withConformance("ONNX Attention 76 and its window cases 11", () => {
  const names = onnxNames();

  test("ONNX: 76 Attention and 11 window cases are there", () => {
    assert.equal(names.attention.length, 76);
    assert.equal(names.window.length, 11);
  });

  const attention = names.attention.map(onnxCase);
  const window = names.window.map(onnxCase);
  eachVariant(`ONNX Attention: ${attention.length} cases`, (hs, t) => runCases(hs, t, attention));
  eachVariant(`ONNX Attention with a window: ${window.length} cases`, (hs, t) => runCases(hs, t, window));
});
