// One block of a transformer around the attention layer, in the three forms that gpt2, bert and llama files hold:
//
//   pre-norm    a = Attention(Norm(x));  x = x + a;        x = x + FFN(Norm(x))          GPT-2 (layer norm), Llama (RMS
//   norm) post-norm   a = Attention(x);        x = Norm(x + a);  x = Norm(x + FFN(x))          BERT
//
//   FFN(z) = down(act(up(z)))   or, gated,   down(act(gate(z)) · up(z))                  (SwiGLU)
//
// Radford et al. 2019; Devlin et al. 2019; Touvron et al. 2023.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "blocks.h"
#include "linear.h"
#include "multi_head.h"

namespace headscope {

enum class NormKind : uint32_t { layer = 0, rms = 1 };

/// A norm's weights [width]; bias null for RMS norm.
struct NormWeights {
  const float* weight = nullptr;
  const float* bias = nullptr;
};

struct BlockConfig {
  LayerConfig attention;  // model_dim is the width of x
  NormKind norm = NormKind::layer;
  bool post_norm = false;
  float epsilon = 1e-5F;
  Activation activation = Activation::gelu_tanh;
};

/// The projections of a block. `gate` is empty where the FFN is not gated. `up` and `down` are both empty in a block
/// that is only asked for its attention, and `output` with them where not even the attention's output is wanted.
struct BlockLinears {
  Linear query, key, value, output, up, gate, down;
};

class Block {
 public:
  /// Takes over the projections (moved from only on success) and copies the norms and the rotary factors. Null when out
  /// of memory.
  static Block* create(const BlockConfig& config, BlockLinears& linears, const NormWeights& attention_norm,
                       const NormWeights& ffn_norm);

  /// Runs the block on x [B, T, D] (call.query; key and value are ignored, this is self-attention). The call's results
  /// are the attention's: its output is a. `hidden`, where not null, receives the new x [B, T, D] and may be the same
  /// memory as call.query; it needs `output`, `up` and `down`.
  Status forward(const ForwardCall& call, KVCache* cache, float* hidden, Workspace& workspace,
                 Workspace& layer_workspace) const;

  [[nodiscard]] const BlockConfig& config() const { return config_; }

 private:
  Block() = default;

  Status keep_vectors(const NormWeights& attention_norm, const NormWeights& ffn_norm);
  void normalise(size_t rows, const float* x, const NormWeights& norm, float* y) const;

  BlockConfig config_;
  std::unique_ptr<Layer> layer_;
  Linear up_, gate_, down_;
  Buffer vectors_;  // of the norms, and the rotary factors
  NormWeights attention_norm_, ffn_norm_;
};

/// y = Norm(x) of `rows` rows, for the norms of a model that belong to no block.
void normalise_rows(NormKind kind, size_t rows, size_t width, const float* x, const NormWeights& norm, float epsilon,
                    float* y);

}  // namespace headscope
