#include "multi_head.h"

#include <algorithm>
#include <new>
#include <utility>

#include "rows.h"

namespace headscope {
namespace {

/// [B, T, heads, width] → [B, heads, T, width].
void split_heads(const float* rows, size_t batch, size_t length, size_t heads, size_t width, float* to) {
  for (size_t b = 0; b < batch; ++b) {
    for (size_t h = 0; h < heads; ++h) {
      for (size_t t = 0; t < length; ++t, to += width) {
        copy_row(rows + ((b * length + t) * heads + h) * width, width, to);
      }
    }
  }
}

AttentionProblem problem_of(const LayerConfig& config, const ForwardCall& call, size_t keys) {
  return {
      .batch = call.batch,
      .num_heads = config.num_heads,
      .num_kv_heads = config.num_kv_heads,
      .queries = call.queries,
      .keys = keys,
      .head_dim = config.head_dim,
      .value_head_dim = config.value_head_dim,
      .query = {},
      .key_values = nullptr,
      .scale = call.scale,
      .softcap = call.softcap,
      .mask = &call.mask,
      .head_gate = call.head_gate,
      .output = {},
      .heads = call.heads,
      .weights = call.weights,
      .scores = call.scores,
      .weights_sink = call.weights_sink,
      .scores_sink = call.scores_sink,
      .scores_stage = call.scores_stage,
  };
}

/// Keys and values of one call without a cache live in the workspace.
struct LocalKeyValues {
  uint64_t floats;
  uint64_t flag_floats;

  LocalKeyValues(const LayerConfig& config, size_t batch, size_t keys)
      : floats(
            Workspace::need(KeyValues::need(batch, config.num_kv_heads, config.head_dim, config.value_head_dim, keys))),
        flag_floats(Workspace::need(saturating_product(batch, config.num_kv_heads) / sizeof(float) + 1)) {}

  void attach(KeyValues& key_values, const LayerConfig& config, size_t batch, size_t keys, Workspace& workspace) const {
    float* memory = workspace.take(floats);
    auto* flags = reinterpret_cast<uint8_t*>(workspace.take(flag_floats));
    key_values.attach(memory, flags, batch, config.num_kv_heads, config.head_dim, config.value_head_dim, keys);
  }
};

void copy_key_values(const ForwardCall& call, const KeyValues& key_values, size_t keys) {
  for (size_t b = 0; b < call.batch; ++b) {
    for (size_t g = 0; g < key_values.heads(); ++g) {
      const size_t row = (b * key_values.heads() + g) * keys;
      if (call.k != nullptr) key_values.copy_keys(b, g, keys, call.k + row * key_values.head_dim());
      if (call.v != nullptr) key_values.copy_values(b, g, keys, call.v + row * key_values.value_head_dim());
    }
  }
}

}  // namespace

Layer* Layer::create(const LayerConfig& config, const LayerWeights& w) {
  const size_t o_depth = config.num_heads * config.value_head_dim;
  Linear query, key, value, output;
  const Status packed[] = {
      query.pack(w.layout, w.query, config.model_dim, config.num_heads * config.head_dim, w.query_bias),
      key.pack(w.layout, w.key, config.key_dim, config.num_kv_heads * config.head_dim, w.key_bias),
      value.pack(w.layout, w.value, config.value_dim, config.num_kv_heads * config.value_head_dim, w.value_bias),
      w.output.data != nullptr ? output.pack(w.layout, w.output, o_depth, config.out_dim, w.output_bias) : Status::ok,
  };
  for (const Status status : packed) {
    if (status != Status::ok) return nullptr;
  }
  return create(config, query, key, value, output);
}

Layer* Layer::create(const LayerConfig& config, Linear& query, Linear& key, Linear& value, Linear& output) {
  auto* layer = new (std::nothrow) Layer;
  if (layer == nullptr) return nullptr;
  layer->config_ = config;
  layer->query_ = std::move(query);
  layer->key_ = std::move(key);
  layer->value_ = std::move(value);
  layer->output_ = std::move(output);
  return layer;
}

Status Layer::forward(const ForwardCall& call, KVCache* cache, Workspace& workspace) const {
  const LayerConfig& c = config_;
  if (cache != nullptr && cache->batch() != call.batch) return Status::bad_argument;
  const size_t past = cache != nullptr ? cache->length() : 0;
  if (cache != nullptr && call.new_keys > cache->capacity() - past) return Status::capacity_exceeded;
  const size_t keys = past + call.new_keys;

  const size_t q_width = c.num_heads * c.head_dim;
  const size_t k_width = c.num_kv_heads * c.head_dim;
  const size_t v_width = c.num_kv_heads * c.value_head_dim;
  const size_t o_width = c.num_heads * c.value_head_dim;
  const uint64_t query_rows = saturating_product(call.batch, call.queries);
  const uint64_t key_rows = saturating_product(call.batch, call.new_keys);

  // Plan all memory before anything is changed. Rows of k and v are needed until they are packed, the concatenation
  // only afterwards, so they share an area.
  AttentionProblem problem = problem_of(c, call, keys);
  const bool has_output_projection = !output_.empty();
  const bool own_concat = call.concat == nullptr && (has_output_projection || call.contributions != nullptr);
  const LocalKeyValues local(c, call.batch, cache != nullptr ? 0 : keys);
  const uint64_t q_floats = Workspace::need(saturating_product(query_rows, q_width));
  const uint64_t k_floats = Workspace::need(saturating_product(key_rows, k_width));
  const uint64_t v_floats = Workspace::need(saturating_product(key_rows, v_width));
  const uint64_t concat_floats = own_concat ? Workspace::need(saturating_product(query_rows, o_width)) : 0;
  const uint64_t shared_floats = std::max(k_floats + v_floats, concat_floats);
  const uint64_t query_table_floats = Workspace::need(rotary_table_floats(c.rotary, call.queries));
  const uint64_t key_table_floats = Workspace::need(rotary_table_floats(c.rotary, call.new_keys));
  const uint64_t scratch_floats = std::max(
      {attention_scratch(problem), query_.scratch(query_rows, call.numerics), key_.scratch(key_rows, call.numerics),
       value_.scratch(key_rows, call.numerics), output_.scratch(query_rows, call.numerics)});
  if (!workspace.reserve(q_floats + shared_floats + local.floats + local.flag_floats + query_table_floats +
                         key_table_floats + scratch_floats)) {
    return Status::out_of_memory;
  }
  float* q = workspace.take(q_floats);
  float* shared = workspace.take(shared_floats);
  float* k = shared;
  float* v = shared + k_floats;
  KeyValues local_key_values;
  KeyValues* key_values = &local_key_values;
  if (cache != nullptr) {
    key_values = &cache->key_values();
  } else {
    local.attach(local_key_values, c, call.batch, keys, workspace);
  }
  float* query_table = workspace.take(query_table_floats);
  float* key_table = workspace.take(key_table_floats);
  float* scratch = workspace.take(scratch_floats);

  // 1. Projections.
  const auto project = [&](const Linear& linear, uint64_t rows, const float* x, float* y) {
    linear.apply(static_cast<size_t>(rows), x, linear.depth(), y, linear.columns(), call.numerics, scratch);
  };
  project(query_, query_rows, call.query, q);
  project(key_, key_rows, call.key, k);
  project(value_, key_rows, call.value, v);

  // 2. Rotary turn by absolute position: query i at i + offset, new key j at past + j.
  if (c.rotary.pairing != RotaryPairing::none) {
    fill_rotary_table(c.rotary, call.mask.offset, call.queries, query_table);
    fill_rotary_table(c.rotary, static_cast<int64_t>(past), call.new_keys, key_table);
    for (size_t b = 0; b < call.batch; ++b) {
      rotate(c.rotary, query_table, call.queries, c.num_heads, c.head_dim, q_width, q + b * call.queries * q_width);
      rotate(c.rotary, key_table, call.new_keys, c.num_kv_heads, c.head_dim, k_width, k + b * call.new_keys * k_width);
    }
  }
  if (call.numerics == Numerics::ggml) {
    // llama.cpp keeps K and V in half precision, and a product with halves rounds its other side to halves as well.
    round_like_ggml(TensorType::f16, q, static_cast<size_t>(query_rows) * q_width);
    round_like_ggml(TensorType::f16, k, static_cast<size_t>(key_rows) * k_width);
    round_like_ggml(TensorType::f16, v, static_cast<size_t>(key_rows) * v_width);
  }
  if (call.q != nullptr) split_heads(q, call.batch, call.queries, c.num_heads, c.head_dim, call.q);

  // 3. Keys and values into panels, behind those of earlier calls.
  for (size_t b = 0; b < call.batch; ++b) {
    for (size_t g = 0; g < c.num_kv_heads; ++g) {
      key_values->append(b, g, past, call.new_keys, k + b * call.new_keys * k_width + g * c.head_dim, k_width,
                         v + b * call.new_keys * v_width + g * c.value_head_dim, v_width);
    }
  }
  copy_key_values(call, *key_values, keys);

  // 4. Heads, written side by side.
  float* concat = call.concat != nullptr ? call.concat : own_concat ? shared : call.output;
  problem.query = {q, call.queries * q_width, c.head_dim, q_width};
  problem.key_values = key_values;
  problem.output = {concat, call.queries * o_width, c.value_head_dim, o_width};
  attend(problem, scratch);

  // 5. Output projection, whole and head by head.
  if (has_output_projection) {
    project(output_, query_rows, concat, call.output);
  } else if (concat != call.output) {
    std::copy_n(concat, query_rows * o_width, call.output);
  }
  if (call.contributions != nullptr) {
    size_t stride = o_width;
    const float* parts = output_.prepare(static_cast<size_t>(query_rows), concat, stride, call.numerics, scratch);
    for (size_t b = 0; b < call.batch; ++b) {
      for (size_t h = 0; h < c.num_heads; ++h) {
        const size_t first = h * c.value_head_dim;
        output_.apply_rows(call.queries, first, c.value_head_dim, parts + b * call.queries * stride + first, stride,
                           call.contributions + (b * c.num_heads + h) * call.queries * c.out_dim, c.out_dim, scratch);
      }
    }
  }
  if (cache != nullptr) cache->advance(call.new_keys);
  return Status::ok;
}

Status attention(const LayerConfig& config, const ForwardCall& call, Workspace& workspace) {
  const LayerConfig& c = config;
  if (call.contributions != nullptr) return Status::bad_argument;
  const size_t keys = call.new_keys;
  AttentionProblem problem = problem_of(c, call, keys);
  const LocalKeyValues local(c, call.batch, keys);
  const uint64_t scratch_floats = attention_scratch(problem);
  if (!workspace.reserve(local.floats + local.flag_floats + scratch_floats)) return Status::out_of_memory;
  KeyValues key_values;
  local.attach(key_values, c, call.batch, keys, workspace);
  float* scratch = workspace.take(scratch_floats);

  for (size_t b = 0; b < call.batch; ++b) {
    for (size_t g = 0; g < c.num_kv_heads; ++g) {
      const size_t row = (b * c.num_kv_heads + g) * keys;
      key_values.append(b, g, 0, keys, call.key + row * c.head_dim, c.head_dim, call.value + row * c.value_head_dim,
                        c.value_head_dim);
    }
  }
  problem.query = {call.query, c.num_heads * call.queries * c.head_dim, call.queries * c.head_dim, c.head_dim};
  problem.key_values = &key_values;
  problem.output = {call.output, c.num_heads * call.queries * c.value_head_dim, call.queries * c.value_head_dim,
                    c.value_head_dim};
  attend(problem, scratch);

  const size_t query_floats = call.batch * c.num_heads * call.queries * c.head_dim;
  if (call.q != nullptr) std::copy_n(call.query, query_floats, call.q);
  copy_key_values(call, key_values, keys);
  if (call.concat != nullptr) {
    for (size_t b = 0; b < call.batch; ++b) {
      for (size_t t = 0; t < call.queries; ++t) {
        for (size_t h = 0; h < c.num_heads; ++h) {
          std::copy_n(call.output + ((b * c.num_heads + h) * call.queries + t) * c.value_head_dim, c.value_head_dim,
                      call.concat + ((b * call.queries + t) * c.num_heads + h) * c.value_head_dim);
        }
      }
    }
  }
  return Status::ok;
}

}  // namespace headscope
