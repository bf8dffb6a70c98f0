#include "model_block.h"

#include <algorithm>
#include <new>
#include <utility>

namespace headscope {

Block* Block::create(const BlockConfig& config, BlockLinears& linears, const NormWeights& attention_norm,
                     const NormWeights& ffn_norm) {
  std::unique_ptr<Block> block(new (std::nothrow) Block);
  if (block == nullptr) return nullptr;
  block->config_ = config;
  if (block->keep_vectors(attention_norm, ffn_norm) != Status::ok) return nullptr;
  block->layer_.reset(
      Layer::create(block->config_.attention, linears.query, linears.key, linears.value, linears.output));
  if (block->layer_ == nullptr) return nullptr;
  block->up_ = std::move(linears.up);
  block->gate_ = std::move(linears.gate);
  block->down_ = std::move(linears.down);
  return block.release();
}

Status Block::keep_vectors(const NormWeights& attention_norm, const NormWeights& ffn_norm) {
  const size_t width = config_.attention.model_dim;
  const float* const from[] = {attention_norm.weight, attention_norm.bias, ffn_norm.weight, ffn_norm.bias};
  const float** const to[] = {&attention_norm_.weight, &attention_norm_.bias, &ffn_norm_.weight, &ffn_norm_.bias};
  Rotary& rotary = config_.attention.rotary;
  const uint64_t factors = rotary.factors != nullptr ? rotary.dims / 2 : 0;
  if (!vectors_.reserve(saturating_product(std::size(from) * sizeof(float), width) + factors * sizeof(float))) {
    return Status::out_of_memory;
  }
  float* next = vectors_.as<float>();
  for (size_t i = 0; i < std::size(from); ++i) {
    if (from[i] == nullptr) continue;
    *to[i] = next;
    next = std::copy_n(from[i], width, next);
  }
  if (factors != 0) {
    std::copy_n(rotary.factors, factors, next);
    rotary.factors = next;
  }
  return Status::ok;
}

void normalise_rows(NormKind kind, size_t rows, size_t width, const float* x, const NormWeights& norm, float epsilon,
                    float* y) {
  if (kind == NormKind::layer) {
    layer_norm(rows, width, x, norm.weight, norm.bias, epsilon, y);
  } else {
    rms_norm(rows, width, x, norm.weight, epsilon, y);
  }
}

void Block::normalise(size_t rows, const float* x, const NormWeights& norm, float* y) const {
  normalise_rows(config_.norm, rows, config_.attention.model_dim, x, norm, config_.epsilon, y);
}

Status Block::forward(const ForwardCall& call, KVCache* cache, float* hidden, Workspace& workspace,
                      Workspace& layer_workspace) const {
  const size_t width = config_.attention.model_dim;
  const uint64_t rows64 = saturating_product(call.batch, call.queries);
  const uint64_t x_floats = Workspace::need(saturating_product(rows64, width));
  const bool whole = hidden != nullptr;
  if (whole && (up_.empty() || down_.empty() || config_.attention.out_dim != width)) return Status::bad_argument;
  const size_t inner = whole ? up_.columns() : 0;
  const uint64_t inner_floats = Workspace::need(saturating_product(rows64, inner));
  const uint64_t gate_floats = gate_.empty() ? 0 : inner_floats;
  const uint64_t scratch_floats = std::max(
      {up_.scratch(rows64, call.numerics), gate_.scratch(rows64, call.numerics), down_.scratch(rows64, call.numerics)});
  if (!workspace.reserve(2 * x_floats + inner_floats + gate_floats + scratch_floats)) return Status::out_of_memory;
  float* z = workspace.take(x_floats);
  float* delta = workspace.take(x_floats);
  float* up = workspace.take(inner_floats);
  float* gate = workspace.take(gate_floats);
  float* scratch = workspace.take(scratch_floats);
  const auto rows = static_cast<size_t>(rows64);

  // 1. Attention of the normalised rows, or of the rows themselves.
  ForwardCall attention = call;
  attention.new_keys = call.queries;
  if (!config_.post_norm) {
    normalise(rows, call.query, attention_norm_, z);
    attention.query = z;
  }
  attention.key = attention.value = attention.query;
  const Status status = layer_->forward(attention, cache, layer_workspace);
  if (status != Status::ok || !whole) return status;

  // 2. Onto the residual.
  if (hidden != call.query) std::copy_n(call.query, rows * width, hidden);
  add_in_place(hidden, call.output, rows * width);
  if (config_.post_norm) normalise(rows, hidden, attention_norm_, hidden);

  // 3. Feed-forward, onto the residual as well.
  const float* input = hidden;
  if (!config_.post_norm) {
    normalise(rows, hidden, ffn_norm_, z);
    input = z;
  }
  up_.apply(rows, input, width, up, inner, call.numerics, scratch);
  if (gate_.empty()) {
    activate(config_.activation, up, rows * inner);
  } else {
    gate_.apply(rows, input, width, gate, inner, call.numerics, scratch);
    activate(config_.activation, gate, rows * inner);
    multiply_in_place(up, gate, rows * inner);
  }
  down_.apply(rows, up, inner, delta, width, call.numerics, scratch);
  add_in_place(hidden, delta, rows * width);
  if (config_.post_norm) normalise(rows, hidden, ffn_norm_, hidden);
  return Status::ok;
}

}  // namespace headscope
