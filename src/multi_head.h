// A multi-head attention layer: projections around attention.h.
//
//   q = x_q · W_Q + b_Q   [B, T, H·dk]      k = x_k · W_K + b_K   [B, S, G·dk]      v = x_v · W_V + b_V   [B, S, G·dv]
//   rotary turn of q and k, where set
//   attention of each head; concat = its outputs side by side   [B, T, H·dv]
//   output = concat · W_O + b_O                                 [B, T, outDim]
//
// Vaswani et al. 2017, section 3.2.2. Head h is the h-th block of columns of each projection, and the h-th block
// of rows of W_O: what head h adds to the output is o_h · W_O[h·dv … (h+1)·dv), and the output is the sum of these
// over h, plus b_O.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attention.h"
#include "blocks.h"
#include "kv_cache.h"
#include "linear.h"
#include "memory.h"
#include "status.h"

namespace headscope {

struct LayerConfig {
  size_t model_dim = 0;  // D, width of the query source
  size_t key_dim = 0;    // width of the key source
  size_t value_dim = 0;  // width of the value source
  size_t out_dim = 0;
  size_t num_heads = 0;       // H
  size_t num_kv_heads = 0;    // G, divides H
  size_t head_dim = 0;        // dk
  size_t value_head_dim = 0;  // dv
  Rotary rotary;
};

/// Weights in float32.
struct LayerWeights {
  WeightLayout layout = WeightLayout::in_out;
  WeightMatrix query, key, value;
  WeightMatrix output;  // data null: no output projection, the output is the concatenation
  const float* query_bias = nullptr;
  const float* key_bias = nullptr;
  const float* value_bias = nullptr;
  const float* output_bias = nullptr;
};

/// One call. Sources and results are dense, row-major; null results are not wanted.
struct ForwardCall {
  size_t batch = 0;
  size_t queries = 0;            // T
  size_t new_keys = 0;           // keys projected in this call; S = cached length + new_keys
  const float* query = nullptr;  // [B, T, D]
  const float* key = nullptr;    // [B, new_keys, key_dim]
  const float* value = nullptr;  // [B, new_keys, value_dim]
  float scale = 1.0F;
  float softcap = 0.0F;
  Mask mask;
  const float* head_gate = nullptr;   // [H]
  Numerics numerics = Numerics::f32;  // ggml: stored products as in linear.h, and q, k, v rounded to half precision

  float* output = nullptr;   // [B, T, outDim]
  float* weights = nullptr;  // [B, H, T, S]
  float* scores = nullptr;   // [B, H, T, S]
  RowSink weights_sink;      // in place of `weights`; nothing is handed on unless the call succeeds
  RowSink scores_sink;       // in place of `scores`
  ScoresStage scores_stage = ScoresStage::masked;
  float* q = nullptr;              // [B, H, T, dk], after bias and rotary
  float* k = nullptr;              // [B, G, S, dk], cached keys included
  float* v = nullptr;              // [B, G, S, dv]
  float* heads = nullptr;          // [B, H, T, dv], before the gate
  float* concat = nullptr;         // [B, T, H·dv], after the gate
  float* contributions = nullptr;  // [B, H, T, outDim], after the gate, without b_O
};

class Layer {
 public:
  /// Packs float32 weights; the caller's memory is not needed afterwards. Null when out of memory.
  static Layer* create(const LayerConfig& config, const LayerWeights& weights);

  /// Takes over projections that are there already, of the widths that the config asks for; an empty `output` means no
  /// output projection. They are moved from only on success. Null when out of memory.
  static Layer* create(const LayerConfig& config, Linear& query, Linear& key, Linear& value, Linear& output);

  /// Runs one call. With a cache (of this layer's G, dk and dv, and the call's batch) the new keys are appended to
  /// it once everything has succeeded; on any other status it is as before.
  Status forward(const ForwardCall& call, KVCache* cache, Workspace& workspace) const;

  [[nodiscard]] const LayerConfig& config() const { return config_; }

 private:
  Layer() = default;

  LayerConfig config_;
  Linear query_, key_, value_, output_;
};

/// Attention alone, on heads that are projected already: the call's query is [B, H, T, dk], its key [B, G, S, dk],
/// its value [B, G, S, dv], its output [B, H, T, dv]; contributions do not exist.
Status attention(const LayerConfig& config, const ForwardCall& call, Workspace& workspace);

}  // namespace headscope
