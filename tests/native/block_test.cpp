// A model's block under sanitizers: in place and not, whole and in part, with rotary factors that the
// caller's memory does not outlive. Its numbers are compared with the layer's and with plain sums; the passes
// of whole models are tests of the package (tests/models).
#include <memory>
#include <vector>

#include "../../src/model_block.h"
#include "check.h"

using namespace headscope;

namespace {

constexpr size_t kWidth = 32;
constexpr size_t kHeads = 4;
constexpr size_t kKVHeads = 2;
constexpr size_t kHeadDim = 8;
constexpr size_t kInner = 40;
constexpr size_t kRows = 5;

struct Weights {
  std::vector<float> query, key, value, output, up, gate, down, norm1, norm2, bias;
};

Weights random_weights(check::Random& random) {
  const auto values = [&](size_t n) { return random.values(n); };
  return {values(kWidth * kHeads * kHeadDim),
          values(kWidth * kKVHeads * kHeadDim),
          values(kWidth * kKVHeads * kHeadDim),
          values(kHeads * kHeadDim * kWidth),
          values(kWidth * kInner),
          values(kWidth * kInner),
          values(kInner * kWidth),
          values(kWidth),
          values(kWidth),
          values(kWidth)};
}

Linear linear(const std::vector<float>& values, size_t depth, size_t columns) {
  Linear linear;
  CHECK(linear.keep(WeightLayout::out_in, TensorType::f32, values.data(), depth * sizeof(float), depth, columns,
                    nullptr) == Status::ok);
  return linear;
}

BlockLinears linears_of(const Weights& w, bool whole, bool gated) {
  BlockLinears linears;
  linears.query = linear(w.query, kWidth, kHeads * kHeadDim);
  linears.key = linear(w.key, kWidth, kKVHeads * kHeadDim);
  linears.value = linear(w.value, kWidth, kKVHeads * kHeadDim);
  linears.output = linear(w.output, kHeads * kHeadDim, kWidth);
  if (whole) linears.up = linear(w.up, kWidth, kInner);
  if (whole && gated) linears.gate = linear(w.gate, kWidth, kInner);
  if (whole) linears.down = linear(w.down, kInner, kWidth);
  return linears;
}

BlockConfig config_of(bool post_norm, bool gated, const float* factors) {
  BlockConfig config;
  config.attention = {kWidth, kWidth, kWidth, kWidth, kHeads, kKVHeads, kHeadDim, kHeadDim, {}};
  config.attention.rotary = {RotaryPairing::halves, kHeadDim, 10000.0, factors};
  config.norm = post_norm ? NormKind::layer : NormKind::rms;
  config.post_norm = post_norm;
  config.activation = gated ? Activation::silu : Activation::gelu_erf;
  return config;
}

std::unique_ptr<Block> block_of(const BlockConfig& config, const Weights& w, bool whole, bool gated) {
  BlockLinears linears = linears_of(w, whole, gated);
  const bool layer = config.norm == NormKind::layer;
  return std::unique_ptr<Block>(Block::create(config, linears, {w.norm1.data(), layer ? w.bias.data() : nullptr},
                                              {w.norm2.data(), layer ? w.bias.data() : nullptr}));
}

ForwardCall call_of(const float* x, float* output) {
  ForwardCall call;
  call.batch = 1;
  call.queries = kRows;
  call.new_keys = kRows;
  call.query = x;
  call.output = output;
  call.mask.causal = true;
  call.scale = 0.35F;
  return call;
}

/// hidden = x + a + FFN, for a block without norms that do anything but what normalise_rows does.
void block_is_its_parts(bool post_norm, bool gated) {
  check::Random random(post_norm ? 11 : 12);
  const Weights w = random_weights(random);
  std::vector<float> factors = {1.0F, 2.0F, 8.0F, 8.0F};
  const BlockConfig config = config_of(post_norm, gated, factors.data());
  const std::unique_ptr<Block> whole = block_of(config, w, true, gated);
  const std::unique_ptr<Block> part = block_of(config, w, false, gated);
  CHECK(whole != nullptr && part != nullptr);
  factors.assign(factors.size(), 1e9F);  // the blocks have their own

  const std::vector<float> x = random.values(kRows * kWidth);
  std::vector<float> a(x.size());
  std::vector<float> a_of_part(x.size());
  std::vector<float> hidden(x.size());
  Workspace workspace;
  Workspace layer_workspace;
  CHECK(whole->forward(call_of(x.data(), a.data()), nullptr, hidden.data(), workspace, layer_workspace) == Status::ok);
  CHECK(part->forward(call_of(x.data(), a_of_part.data()), nullptr, nullptr, workspace, layer_workspace) == Status::ok);
  CHECK(a == a_of_part);
  // A block without its feed-forward network has no stream behind it.
  CHECK(part->forward(call_of(x.data(), a_of_part.data()), nullptr, hidden.data(), workspace, layer_workspace) ==
        Status::bad_argument);

  std::vector<float> in_place = x;
  CHECK(whole->forward(call_of(in_place.data(), a.data()), nullptr, in_place.data(), workspace, layer_workspace) ==
        Status::ok);
  CHECK(in_place == hidden);

  // The stream step by step.
  const float* bias = post_norm ? w.bias.data() : nullptr;
  const auto normal = [&](std::vector<float> rows, const std::vector<float>& weight) {
    normalise_rows(config.norm, kRows, kWidth, rows.data(), {weight.data(), bias}, config.epsilon, rows.data());
    return rows;
  };
  const auto product = [](const std::vector<float>& rows, const std::vector<float>& weight, size_t depth) {
    const size_t columns = weight.size() / depth;
    std::vector<float> y(kRows * columns);
    for (size_t t = 0; t < kRows; ++t) {
      for (size_t n = 0; n < columns; ++n) {
        double sum = 0.0;
        for (size_t k = 0; k < depth; ++k) {
          sum += static_cast<double>(rows[t * depth + k]) * static_cast<double>(weight[n * depth + k]);
        }
        y[t * columns + n] = static_cast<float>(sum);
      }
    }
    return y;
  };
  std::vector<float> stream = x;
  add_in_place(stream.data(), a.data(), stream.size());
  if (post_norm) stream = normal(stream, w.norm1);
  const std::vector<float> between = post_norm ? stream : normal(stream, w.norm2);
  std::vector<float> up = product(between, w.up, kWidth);
  if (gated) {
    std::vector<float> gate = product(between, w.gate, kWidth);
    activate(config.activation, gate.data(), gate.size());
    multiply_in_place(up.data(), gate.data(), up.size());
  } else {
    activate(config.activation, up.data(), up.size());
  }
  const std::vector<float> down = product(up, w.down, kInner);
  add_in_place(stream.data(), down.data(), stream.size());
  if (post_norm) stream = normal(stream, w.norm2);
  check::close(hidden.data(), stream.data(), stream.size(), 2e-3, "hidden");
}

/// Factors of 1 change nothing; other factors do.
void factors_reach_the_heads() {
  check::Random random(13);
  const Weights w = random_weights(random);
  const std::vector<float> x = random.values(kRows * kWidth);
  const float ones[] = {1.0F, 1.0F, 1.0F, 1.0F};
  const float slower[] = {1.0F, 4.0F, 4.0F, 4.0F};
  std::vector<float> results[3];
  const float* factors[] = {nullptr, ones, slower};
  for (size_t i = 0; i < 3; ++i) {
    const std::unique_ptr<Block> block = block_of(config_of(false, true, factors[i]), w, false, true);
    CHECK(block != nullptr);
    results[i].resize(x.size());
    Workspace workspace;
    Workspace layer_workspace;
    CHECK(block->forward(call_of(x.data(), results[i].data()), nullptr, nullptr, workspace, layer_workspace) ==
          Status::ok);
  }
  CHECK(results[0] == results[1]);
  CHECK(results[0] != results[2]);
}

}  // namespace

int main() {
  for (const bool post_norm : {false, true}) {
    for (const bool gated : {false, true}) block_is_its_parts(post_norm, gated);
  }
  factors_reach_the_heads();
  return check::report("block_test");
}
