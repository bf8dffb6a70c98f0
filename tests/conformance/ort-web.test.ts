import assert from "node:assert/strict";
import { test } from "node:test";
import { eachVariant } from "../variants.js";
import { withConformance } from "./data.js";
import { ortWebCases } from "./ort-web.js";
import { runCases } from "./run.js";

withConformance("ONNX Runtime Web attention 43", () => {
  const files = ["attention", "multihead-attention", "group-query-attention"].map(ortWebCases);

  test("ONNX Runtime Web: 10 Attention, 16 MultiHeadAttention and 17 GroupQueryAttention cases are there", () => {
    assert.deepEqual(
      files.map((f) => f.length),
      [10, 16, 17],
    );
  });

  const names = ["Attention", "MultiHeadAttention", "GroupQueryAttention"];
  files.forEach((cases, i) => {
    eachVariant(`ONNX Runtime Web ${names[i]}: ${cases.length} cases`, (hs, t) => runCases(hs, t, cases));
  });
});
