// The conformance cases of others and the golden fixtures, natively under the sanitizers: reads what
// tests/conformance/export-native.ts wrote (the format is described in native-format.ts). Every call runs
// twice, once with all its expected results and once for the output alone, each with its own cache.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "../../src/multi_head.h"
#include "check.h"

using namespace headscope;

namespace {

constexpr const char* kFile = "build/conformance-native.bin";

enum ForwardWord {
  kBatch,
  kQueries,
  kKeys,
  kQuery,
  kKey,
  kValue,
  kOutput,
  kScale,
  kSoftcap,
  kFlags,
  kOffset,
  kWindowLeft,
  kWindowRight,
  kMask,
  kMaskStrides,
  kBias = kMaskStrides + 4,
  kBiasStrides,
  kKeyMask = kBiasStrides + 4,
  kKeyLengths,
  kHeadGate,
  kWeights,
  kScores,
  kScoresStage,
  kQ,
  kK,
  kV,
  kHeads,
  kConcat,
  kContributions,
  kNumHeads,
  kNumKVHeads,
  kHeadDim,
  kValueHeadDim,
  kForwardWords
};
enum LayerWord {
  kDModel,
  kKeyDim,
  kValueDim,
  kOutDim,
  kLayerHeads,
  kLayerKVHeads,
  kLayerHeadDim,
  kLayerValueHeadDim,
  kLayout,
  kWq,
  kWk,
  kWv,
  kWo,
  kBq,
  kBk,
  kBv,
  kBo,
  kStrideQ,
  kStrideK,
  kStrideV,
  kRopePairing,
  kRopeDims,
  kRopeBase,
  kLayerWords
};
static_assert(kForwardWords == 39 && kLayerWords == 23, "as native-format.ts writes them");

enum Kind : uint32_t { attention_alone = 0, first_call = 1, next_call = 2 };

struct Bound {
  float absolute = 0.0F;
  float relative = 0.0F;
};

// Each tensor is an allocation of exactly its size: the address sanitizer sees the first byte read beyond it.
struct Tensor {
  uint32_t type = 0;
  std::vector<float> floats;
  std::vector<uint8_t> bytes;
  std::vector<int32_t> integers;
};

struct Call {
  std::string name;
  Kind kind = attention_alone;
  size_t capacity = 0;
  Bound output_bound, weights_bound;
  uint32_t forward[kForwardWords] = {};
  uint32_t layer[kLayerWords] = {};
  std::vector<Tensor> tensors;

  [[nodiscard]] const float* floats(uint32_t word) const {
    return word == 0 ? nullptr : pointer(tensors[word - 1].floats);
  }
  template <class T>
  static const T* pointer(const std::vector<T>& values) {
    static const T kNothing{};  // an empty tensor is there, unlike one that was not given
    return values.empty() ? &kNothing : values.data();
  }
  [[nodiscard]] float real(uint32_t word) const { return std::bit_cast<float>(word); }
};

class Reader {
 public:
  explicit Reader(std::vector<uint8_t> bytes) : bytes_(std::move(bytes)) {}

  uint32_t word() {
    uint32_t value = 0;
    copy(&value, 4);
    return value;
  }
  float real() { return std::bit_cast<float>(word()); }
  template <class T>
  std::vector<T> values(size_t count) {
    std::vector<T> out(count);
    out.shrink_to_fit();
    if (count > 0) copy(out.data(), count * sizeof(T));
    skip_padding(count * sizeof(T));
    return out;
  }
  std::string text(size_t length) {
    const std::vector<char> chars = values<char>(length);
    return {chars.begin(), chars.end()};
  }
  [[nodiscard]] bool complete() const { return whole_ && at_ == bytes_.size(); }

 private:
  void copy(void* to, size_t count) {
    if (count > bytes_.size() - at_) {
      whole_ = false;
      std::memset(to, 0, count);
      return;
    }
    std::memcpy(to, bytes_.data() + at_, count);
    at_ += count;
  }
  void skip_padding(size_t count) { at_ = std::min(bytes_.size(), at_ + (4 - count % 4) % 4); }

  std::vector<uint8_t> bytes_;
  size_t at_ = 0;
  bool whole_ = true;
};

Call read_call(Reader& in) {
  Call call;
  call.name = in.text(in.word());
  call.kind = static_cast<Kind>(in.word());
  call.capacity = in.word();
  call.output_bound.absolute = in.real();
  call.output_bound.relative = in.real();
  call.weights_bound.absolute = in.real();
  call.weights_bound.relative = in.real();
  for (uint32_t& word : call.forward) word = in.word();
  for (uint32_t& word : call.layer) word = in.word();
  call.tensors.resize(in.word());
  for (Tensor& tensor : call.tensors) {
    tensor.type = in.word();
    const size_t count = in.word();
    if (tensor.type == 0) tensor.floats = in.values<float>(count);
    if (tensor.type == 1) tensor.bytes = in.values<uint8_t>(count);
    if (tensor.type == 2) tensor.integers = in.values<int32_t>(count);
  }
  return call;
}

template <class T>
Broadcast<T> broadcast(const T* data, const uint32_t* strides) {
  return {data, strides[0], strides[1], strides[2], strides[3]};
}

ForwardCall inputs_of(const Call& c) {
  const uint32_t* f = c.forward;
  ForwardCall call;
  call.batch = f[kBatch];
  call.queries = f[kQueries];
  call.new_keys = f[kKeys];
  call.query = c.floats(f[kQuery]);
  call.key = f[kKey] != 0 ? c.floats(f[kKey]) : call.query;
  call.value = f[kValue] != 0 ? c.floats(f[kValue]) : call.key;
  call.scale = c.real(f[kScale]);
  call.softcap = c.real(f[kSoftcap]);
  call.mask.causal = (f[kFlags] & 1U) != 0;
  call.mask.has_left = (f[kFlags] & 2U) != 0;
  call.mask.has_right = (f[kFlags] & 4U) != 0;
  call.mask.offset = static_cast<int32_t>(f[kOffset]);
  call.mask.left = static_cast<int32_t>(f[kWindowLeft]);
  call.mask.right = static_cast<int32_t>(f[kWindowRight]);
  if (f[kMask] != 0) {
    call.mask.allowed = broadcast(Call::pointer(c.tensors[f[kMask] - 1].bytes), f + kMaskStrides);
  }
  if (f[kBias] != 0) call.mask.bias = broadcast(c.floats(f[kBias]), f + kBiasStrides);
  if (f[kKeyMask] != 0) call.mask.key_mask = Call::pointer(c.tensors[f[kKeyMask] - 1].bytes);
  if (f[kKeyLengths] != 0) call.mask.lengths = Call::pointer(c.tensors[f[kKeyLengths] - 1].integers);
  call.head_gate = c.floats(f[kHeadGate]);
  call.scores_stage = static_cast<ScoresStage>(f[kScoresStage]);
  return call;
}

LayerConfig config_of(const Call& c) {
  LayerConfig config;
  if (c.kind == attention_alone) {
    config.num_heads = c.forward[kNumHeads];
    config.num_kv_heads = c.forward[kNumKVHeads];
    config.head_dim = c.forward[kHeadDim];
    config.value_head_dim = c.forward[kValueHeadDim];
    return config;
  }
  const uint32_t* l = c.layer;
  config.model_dim = l[kDModel];
  config.key_dim = l[kKeyDim];
  config.value_dim = l[kValueDim];
  config.out_dim = l[kOutDim];
  config.num_heads = l[kLayerHeads];
  config.num_kv_heads = l[kLayerKVHeads];
  config.head_dim = l[kLayerHeadDim];
  config.value_head_dim = l[kLayerValueHeadDim];
  config.rotary.pairing = static_cast<RotaryPairing>(l[kRopePairing]);
  config.rotary.dims = l[kRopeDims];
  config.rotary.base = c.real(l[kRopeBase]);
  return config;
}

std::unique_ptr<Layer> layer_of(const Call& c) {
  const uint32_t* l = c.layer;
  const LayerConfig config = config_of(c);
  LayerWeights weights;
  weights.layout = static_cast<WeightLayout>(l[kLayout]);
  weights.query = {c.floats(l[kWq]), l[kStrideQ]};
  weights.key = {c.floats(l[kWk]), l[kStrideK]};
  weights.value = {c.floats(l[kWv]), l[kStrideV]};
  weights.output = {c.floats(l[kWo]),
                    weights.layout == WeightLayout::in_out ? config.out_dim : config.num_heads * config.value_head_dim};
  weights.query_bias = c.floats(l[kBq]);
  weights.key_bias = c.floats(l[kBk]);
  weights.value_bias = c.floats(l[kBv]);
  weights.output_bias = c.floats(l[kBo]);
  return std::unique_ptr<Layer>(Layer::create(config, weights));
}

void compare(const Call& c, uint32_t expected_word, check::Guarded& actual, const Bound& bound, const char* what) {
  const std::vector<float>& expected = c.tensors[expected_word - 1].floats;
  double largest = 0.0;
  for (const float x : expected) {
    if (std::isfinite(x)) largest = std::max(largest, static_cast<double>(std::fabs(x)));
  }
  const std::string label = c.name + ": " + what;
  check::close(actual.data(), expected.data(), expected.size(), bound.absolute + bound.relative * largest,
               label.c_str());
  CHECK(actual.intact());
}

/// A layer and its cache live from a first call to the next ones.
struct Session {
  std::unique_ptr<Layer> layer;
  std::unique_ptr<KVCache> cache;
  Workspace workspace;

  Status run(const Call& c, const ForwardCall& call) {
    if (c.kind == attention_alone) return attention(config_of(c), call, workspace);
    if (c.kind == first_call) {
      layer = layer_of(c);
      const LayerConfig& config = layer->config();
      cache.reset(c.capacity == 0 ? nullptr
                                  : KVCache::create(call.batch, config.num_kv_heads, config.head_dim,
                                                    config.value_head_dim, c.capacity));
    }
    return layer->forward(call, cache.get(), workspace);
  }
};

size_t output_size(const Call& c) {
  const size_t width = c.kind == attention_alone ? c.forward[kNumHeads] * c.forward[kValueHeadDim] : c.layer[kOutDim];
  return c.forward[kBatch] * c.forward[kQueries] * width;
}

void run_whole(const Call& c, Session& session) {
  struct Result {
    uint32_t word;
    float* ForwardCall::* target;
    const char* name;
  };
  static const Result kResults[] = {
      {kWeights, &ForwardCall::weights, "weights"},
      {kScores, &ForwardCall::scores, "scores"},
      {kQ, &ForwardCall::q, "q"},
      {kK, &ForwardCall::k, "k"},
      {kV, &ForwardCall::v, "v"},
      {kHeads, &ForwardCall::heads, "heads"},
      {kConcat, &ForwardCall::concat, "concat"},
      {kContributions, &ForwardCall::contributions, "contributions"},
  };
  ForwardCall call = inputs_of(c);
  check::Guarded output(output_size(c));
  call.output = output.data();
  std::vector<std::pair<const Result*, std::unique_ptr<check::Guarded>>> results;
  for (const Result& result : kResults) {
    const uint32_t expected = c.forward[result.word];
    if (expected == 0) continue;
    results.emplace_back(&result, std::make_unique<check::Guarded>(c.tensors[expected - 1].floats.size()));
    call.*result.target = results.back().second->data();
  }
  CHECK(session.run(c, call) == Status::ok);
  if (c.forward[kOutput] != 0) compare(c, c.forward[kOutput], output, c.output_bound, "output");
  for (auto& [result, values] : results) {
    const bool is_weights = result->word == kWeights;
    compare(c, c.forward[result->word], *values, is_weights ? c.weights_bound : c.output_bound, result->name);
  }
}

void run_output_alone(const Call& c, Session& session) {
  ForwardCall call = inputs_of(c);
  check::Guarded output(output_size(c));
  call.output = output.data();
  CHECK(session.run(c, call) == Status::ok);
  if (c.forward[kOutput] != 0) compare(c, c.forward[kOutput], output, c.output_bound, "output alone");
}

bool read_file(const char* path, std::vector<uint8_t>& bytes) {
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) return false;
  uint8_t block[65536];
  for (size_t n = std::fread(block, 1, sizeof block, file); n > 0; n = std::fread(block, 1, sizeof block, file)) {
    bytes.insert(bytes.end(), block, block + n);
  }
  std::fclose(file);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : kFile;
  std::vector<uint8_t> bytes;
  if (!read_file(path, bytes)) {
    std::printf("conformance: no %s; make it with: node --import tsx tests/conformance/export-native.ts\n", path);
    return 1;
  }
  Reader in(std::move(bytes));
  CHECK(in.word() == 0x54435348U);  // "HSCT"
  CHECK(in.word() == 1U);
  const uint32_t count = in.word();
  Session whole;
  Session output_alone;
  for (uint32_t i = 0; i < count; ++i) {
    const Call call = read_call(in);
    run_whole(call, whole);
    run_output_alone(call, output_alone);
  }
  CHECK(in.complete());
  std::printf("conformance: %u calls\n", count);
  return check::report("conformance");
}
