// Registration only: integers and heap addresses in, a handle, a size or a Status out. Everything is validated in
// TypeScript (check.ts) before it gets here, because a release build of Embind coerces silently. Large argument
// lists go through one block of 32-bit words, whose order below is compared with that of the enums in abi.ts and
// models/words.ts at load, by a hash.
#include <emscripten/bind.h>
#include <emscripten/em_js.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <new>
#include <utility>

#include "../src/dequantize.h"
#include "../src/matmul.h"
#include "../src/model_block.h"
#include "../src/multi_head.h"

namespace {

using namespace headscope;

// clang-format off
#define HEADSCOPE_FORWARD_WORDS(WORD)                                                                               \
  WORD(batch) WORD(queries) WORD(keys) WORD(query) WORD(key) WORD(value) WORD(output) WORD(scale) WORD(softcap)     \
  WORD(flags) WORD(offset) WORD(windowLeft) WORD(windowRight)                                                       \
  WORD(mask) WORD(maskStrideB) WORD(maskStrideH) WORD(maskStrideT) WORD(maskStrideS)                                \
  WORD(bias) WORD(biasStrideB) WORD(biasStrideH) WORD(biasStrideT) WORD(biasStrideS)                                \
  WORD(keyMask) WORD(keyLengths) WORD(headGate)                                                                     \
  WORD(weights) WORD(scores) WORD(scoresStage) WORD(q) WORD(k) WORD(v) WORD(heads) WORD(concat) WORD(contributions) \
  WORD(numHeads) WORD(numKVHeads) WORD(headDim) WORD(valueHeadDim) WORD(numerics) WORD(hidden)   \
  WORD(streamed)

#define HEADSCOPE_LAYER_WORDS(WORD)                                                                         \
  WORD(dModel) WORD(keyDim) WORD(valueDim) WORD(outDim) WORD(numHeads) WORD(numKVHeads) WORD(headDim)       \
  WORD(valueHeadDim) WORD(layout) WORD(wq) WORD(wk) WORD(wv) WORD(wo) WORD(bq) WORD(bk) WORD(bv) WORD(bo)   \
  WORD(strideQ) WORD(strideK) WORD(strideV) WORD(ropePairing) WORD(ropeDims) WORD(ropeBase)

#define HEADSCOPE_LINEAR_WORDS(WORD) \
  WORD(layout) WORD(type) WORD(data) WORD(rowBytes) WORD(depth) WORD(columns) WORD(bias)

#define HEADSCOPE_BLOCK_WORDS(WORD)                                                                               \
  WORD(dModel) WORD(numHeads) WORD(numKVHeads) WORD(headDim) WORD(valueHeadDim) WORD(ropePairing) WORD(ropeDims)  \
  WORD(ropeBase) WORD(norm) WORD(postNorm) WORD(epsilon) WORD(activation) WORD(attentionNormWeight)               \
  WORD(attentionNormBias) WORD(ffnNormWeight) WORD(ffnNormBias) WORD(query) WORD(key) WORD(value) WORD(output)    \
  WORD(up) WORD(gate) WORD(down) WORD(ropeFactors)
// clang-format on

#define HEADSCOPE_ENUMERATOR(name) name,
#define HEADSCOPE_NAME(name) #name " "

enum class ForwardWord : uint32_t { HEADSCOPE_FORWARD_WORDS(HEADSCOPE_ENUMERATOR) };
enum class LayerWord : uint32_t { HEADSCOPE_LAYER_WORDS(HEADSCOPE_ENUMERATOR) };
enum class LinearWord : uint32_t { HEADSCOPE_LINEAR_WORDS(HEADSCOPE_ENUMERATOR) };
enum class BlockWord : uint32_t { HEADSCOPE_BLOCK_WORDS(HEADSCOPE_ENUMERATOR) };

constexpr uint32_t kFlagCausal = 1;
constexpr uint32_t kFlagLeft = 2;
constexpr uint32_t kFlagRight = 4;

// One instance of the module is one thread: its word block, arena and scratch are shared by all its calls.
uint32_t word_block[96];
Buffer arena;
Workspace workspace;
Workspace block_workspace;

template <class Word>
uint32_t number(Word word) {
  return word_block[static_cast<uint32_t>(word)];
}
template <class Word>
float real(Word word) {
  return std::bit_cast<float>(number(word));
}
template <class Word>
int64_t integer(Word word) {
  return static_cast<int32_t>(number(word));
}
template <class T, class Word>
T* pointer(Word word) {
  return reinterpret_cast<T*>(static_cast<uintptr_t>(number(word)));
}

unsigned address_of(const void* object) { return static_cast<unsigned>(reinterpret_cast<uintptr_t>(object)); }

/// FNV-1a of the names of all words.
constexpr unsigned convention_hash() {
  constexpr char kNames[] = "F:" HEADSCOPE_FORWARD_WORDS(HEADSCOPE_NAME) ";L:" HEADSCOPE_LAYER_WORDS(
      HEADSCOPE_NAME) ";W:" HEADSCOPE_LINEAR_WORDS(HEADSCOPE_NAME) ";B:" HEADSCOPE_BLOCK_WORDS(HEADSCOPE_NAME);
  unsigned hash = 2166136261;
  for (const char* at = kNames; *at != 0; ++at) hash = (hash ^ static_cast<unsigned char>(*at)) * 16777619;
  return hash;
}

unsigned convention() {
  constexpr unsigned kHash = convention_hash();
  return kHash;
}

unsigned words() { return address_of(word_block); }

// Texts are addresses of their bytes, which end with a 0.
unsigned version() { return address_of(HEADSCOPE_VERSION); }

unsigned variant() {
#ifdef __wasm_relaxed_simd__
  return address_of("relaxed");
#else
  return address_of("simd");
#endif
}

/// Before anything is packed: the height of full tiles.
void tile_rows(unsigned rows) { full_tile_rows = std::clamp<size_t>(rows, kLeastTileRows, kTileRows); }

unsigned reserve(unsigned bytes) {
  // An empty reservation is no failure, and 0 is the answer for failure.
  if (!arena.reserve(bytes == 0 ? 1 : bytes)) return 0;
  return address_of(arena.as<char>());
}

/// The sizes of heads that all three word lists begin a configuration with, under the same names.
template <class W>
LayerConfig read_heads() {
  LayerConfig config;
  config.num_heads = number(W::numHeads);
  config.num_kv_heads = number(W::numKVHeads);
  config.head_dim = number(W::headDim);
  config.value_head_dim = number(W::valueHeadDim);
  return config;
}

template <class W>
void read_rotary(Rotary& rotary) {
  rotary.pairing = static_cast<RotaryPairing>(number(W::ropePairing));
  rotary.dims = number(W::ropeDims);
  rotary.base = real(W::ropeBase);
}

unsigned layer_create() {
  using W = LayerWord;
  LayerConfig config = read_heads<W>();
  config.model_dim = number(W::dModel);
  config.key_dim = number(W::keyDim);
  config.value_dim = number(W::valueDim);
  config.out_dim = number(W::outDim);
  read_rotary<W>(config.rotary);
  const bool in_out = number(W::layout) == static_cast<uint32_t>(WeightLayout::in_out);
  LayerWeights weights;
  weights.layout = in_out ? WeightLayout::in_out : WeightLayout::out_in;
  weights.query = {pointer<const float>(W::wq), number(W::strideQ)};
  weights.key = {pointer<const float>(W::wk), number(W::strideK)};
  weights.value = {pointer<const float>(W::wv), number(W::strideV)};
  weights.output = {pointer<const float>(W::wo), in_out ? config.out_dim : config.num_heads * config.value_head_dim};
  weights.query_bias = pointer<const float>(W::bq);
  weights.key_bias = pointer<const float>(W::bk);
  weights.value_bias = pointer<const float>(W::bv);
  weights.output_bias = pointer<const float>(W::bo);
  return address_of(Layer::create(config, weights));
}

Layer* layer_of(unsigned handle) { return reinterpret_cast<Layer*>(static_cast<uintptr_t>(handle)); }
KVCache* cache_of(unsigned handle) { return reinterpret_cast<KVCache*>(static_cast<uintptr_t>(handle)); }

template <class T>
Broadcast<T> broadcast(ForwardWord data) {
  const auto first = static_cast<uint32_t>(data);  // the four strides follow their data
  return {pointer<const T>(data), word_block[first + 1], word_block[first + 2], word_block[first + 3],
          word_block[first + 4]};
}

/// The facade's receiver of rows: `kind` 0 weights, 1 scores (heap.ts, takeRows).
// clang-format off
EM_JS(void, headscope_take_rows, (unsigned kind, unsigned first, unsigned count, unsigned rows), {
  Module["takeRows"](kind, first >>> 0, count, rows >>> 0);
});
// clang-format on

RowSink sink(unsigned kind) {
  const auto take = [](void* to, size_t first, size_t count, const float* rows) {
    headscope_take_rows(address_of(to), static_cast<unsigned>(first), static_cast<unsigned>(count), address_of(rows));
  };
  return {take, reinterpret_cast<void*>(static_cast<uintptr_t>(kind))};
}

ForwardCall read_call() {
  using W = ForwardWord;
  ForwardCall call;
  call.batch = number(W::batch);
  call.queries = number(W::queries);
  call.new_keys = number(W::keys);
  call.query = pointer<const float>(W::query);
  call.key = number(W::key) != 0 ? pointer<const float>(W::key) : call.query;
  call.value = number(W::value) != 0 ? pointer<const float>(W::value) : call.key;
  call.scale = real(W::scale);
  call.softcap = real(W::softcap);
  call.mask.causal = (number(W::flags) & kFlagCausal) != 0;
  call.mask.has_left = (number(W::flags) & kFlagLeft) != 0;
  call.mask.has_right = (number(W::flags) & kFlagRight) != 0;
  call.mask.offset = integer(W::offset);
  call.mask.left = integer(W::windowLeft);
  call.mask.right = integer(W::windowRight);
  call.mask.allowed = broadcast<uint8_t>(W::mask);
  call.mask.bias = broadcast<float>(W::bias);
  call.mask.key_mask = pointer<const uint8_t>(W::keyMask);
  call.mask.lengths = pointer<const int32_t>(W::keyLengths);
  call.head_gate = pointer<const float>(W::headGate);
  call.numerics = static_cast<Numerics>(number(W::numerics));
  call.output = pointer<float>(W::output);
  call.weights = pointer<float>(W::weights);
  call.scores = pointer<float>(W::scores);
  if ((number(W::streamed) & 1) != 0) call.weights_sink = sink(0);
  if ((number(W::streamed) & 2) != 0) call.scores_sink = sink(1);
  call.scores_stage = static_cast<ScoresStage>(number(W::scoresStage));
  call.q = pointer<float>(W::q);
  call.k = pointer<float>(W::k);
  call.v = pointer<float>(W::v);
  call.heads = pointer<float>(W::heads);
  call.concat = pointer<float>(W::concat);
  call.contributions = pointer<float>(W::contributions);
  return call;
}

int layer_forward(unsigned layer, unsigned cache) {
  return static_cast<int>(layer_of(layer)->forward(read_call(), cache_of(cache), workspace));
}

int attention_call() { return static_cast<int>(attention(read_heads<ForwardWord>(), read_call(), workspace)); }

unsigned cache_create(unsigned layer, unsigned batch, unsigned capacity) {
  const LayerConfig& c = layer_of(layer)->config();
  return address_of(KVCache::create(batch, c.num_kv_heads, c.head_dim, c.value_head_dim, capacity));
}

void layer_destroy(unsigned layer) { delete layer_of(layer); }
void cache_destroy(unsigned cache) { delete cache_of(cache); }
unsigned cache_bytes(unsigned cache) { return static_cast<unsigned>(cache_of(cache)->bytes()); }
void cache_truncate(unsigned cache, unsigned length) { cache_of(cache)->truncate(length); }

// ---- Models: weights as they stand in a file ----

Linear* linear_of(unsigned handle) { return reinterpret_cast<Linear*>(static_cast<uintptr_t>(handle)); }
Block* block_of(unsigned handle) { return reinterpret_cast<Block*>(static_cast<uintptr_t>(handle)); }

int dequantize_values(unsigned type, unsigned from, unsigned count, unsigned to) {
  const auto tensor_type = static_cast<TensorType>(type);
  const size_t block = block_values(tensor_type);
  if (block == 0 || count % block != 0) return static_cast<int>(Status::bad_argument);
  dequantize(tensor_type, reinterpret_cast<const void*>(static_cast<uintptr_t>(from)), count,
             reinterpret_cast<float*>(static_cast<uintptr_t>(to)));
  return static_cast<int>(Status::ok);
}

unsigned linear_create() {
  using W = LinearWord;
  auto* linear = new (std::nothrow) Linear;
  if (linear == nullptr) return 0;
  if (linear->keep(static_cast<WeightLayout>(number(W::layout)), static_cast<TensorType>(number(W::type)),
                   pointer<const void>(W::data), number(W::rowBytes), number(W::depth), number(W::columns),
                   pointer<const float>(W::bias)) != Status::ok) {
    delete linear;
    return 0;
  }
  return address_of(linear);
}

void linear_destroy(unsigned linear) { delete linear_of(linear); }

int linear_apply(unsigned handle, unsigned rows, unsigned x, unsigned y, unsigned numerics_number) {
  const Linear& linear = *linear_of(handle);
  const auto numerics = static_cast<Numerics>(numerics_number);
  const uint64_t scratch = linear.scratch(rows, numerics);
  if (!workspace.reserve(scratch)) return static_cast<int>(Status::out_of_memory);
  linear.apply(rows, reinterpret_cast<const float*>(static_cast<uintptr_t>(x)), linear.depth(),
               reinterpret_cast<float*>(static_cast<uintptr_t>(y)), linear.columns(), numerics,
               workspace.take(scratch));
  return static_cast<int>(Status::ok);
}

void normalise(unsigned kind, unsigned rows, unsigned width, unsigned x, unsigned weight, unsigned bias, float epsilon,
               unsigned y) {
  const auto floats = [](unsigned address) { return reinterpret_cast<float*>(static_cast<uintptr_t>(address)); };
  normalise_rows(static_cast<NormKind>(kind), rows, width, floats(x), {floats(weight), floats(bias)}, epsilon,
                 floats(y));
}

/// Takes the linears that the words name over and destroys their handles; on 0 (out of memory) they are as before.
unsigned block_create() {
  using W = BlockWord;
  BlockConfig config;
  LayerConfig& attention = config.attention;
  attention = read_heads<W>();
  attention.model_dim = attention.key_dim = attention.value_dim = number(W::dModel);
  attention.out_dim = number(W::output) != 0 ? attention.model_dim : attention.num_heads * attention.value_head_dim;
  read_rotary<W>(attention.rotary);
  attention.rotary.factors = pointer<const float>(W::ropeFactors);
  config.norm = static_cast<NormKind>(number(W::norm));
  config.post_norm = number(W::postNorm) != 0;
  config.epsilon = real(W::epsilon);
  config.activation = static_cast<Activation>(number(W::activation));

  BlockLinears linears;
  struct Part {
    W word;
    Linear BlockLinears::* linear;
  };
  const Part parts[] = {{W::query, &BlockLinears::query}, {W::key, &BlockLinears::key},
                        {W::value, &BlockLinears::value}, {W::output, &BlockLinears::output},
                        {W::up, &BlockLinears::up},       {W::gate, &BlockLinears::gate},
                        {W::down, &BlockLinears::down}};
  for (const Part& part : parts) {
    if (number(part.word) != 0) linears.*part.linear = std::move(*linear_of(number(part.word)));
  }
  Block* block = Block::create(
      config, linears, {pointer<const float>(W::attentionNormWeight), pointer<const float>(W::attentionNormBias)},
      {pointer<const float>(W::ffnNormWeight), pointer<const float>(W::ffnNormBias)});
  for (const Part& part : parts) {
    if (number(part.word) == 0) continue;
    if (block != nullptr) {
      delete linear_of(number(part.word));
    } else {
      *linear_of(number(part.word)) = std::move(linears.*part.linear);
    }
  }
  return address_of(block);
}

void block_destroy(unsigned block) { delete block_of(block); }

int block_forward(unsigned block, unsigned cache) {
  return static_cast<int>(block_of(block)->forward(read_call(), cache_of(cache), pointer<float>(ForwardWord::hidden),
                                                   block_workspace, workspace));
}

template <auto function>
struct Direct;

template <class Result, class... Arguments, Result (*function)(Arguments...)>
struct Direct<function> {
  static Result invoke(unsigned /*function*/, Arguments... arguments) { return function(arguments...); }

  /// emscripten::function, but with an invoker that knows its function: one call less, and no pointer in its signature,
  /// for which the glue of a memory above 2 GiB would gather and spread the arguments of every call.
  static void bind(const char* name) {
    using namespace emscripten::internal;
    WithPolicies<>::ArgTypeList<Result, Arguments...> types;
    _embind_register_function(name, types.getCount(), types.getTypes(), getSignature(&invoke),
                              reinterpret_cast<GenericFunction>(&invoke), nullptr, false, false);
  }
};

}  // namespace

EMSCRIPTEN_BINDINGS(headscope) {
  Direct<&version>::bind("version");
  Direct<&variant>::bind("variant");
  Direct<&words>::bind("words");
  Direct<&convention>::bind("convention");
  Direct<&tile_rows>::bind("tileRows");
  Direct<&reserve>::bind("reserve");
  Direct<&layer_create>::bind("layerCreate");
  Direct<&layer_destroy>::bind("layerDestroy");
  Direct<&layer_forward>::bind("layerForward");
  Direct<&attention_call>::bind("attention");
  Direct<&dequantize_values>::bind("dequantize");
  Direct<&linear_create>::bind("linearCreate");
  Direct<&linear_destroy>::bind("linearDestroy");
  Direct<&linear_apply>::bind("linearApply");
  Direct<&normalise>::bind("normalise");
  Direct<&block_create>::bind("blockCreate");
  Direct<&block_destroy>::bind("blockDestroy");
  Direct<&block_forward>::bind("blockForward");
  Direct<&cache_create>::bind("cacheCreate");
  Direct<&cache_destroy>::bind("cacheDestroy");
  Direct<&cache_truncate>::bind("cacheTruncate");
  Direct<&cache_bytes>::bind("cacheBytes");
}
