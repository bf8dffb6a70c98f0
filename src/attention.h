// Scaled dot-product attention over heads that are already projected:
//
//   scores  s = scale · q_i · k_j                    [B, H, T, S]
//   capped  s = cap · tanh(s / cap)                  where a soft cap is set
//   masked  s = s + bias, or −Infinity where hidden  (mask.h)
//   weights w = softmax over j                       0 for a row that sees no key
//   heads   o_i = Σ_j w_ij · v_j                     [B, H, T, dv]
//   output  gate_h · o_i
//
// Vaswani et al. 2017, section 3.2.1; head h reads K/V head ⌊h / (H / G)⌋ (Ainslie et al. 2023, GQA).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kv_cache.h"
#include "mask.h"
#include "memory.h"

namespace headscope {

enum class ScoresStage : uint32_t { scaled = 0, capped = 1, masked = 2 };

/// A [B, H, T, width] tensor whose rows are contiguous; strides in floats.
template <class T>
struct HeadRows {
  T* data = nullptr;
  size_t stride_b = 0;
  size_t stride_h = 0;
  size_t stride_t = 0;

  [[nodiscard]] T* row(size_t b, size_t h, size_t t) const { return data + b * stride_b + h * stride_h + t * stride_t; }
};

/// Takes rows of a [B, H, T, S] result as they are done, block by block, while they are in the caches: the whole result
/// is written once, where its owner wants it, and needs no memory here.
struct RowSink {
  /// `count` dense rows, the first of them the `first`-th of the B · H · T. Each row comes once, in no promised order.
  void (*take)(void* to, size_t first, size_t count, const float* rows) = nullptr;
  void* to = nullptr;
};

struct AttentionProblem {
  size_t batch = 0;
  size_t num_heads = 0;       // H
  size_t num_kv_heads = 0;    // G, divides H
  size_t queries = 0;         // T
  size_t keys = 0;            // S
  size_t head_dim = 0;        // dk
  size_t value_head_dim = 0;  // dv
  HeadRows<const float> query;
  const KeyValues* key_values = nullptr;  // holds at least S keys of each of the B items and G heads
  float scale = 1.0F;
  float softcap = 0.0F;              // 0 = none
  const Mask* mask = nullptr;        // not null
  const float* head_gate = nullptr;  // [H]; a gate of 0 gives exactly 0, even for a head that is NaN

  // Results; null = not wanted. Wanting more never changes the others' values.
  HeadRows<float> output;    // gated heads
  float* heads = nullptr;    // [B, H, T, dv], before the gate
  float* weights = nullptr;  // [B, H, T, S]
  float* scores = nullptr;   // [B, H, T, S]
  RowSink weights_sink;      // in place of `weights`
  RowSink scores_sink;       // in place of `scores`
  ScoresStage scores_stage = ScoresStage::masked;

  [[nodiscard]] bool wants_weights() const { return weights != nullptr || weights_sink.take != nullptr; }
  [[nodiscard]] bool wants_scores() const { return scores != nullptr || scores_sink.take != nullptr; }
};

/// Floats of scratch that `attend` needs: a few rows of what is wanted of weights and scores or, where neither is, a
/// fixed block, so that memory does not grow with T · S.
uint64_t attention_scratch(const AttentionProblem& problem);

/// Runs the problem. `scratch` holds attention_scratch(problem) floats, aligned to 16 bytes.
void attend(const AttentionProblem& problem, float* scratch);

}  // namespace headscope
