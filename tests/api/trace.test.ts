import assert from "node:assert/strict";
import { cost, type TraceStep } from "headscope";
import { drawWeights, joined, sideBySide } from "../support/layer.ts";
import { Random } from "../support/random.ts";
import { eachVariant } from "../variants.ts";

function step(trace: readonly TraceStep[], id: string): TraceStep {
  const found = trace.find((one) => one.id === id);
  if (found === undefined) throw new Error(`no step ${id} among ${trace.map((one) => one.id)}`);
  return found;
}

const GPT2 = { dModel: 768, numHeads: 12 };

function gpt2Weights(random: Random) {
  const { wq, wk, wv, wo, bq, bk, bv, bo } = drawWeights(GPT2, random);
  return { layout: "in-out", wqkv: sideBySide(768, wq, wk, wv), bqkv: joined(bq, bk, bv), wo, bo } as const;
}

eachVariant("B9: GPT-2 at T = 2: [2,768] [2,2304] [12,2,64] [12,2,2] [12,2,64] [2,768] [2,768]", (hs) => {
  const random = new Random(1);
  const layer = hs.multiHeadAttention(GPT2, gpt2Weights(random));
  const { trace } = layer.forward(random.tensor([2, 768]), { want: ["trace"], causal: true });
  const line = ["input", "qkv", "q", "weights", "heads", "concat", "output"].map((id) => step(trace, id).shape);
  assert.deepEqual(line, [
    [2, 768],
    [2, 2304],
    [12, 2, 64],
    [12, 2, 2],
    [12, 2, 64],
    [2, 768],
    [2, 768],
  ]);
  assert.deepEqual(
    trace.map((one) => one.id),
    [
      ...["input", "qkv", "qView", "q", "kView", "k", "vView", "v"],
      ...["scores", "weights", "heads", "headsTransposed", "concat", "output"],
    ],
  );
});

eachVariant("B2: view and transpose copy nothing: strides [2304,64,1] then [64,2304,1]", (hs) => {
  const random = new Random(2);
  const layer = hs.multiHeadAttention(GPT2, gpt2Weights(random));
  const { trace } = layer.forward(random.tensor([2, 768]), { want: ["trace"] });
  for (const id of ["q", "k", "v"]) {
    const view = step(trace, `${id}View`);
    assert.deepEqual(
      [view.shape, view.strides],
      [
        [2, 12, 64],
        [2304, 64, 1],
      ],
    );
    const transposed = step(trace, id);
    assert.deepEqual(
      [transposed.shape, transposed.strides],
      [
        [12, 2, 64],
        [64, 2304, 1],
      ],
    );
    for (const one of [view, transposed]) assert.deepEqual([one.copied, one.bytes, one.flops], [false, 0, 0]);
  }
});

eachVariant("B2: the batch form [B,H,T,d], and separate projections with strides of their own", (hs) => {
  const random = new Random(3);
  const config = { dModel: 8, numHeads: 2, numKVHeads: 1 };
  const layer = hs.multiHeadAttention(config, drawWeights(config, random));
  const { trace } = layer.forward(random.tensor([3, 5, 8]), { want: ["trace"] });
  assert.deepEqual(step(trace, "qProjection").shape, [3, 5, 8]);
  const q = step(trace, "q");
  assert.deepEqual(
    [q.shape, q.strides],
    [
      [3, 2, 5, 4],
      [40, 4, 8, 1],
    ],
  );
  const k = step(trace, "k");
  assert.deepEqual(
    [k.shape, k.strides],
    [
      [3, 1, 5, 4],
      [20, 4, 4, 1],
    ],
  );
  assert.equal(step(trace, "weights").bytes, 3 * 2 * 5 * 5 * 4);
  assert.equal(step(trace, "scores").formula, "scale · Q_h K_⌊h/2⌋ᵀ");
});

eachVariant("B3: transposing back is a view, and the reshape to [T,H·d] is the one step that copies", (hs) => {
  const random = new Random(4);
  const layer = hs.multiHeadAttention(GPT2, gpt2Weights(random));
  const { trace } = layer.forward(random.tensor([2, 768]), { want: ["trace"] });
  const back = step(trace, "headsTransposed");
  assert.deepEqual([back.shape, back.strides, back.copied], [[2, 12, 64], [64, 128, 1], false]);
  assert.deepEqual(
    trace.filter((one) => one.copied).map((one) => [one.id, one.shape, one.strides, one.bytes]),
    [["concat", [2, 768], [768, 1], 6144]],
  );
});

eachVariant("G2, G3: llama.cpp's nodes with ggml's order of axes, keys padded to 256", (hs) => {
  const random = new Random(5);
  const layer = hs.multiHeadAttention(GPT2, gpt2Weights(random));
  const { trace } = layer.forward(random.tensor([2, 768]), { want: ["trace"], causal: true });
  const nodes = new Map(trace.flatMap(({ ggml }) => (ggml === undefined ? [] : [[ggml.name, [...ggml.ne]]])));
  assert.deepEqual(Object.fromEntries(nodes), {
    "attn_norm-0": [768, 2],
    "wqkv_b-0": [2304, 2],
    "Qcur-0": [64, 12, 2],
    "Kcur-0": [64, 12, 2],
    "Vcur-0": [64, 12, 2],
    "kq-0": [256, 2, 12],
    "kq_soft_max-0": [256, 2, 12],
    "kqv-0": [64, 2, 12],
    "kqv_out-0": [768, 2],
    "ADD(blk.0.attn_output.bias)": [768, 2],
  });
});

eachVariant("the FLOPs of the steps add up to cost.flops, dense", (hs) => {
  const random = new Random(6);
  const config = {
    dModel: 10,
    numHeads: 4,
    numKVHeads: 2,
    headDim: 3,
    valueHeadDim: 5,
    keyDim: 7,
    valueDim: 6,
    outDim: 9,
  };
  const layer = hs.multiHeadAttention(config, drawWeights(config, random));
  const { trace } = layer.forward(random.tensor([2, 10]), {
    key: random.tensor([8, 7]),
    value: random.tensor([8, 6]),
    causal: { offset: 6 },
    want: ["trace"],
  });
  const total = trace.reduce((sum, one) => sum + one.flops, 0);
  assert.equal(BigInt(total), cost.flops({ ...config, T: 2, S: 8 }).total);
  assert.deepEqual(step(trace, "kProjection").formula, "K = Z_K W_K + b_K");
  assert.equal(BigInt(step(trace, "scores").flops), cost.flops({ ...config, T: 2, S: 8 }).scores);
});

eachVariant("optional steps stand in the trace when the call takes them: rotary, cache, soft cap, gate", (hs) => {
  const random = new Random(7);
  const config = { dModel: 8, numHeads: 2, softcap: 5, rope: { pairing: "halves" } } as const;
  const layer = hs.multiHeadAttention(config, drawWeights(config, random));
  using cache = layer.createCache({ capacity: 8 });
  layer.forward(random.tensor([3, 8]), { cache, causal: true, want: [] });
  const { trace } = layer.forward(random.tensor([2, 8]), {
    cache,
    causal: true,
    headMask: Float32Array.of(1, 0),
    want: ["trace"],
  });
  assert.deepEqual(step(trace, "qRotary").strides, [8, 4, 1]);
  const cached = step(trace, "kCached");
  assert.deepEqual([cached.shape, cached.copied], [[2, 5, 4], true]);
  assert.deepEqual(step(trace, "capped").shape, [2, 2, 5]);
  assert.equal(step(trace, "weights").formula, "softmax(capped + M)");
  assert.equal(step(trace, "headsTransposed").formula, "transpose(gated)");
});

eachVariant("attention() has a trace of its own, from q, k, v to the output", (hs) => {
  const random = new Random(8);
  const [q, k, v] = [random.tensor([4, 3, 6]), random.tensor([2, 5, 6]), random.tensor([2, 5, 7])];
  const { trace } = hs.attention(q, k, v, { want: ["trace"] });
  assert.deepEqual(
    trace.map((one) => [one.id, one.shape]),
    [
      ["q", [4, 3, 6]],
      ["k", [2, 5, 6]],
      ["v", [2, 5, 7]],
      ["scores", [4, 3, 5]],
      ["weights", [4, 3, 5]],
      ["heads", [4, 3, 7]],
      ["output", [4, 3, 7]],
    ],
  );
});
