// The layer and attention alone against reference.cpp, over random combinations of every option, with canaries
// around each result; caches against the full pass; refusals that leave everything as it was.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "../../src/multi_head.h"
#include "../../src/reference.h"
#include "check.h"

// A refused allocation must come back as null, as it does on wasm, and not end the test.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

using namespace headscope;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <class T>
Broadcast<T> broadcast(const std::vector<T>& data, const size_t (&shape)[4]) {
  Broadcast<T> view{data.data(), 0, 0, 0, 0};
  size_t stride = 1;
  size_t* const strides[] = {&view.stride_b, &view.stride_h, &view.stride_t, &view.stride_s};
  for (size_t axis = 4; axis-- > 0;) {
    *strides[axis] = shape[axis] == 1 ? 0 : stride;
    stride *= shape[axis];
  }
  return view;
}

double largest_of(const reference::Tensor& x) {
  double largest = 1e-3;
  for (const double v : x) {
    if (std::isfinite(v)) largest = std::max(largest, std::fabs(v));
  }
  return largest;
}

struct Case {
  LayerConfig config;
  ForwardCall call;
  size_t past = 0;
  std::vector<float> x, key_x, value_x, past_key_x, past_value_x;
  std::vector<float> wq, wk, wv, wo, bq, bk, bv, bo, gate;
  std::vector<uint8_t> allowed, key_mask;
  std::vector<float> bias;
  std::vector<int32_t> lengths;
  bool with_wo = true;
  bool out_in = false;
  bool streaming = false;
};

/// Hides stretches of keys from eight rows at a time, so that whole panels and long runs of them are dead.
template <class T>
void hide_blocks(check::Random& random, size_t keys, std::vector<T>& mask, T hidden) {
  const size_t width = 1 + random.below(100);
  const size_t phase = random.below(3);
  for (size_t i = 0; i < mask.size(); ++i) {
    if ((i / keys / 8 + i % keys / width + phase) % 3 != 0) mask[i] = hidden;
  }
}

size_t pick_size(check::Random& random, bool large) {
  static const size_t kSizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 49, 63, 64, 65};
  return large ? 200 + random.below(400) : kSizes[random.below(std::size(kSizes))];
}

Case make_case(uint64_t seed) {
  check::Random random(seed);
  Case c;
  const bool large = random.chance(12);
  const bool tall = random.chance(12);  // more rows than blocks of queries take keys in turn
  LayerConfig& config = c.config;
  const size_t group = 1 + random.below(3);
  config.num_kv_heads = 1 + random.below(3);
  config.num_heads = group * config.num_kv_heads;
  config.head_dim = large || tall ? 8 : 1 + random.below(17);
  config.value_head_dim = random.chance(2) ? config.head_dim : 1 + random.below(18);
  config.model_dim = 1 + random.below(20);
  config.key_dim = random.chance(2) ? config.model_dim : 1 + random.below(20);
  config.value_dim = random.chance(2) ? config.key_dim : 1 + random.below(20);
  c.with_wo = !random.chance(4);
  config.out_dim = c.with_wo ? 1 + random.below(20) : config.num_heads * config.value_head_dim;
  if (config.head_dim >= 2 && random.chance(3)) {
    config.rotary.pairing = random.chance(2) ? RotaryPairing::adjacent : RotaryPairing::halves;
    config.rotary.dims = 2 * (1 + random.below(config.head_dim / 2));
    config.rotary.base = random.chance(2) ? 10000.0 : 500.0;
  }

  ForwardCall& call = c.call;
  call.batch = large || tall ? 1 : 1 + random.below(3);
  call.queries = pick_size(random, tall);
  call.new_keys = pick_size(random, large);
  c.past = random.chance(3) ? random.below(12) : 0;
  const size_t keys = c.past + call.new_keys;
  call.scale = random.chance(3) ? 0.7F : 1.0F / std::sqrt(static_cast<float>(config.head_dim));
  call.softcap = random.chance(4) ? 2.5F : 0.0F;
  call.mask.offset = random.chance(2) ? static_cast<int64_t>(c.past) : static_cast<int64_t>(random.below(9)) - 4;
  call.mask.causal = random.chance(2);
  call.mask.has_left = random.chance(4);
  call.mask.left = static_cast<int64_t>(random.below(20));
  call.mask.has_right = random.chance(4);
  call.mask.right = static_cast<int64_t>(random.below(20));
  c.streaming = random.chance(2);

  c.x = random.values(call.batch * call.queries * config.model_dim);
  c.key_x = random.values(call.batch * call.new_keys * config.key_dim);
  c.value_x = random.values(call.batch * call.new_keys * config.value_dim);
  c.past_key_x = random.values(call.batch * c.past * config.key_dim);
  c.past_value_x = random.values(call.batch * c.past * config.value_dim);
  c.wq = random.values(config.model_dim * config.num_heads * config.head_dim, 0.5F);
  c.wk = random.values(config.key_dim * config.num_kv_heads * config.head_dim, 0.5F);
  c.wv = random.values(config.value_dim * config.num_kv_heads * config.value_head_dim, 0.5F);
  if (c.with_wo) c.wo = random.values(config.num_heads * config.value_head_dim * config.out_dim, 0.5F);
  if (random.chance(2)) c.bq = random.values(config.num_heads * config.head_dim);
  if (random.chance(2)) c.bk = random.values(config.num_kv_heads * config.head_dim);
  if (random.chance(2)) c.bv = random.values(config.num_kv_heads * config.value_head_dim);
  if (c.with_wo && random.chance(2)) c.bo = random.values(config.out_dim);
  c.out_in = random.chance(2);
  if (random.chance(3)) {
    c.gate = random.values(config.num_heads);
    c.gate[random.below(config.num_heads)] = 0.0F;
  }

  const auto mask_shape = [&](size_t(&shape)[4]) {
    const size_t full[4] = {call.batch, config.num_heads, call.queries, keys};
    size_t n = 1;
    for (size_t axis = 0; axis < 4; ++axis) {
      shape[axis] = random.chance(2) ? 1 : full[axis];
      n *= shape[axis];
    }
    return n;
  };
  if (random.chance(3)) {
    size_t shape[4];
    c.allowed.resize(mask_shape(shape));
    for (uint8_t& a : c.allowed) a = random.chance(3) ? 0 : 1;
    if (shape[3] > 1 && random.chance(2)) hide_blocks(random, shape[3], c.allowed, uint8_t{0});
    call.mask.allowed = broadcast(c.allowed, shape);
  }
  if (random.chance(3)) {
    size_t shape[4];
    const size_t n = mask_shape(shape);
    c.bias = random.values(n);
    for (float& x : c.bias) {
      if (random.chance(5)) x = kHidden;
    }
    if (shape[3] > 1 && random.chance(2)) hide_blocks(random, shape[3], c.bias, kHidden);
    call.mask.bias = broadcast(c.bias, shape);
  }
  if (random.chance(4)) {
    c.key_mask.resize(call.batch * keys);
    for (uint8_t& a : c.key_mask) a = random.chance(4) ? 0 : 1;
    call.mask.key_mask = c.key_mask.data();
  } else if (random.chance(4)) {
    for (size_t b = 0; b < call.batch; ++b) c.lengths.push_back(static_cast<int32_t>(random.below(keys + 1)));
    call.mask.lengths = c.lengths.data();
  }
  return c;
}

std::vector<float> transposed(const std::vector<float>& w, size_t in, size_t out) {
  std::vector<float> t(w.size());
  for (size_t k = 0; k < in; ++k) {
    for (size_t n = 0; n < out; ++n) t[n * in + k] = w[k * out + n];
  }
  return t;
}

const float* data_or_null(const std::vector<float>& v) { return v.empty() ? nullptr : v.data(); }

std::unique_ptr<Layer> make_layer(const Case& c) {
  const LayerConfig& config = c.config;
  const size_t q = config.num_heads * config.head_dim;
  const size_t k = config.num_kv_heads * config.head_dim;
  const size_t v = config.num_kv_heads * config.value_head_dim;
  const size_t o = config.num_heads * config.value_head_dim;
  LayerWeights w;
  std::vector<float> wq = c.wq, wk = c.wk, wv = c.wv, wo = c.wo;
  if (c.out_in) {
    w.layout = WeightLayout::out_in;
    wq = transposed(wq, config.model_dim, q);
    wk = transposed(wk, config.key_dim, k);
    wv = transposed(wv, config.value_dim, v);
    wo = transposed(wo, o, c.with_wo ? config.out_dim : 0);
  }
  w.query = {wq.data(), c.out_in ? config.model_dim : q};
  w.key = {wk.data(), c.out_in ? config.key_dim : k};
  w.value = {wv.data(), c.out_in ? config.value_dim : v};
  w.output = {data_or_null(wo), c.out_in ? o : config.out_dim};
  w.query_bias = data_or_null(c.bq);
  w.key_bias = data_or_null(c.bk);
  w.value_bias = data_or_null(c.bv);
  w.output_bias = data_or_null(c.bo);
  std::unique_ptr<Layer> layer(Layer::create(config, w));
  CHECK(layer != nullptr);
  return layer;  // the copies above are gone now: the layer must have packed them
}

/// Rows of the past in front of the new rows, per item.
std::vector<double> with_past(const std::vector<float>& past, const std::vector<float>& fresh, size_t batch,
                              size_t past_rows, size_t rows, size_t width) {
  std::vector<double> all;
  for (size_t b = 0; b < batch; ++b) {
    const auto at = [&](const std::vector<float>& x, size_t row) {
      return x.begin() + static_cast<ptrdiff_t>(row * width);
    };
    all.insert(all.end(), at(past, b * past_rows), at(past, (b + 1) * past_rows));
    all.insert(all.end(), at(fresh, b * rows), at(fresh, (b + 1) * rows));
  }
  return all;
}

/// Rows of [B, H, T, S] as a sink gets them.
struct Taken {
  check::Guarded rows;
  std::vector<int> times;  // each row came
  size_t keys;
  size_t most = 0;  // at once

  Taken(size_t count, size_t width) : rows(count * width), times(count, 0), keys(width) {}

  [[nodiscard]] RowSink sink() {
    const auto take = [](void* to, size_t first, size_t count, const float* data) {
      auto& taken = *static_cast<Taken*>(to);
      CHECK(first + count <= taken.times.size());
      for (size_t r = first; r < first + count; ++r) ++taken.times[r];
      if (count * taken.keys > 0) {
        std::memcpy(taken.rows.data() + first * taken.keys, data, count * taken.keys * sizeof(float));
      }
      taken.most = std::max(taken.most, count);
    };
    return {take, this};
  }

  /// Every row came once, a block of queries or a short head at a time, and is the result's to the last bit.
  void check_rows(const float* expected) {
    for (const int each : times) CHECK(each == 1);
    CHECK(rows.intact() && most <= 60);
    CHECK(times.empty() || keys == 0 || std::memcmp(rows.data(), expected, times.size() * keys * sizeof(float)) == 0);
  }
};

/// Weights, scores or both handed on row by row instead of kept change no bit of any result.
void rows_go_to_sinks(const Layer& layer, const ForwardCall& whole, size_t keys) {
  const size_t count = whole.batch * layer.config().num_heads * whole.queries;
  const size_t outputs = whole.batch * whole.queries * layer.config().out_dim;
  for (const unsigned sunk : {1U, 2U, 3U}) {
    Taken weights(count, keys);
    Taken scores(count, keys);
    check::Guarded kept_weights(count * keys);
    check::Guarded kept_scores(count * keys);
    check::Guarded out(outputs);
    Workspace workspace;
    ForwardCall call = whole;
    call.output = out.data();
    call.weights = (sunk & 1U) != 0 ? nullptr : kept_weights.data();
    call.scores = (sunk & 2U) != 0 ? nullptr : kept_scores.data();
    if ((sunk & 1U) != 0) call.weights_sink = weights.sink();
    if ((sunk & 2U) != 0) call.scores_sink = scores.sink();
    CHECK(layer.forward(call, nullptr, workspace) == Status::ok);
    CHECK(out.intact() && kept_weights.intact() && kept_scores.intact());
    CHECK(outputs == 0 || std::memcmp(out.data(), whole.output, outputs * sizeof(float)) == 0);
    if ((sunk & 1U) != 0) weights.check_rows(whole.weights);
    if ((sunk & 2U) != 0) scores.check_rows(whole.scores);
  }
}

void layer_matches_reference(uint64_t seed) {
  Case c = make_case(seed);
  const LayerConfig& config = c.config;
  ForwardCall call = c.call;
  const size_t keys = c.past + call.new_keys;
  const size_t B = call.batch;
  const size_t H = config.num_heads;
  const size_t G = config.num_kv_heads;
  const size_t T = call.queries;
  const size_t dk = config.head_dim;
  const size_t dv = config.value_head_dim;

  // Reference.
  auto q = reference::split_heads(
      reference::linear(check::widen(c.x), B * T, config.model_dim, check::widen(c.wq), H * dk, check::widen(c.bq)), B,
      T, H, dk);
  const auto key_rows = with_past(c.past_key_x, c.key_x, B, c.past, call.new_keys, config.key_dim);
  const auto value_rows = with_past(c.past_value_x, c.value_x, B, c.past, call.new_keys, config.value_dim);
  auto k = reference::split_heads(
      reference::linear(key_rows, B * keys, config.key_dim, check::widen(c.wk), G * dk, check::widen(c.bk)), B, keys, G,
      dk);
  const auto v = reference::split_heads(
      reference::linear(value_rows, B * keys, config.value_dim, check::widen(c.wv), G * dv, check::widen(c.bv)), B,
      keys, G, dv);
  if (config.rotary.pairing != RotaryPairing::none) {
    const bool adjacent = config.rotary.pairing == RotaryPairing::adjacent;
    reference::rotate(q, B, H, T, dk, static_cast<long>(call.mask.offset), config.rotary.dims, config.rotary.base,
                      adjacent);
    reference::rotate(k, B, G, keys, dk, 0, config.rotary.dims, config.rotary.base, adjacent);
  }
  const Mask& m = call.mask;
  reference::Mask mask;
  mask.visible = [&](size_t b, size_t h, size_t i, size_t j) {
    const int64_t position = static_cast<int64_t>(i) + m.offset;
    const auto key = static_cast<int64_t>(j);
    if (m.causal && key > position) return false;
    if (m.has_left && key < position - m.left) return false;
    if (m.has_right && key > position + m.right) return false;
    if (m.lengths != nullptr && key >= m.lengths[b]) return false;
    if (m.key_mask != nullptr && m.key_mask[b * keys + j] == 0) return false;
    return m.allowed.data == nullptr || m.allowed.row(b, h, i)[j * m.allowed.stride_s] != 0;
  };
  mask.bias = [&](size_t b, size_t h, size_t i, size_t j) {
    return m.bias.data == nullptr ? 0.0 : static_cast<double>(m.bias.row(b, h, i)[j * m.bias.stride_s]);
  };
  const reference::Sizes sizes{B, H, G, T, keys, dk, dv};
  const auto expected =
      reference::attention(sizes, q, k, v, static_cast<double>(call.scale), static_cast<double>(call.softcap), mask);
  auto gated = expected.heads;
  for (size_t i = 0; i < gated.size(); ++i) {
    if (!c.gate.empty()) gated[i] *= static_cast<double>(c.gate[i / (T * dv) % H]);
  }
  const auto concat = reference::join_heads(gated, B, T, H, dv);
  const auto output =
      c.with_wo ? reference::linear(concat, B * T, H * dv, check::widen(c.wo), config.out_dim, check::widen(c.bo))
                : concat;

  // Ours.
  const auto layer = make_layer(c);
  Workspace workspace;
  std::unique_ptr<KVCache> cache;
  if (c.past > 0) {
    cache.reset(KVCache::create(B, G, dk, dv, keys));
    ForwardCall first;
    first.batch = B;
    first.queries = 0;
    first.new_keys = c.past;
    first.query = c.x.data();
    first.key = c.past_key_x.data();
    first.value = c.past_value_x.data();
    float nothing = 0.0F;
    first.output = &nothing;
    CHECK(layer->forward(first, cache.get(), workspace) == Status::ok);
    CHECK(cache->length() == c.past);
  }
  call.query = c.x.data();
  call.key = c.key_x.data();
  call.value = c.value_x.data();
  call.head_gate = data_or_null(c.gate);
  check::Guarded out(B * T * config.out_dim);
  check::Guarded weights(B * H * T * keys);
  check::Guarded scores(B * H * T * keys);
  check::Guarded out_q(B * H * T * dk);
  check::Guarded out_k(B * G * keys * dk);
  check::Guarded out_v(B * G * keys * dv);
  check::Guarded heads(B * H * T * dv);
  check::Guarded out_concat(B * T * H * dv);
  check::Guarded contributions(B * H * T * config.out_dim);
  call.output = out.data();
  call.q = out_q.data();
  call.k = out_k.data();
  call.v = out_v.data();
  call.heads = heads.data();
  call.concat = out_concat.data();
  if (c.with_wo) call.contributions = contributions.data();
  call.scores_stage = static_cast<ScoresStage>(seed % 3);
  if (!c.streaming) {
    call.weights = weights.data();
    call.scores = scores.data();
  }
  CHECK(layer->forward(call, cache.get(), workspace) == Status::ok);

  const double tolerance = 4e-6;
  check::close(out.data(), output.data(), output.size(), tolerance * largest_of(output), "output");
  check::close(heads.data(), expected.heads.data(), expected.heads.size(), tolerance * largest_of(v), "heads");
  check::close(out_concat.data(), concat.data(), concat.size(), tolerance * largest_of(concat) * 2, "concat");
  check::close(out_q.data(), q.data(), q.size(), tolerance * largest_of(q), "q");
  check::close(out_k.data(), k.data(), k.size(), tolerance * largest_of(k), "k");
  check::close(out_v.data(), v.data(), v.size(), tolerance * largest_of(v), "v");
  CHECK(out.intact() && out.filled() && heads.intact() && heads.filled() && out_concat.intact() &&
        out_concat.filled() && out_q.intact() && out_q.filled() && out_k.intact() && out_k.filled() && out_v.intact() &&
        out_v.filled());
  if (!c.streaming) {
    const auto& stage = seed % 3 == 0 ? expected.scaled : seed % 3 == 1 ? expected.capped : expected.masked;
    check::close(weights.data(), expected.weights.data(), expected.weights.size(), 3e-6, "weights");
    check::close(scores.data(), stage.data(), stage.size(), tolerance * largest_of(expected.scaled), "scores");
    CHECK(weights.intact() && weights.filled() && scores.intact() && scores.filled());
  }
  if (c.with_wo) {
    std::vector<double> sum(output.size(), 0.0);
    for (size_t b = 0; b < B; ++b) {
      for (size_t i = 0; i < T * config.out_dim; ++i) {
        double total = c.bo.empty() ? 0.0 : static_cast<double>(c.bo[i % config.out_dim]);
        for (size_t h = 0; h < H; ++h) {
          total += static_cast<double>(contributions.data()[(b * H + h) * T * config.out_dim + i]);
        }
        sum[b * T * config.out_dim + i] = total;
      }
    }
    check::close(sum.data(), output.data(), output.size(), tolerance * largest_of(output), "sum of contributions");
    CHECK(contributions.intact() && contributions.filled());
  }

  // The output must not depend on what else was asked for, beyond a rounding where streaming takes over.
  if (!cache) {
    ForwardCall bare = call;
    bare.q = bare.k = bare.v = bare.heads = bare.concat = bare.contributions = bare.scores = nullptr;
    check::Guarded bare_out(B * T * config.out_dim);
    bare.output = bare_out.data();
    CHECK(layer->forward(bare, nullptr, workspace) == Status::ok);
    CHECK(std::memcmp(bare_out.data(), out.data(), B * T * config.out_dim * sizeof(float)) == 0);
    if (!c.streaming) rows_go_to_sinks(*layer, call, keys);
    bare.weights = nullptr;
    CHECK(layer->forward(bare, nullptr, workspace) == Status::ok);
    check::close(bare_out.data(), out.data(), B * T * config.out_dim, 1e-6 * largest_of(output) + 1e-7, "streamed");
  }

  // Attention alone, on the q, k, v just returned, gives the same heads.
  ForwardCall alone = c.call;
  alone.new_keys = keys;
  alone.query = out_q.data();
  alone.key = out_k.data();
  alone.value = out_v.data();
  check::Guarded alone_out(B * H * T * dv);
  alone.output = alone_out.data();
  if (!c.streaming) alone.weights = weights.data();
  CHECK(attention(config, alone, workspace) == Status::ok);
  CHECK(std::memcmp(alone_out.data(), heads.data(), B * H * T * dv * sizeof(float)) == 0);
  CHECK(alone_out.intact());
}

void split_cache_equals_full_pass() {
  check::Random random(99);
  for (const size_t total : {size_t{8}, size_t{13}, size_t{70}}) {
    Case c;
    c.config = {12, 12, 12, 12, 4, 2, 6, 5, {RotaryPairing::halves, 4, 10000.0}};
    c.wq = random.values(12 * 24, 0.5F);
    c.wk = random.values(12 * 12, 0.5F);
    c.wv = random.values(12 * 10, 0.5F);
    c.wo = random.values(20 * 12, 0.5F);
    const auto layer = make_layer(c);
    const std::vector<float> x = random.values(total * 12);
    Workspace workspace;
    ForwardCall call;
    call.batch = 1;
    call.scale = 0.4F;
    call.mask.causal = true;
    call.queries = call.new_keys = total;
    call.query = call.key = call.value = x.data();
    std::vector<float> full(total * 12);
    call.output = full.data();
    CHECK(layer->forward(call, nullptr, workspace) == Status::ok);

    for (const size_t step : {size_t{1}, size_t{3}, size_t{5}}) {
      std::unique_ptr<KVCache> cache(KVCache::create(1, 2, 6, 5, total));
      std::vector<float> parts(total * 12);
      for (size_t t = 0; t < total; t += step) {
        call.queries = call.new_keys = std::min(step, total - t);
        call.query = call.key = call.value = x.data() + t * 12;
        call.mask.offset = static_cast<int64_t>(t);
        call.output = parts.data() + t * 12;
        CHECK(layer->forward(call, cache.get(), workspace) == Status::ok);
      }
      check::close(parts.data(), full.data(), full.size(), 1e-6, "cache in parts");

      // Full: refused, and nothing moved. Truncated: the same rows again.
      call.queries = call.new_keys = 1;
      CHECK(layer->forward(call, cache.get(), workspace) == Status::capacity_exceeded);
      CHECK(cache->length() == total);
      cache->truncate(total - 1);
      call.query = call.key = call.value = x.data() + (total - 1) * 12;
      call.mask.offset = static_cast<int64_t>(total - 1);
      float again[12];
      call.output = again;
      CHECK(layer->forward(call, cache.get(), workspace) == Status::ok);
      check::close(again, full.data() + (total - 1) * 12, 12, 1e-6, "after truncate");
      call.mask.offset = 0;
    }
  }
}

void hidden_values_never_come_through() {
  // One head, dk = dv = 4, S = 300 (over a key block), keys 250 … 299 hidden and full of NaN and Infinity.
  check::Random random(7);
  constexpr size_t kKeys = 300;
  constexpr size_t kVisible = 250;
  LayerConfig config{4, 4, 4, 4, 1, 1, 4, 4, {}};
  const std::vector<float> q = random.values(5 * 4);
  std::vector<float> k = random.values(kKeys * 4);
  std::vector<float> v = random.values(kKeys * 4);
  Workspace workspace;
  ForwardCall call;
  call.batch = 1;
  call.queries = 5;
  call.new_keys = kVisible;
  call.query = q.data();
  call.key = k.data();
  call.value = v.data();
  call.scale = 0.5F;
  std::vector<float> clean(5 * 4);
  call.output = clean.data();
  CHECK(attention(config, call, workspace) == Status::ok);

  for (size_t j = kVisible; j < kKeys; ++j) {
    for (size_t c = 0; c < 4; ++c) {
      k[j * 4 + c] = j % 2 == 0 ? kNan : kInfinity;
      v[j * 4 + c] = j % 3 == 0 ? kNan : -kInfinity;
    }
  }
  call.new_keys = kKeys;
  std::vector<uint8_t> allowed(kKeys, 1);
  std::fill(allowed.begin() + kVisible, allowed.end(), uint8_t{0});
  std::vector<float> bias(kKeys, 0.0F);
  std::fill(bias.begin() + kVisible, bias.end(), kHidden);
  const std::vector<int32_t> lengths = {kVisible};
  for (int form = 0; form < 4; ++form) {
    call.mask = {};
    if (form == 0) call.mask.allowed = broadcast(allowed, {1, 1, 1, kKeys});
    if (form == 1) call.mask.bias = broadcast(bias, {1, 1, 1, kKeys});
    if (form == 2) call.mask.lengths = lengths.data();
    if (form == 3) call.mask.key_mask = allowed.data();
    for (const bool with_weights : {false, true}) {
      std::vector<float> out(5 * 4);
      std::vector<float> weights(5 * kKeys);
      call.output = out.data();
      call.weights = with_weights ? weights.data() : nullptr;
      CHECK(attention(config, call, workspace) == Status::ok);
      check::close(out.data(), clean.data(), out.size(), 1e-6, "hidden values");
      for (size_t j = kVisible; with_weights && j < kKeys; ++j) CHECK(weights[j] == 0.0F);
    }
  }

  // Visible, they reach exactly the rows that see them.
  call.mask = {};
  call.mask.causal = true;
  call.mask.offset = static_cast<int64_t>(kVisible) - 3;  // rows 0 … 2 see 248 … 250 keys, rows 3 and 4 see key 250 on
  std::vector<float> out(5 * 4);
  std::vector<float> weights(5 * kKeys);
  call.output = out.data();
  call.weights = weights.data();
  CHECK(attention(config, call, workspace) == Status::ok);
  for (size_t i = 0; i < 5; ++i) {
    for (size_t c = 0; c < 4; ++c) CHECK(std::isnan(out[i * 4 + c]) == (i >= 3));
    CHECK(std::isnan(weights[i * kKeys]) == (i >= 3));
    CHECK(weights[i * kKeys + kKeys - 1] == 0.0F);
  }
}

void refused_memory_is_a_status() {
  CHECK(KVCache::create(1U << 20, 64, 128, 128, size_t{1} << 30) == nullptr);
  LayerConfig config{1, 1, 1, 1, 1, 1, 1, 1, {}};
  ForwardCall call;
  call.batch = 1;
  call.queries = 1;
  call.new_keys = size_t{1} << 50;
  Workspace workspace;
  CHECK(attention(config, call, workspace) == Status::out_of_memory);
  float x = 2.0F;
  float out = 0.0F;
  call.new_keys = 1;
  call.query = call.key = call.value = &x;
  call.output = &out;
  CHECK(attention(config, call, workspace) == Status::ok);
  CHECK(out == 2.0F);
}

}  // namespace

int main() {
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    full_tile_rows = kLeastTileRows + seed / 3 % (kTileRows - kLeastTileRows + 1);
    layer_matches_reference(seed);
  }
  split_cache_equals_full_pass();
  hidden_values_never_come_through();
  refused_memory_is_a_status();
  return check::report("layer");
}
