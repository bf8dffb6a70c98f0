// The kernels of src/ one by one, for tests/bench/kernels.ts: a module of its own, never part of the package.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "blocks.h"
#include "dequantize.h"
#include "linear.h"
#include "matmul.h"
#include "memory.h"
#include "model_block.h"
#include "rows.h"
#include "simd.h"
#include "softmax.h"

using namespace headscope;

#define EXPORT(name) extern "C" __attribute__((export_name(#name)))

// ---- what the machine can do ----------------------------------------------------------------------------------------

/// A chain of rotations and exclusive ors, one cycle each on every processor of today: 2 · steps cycles.
EXPORT(cycle_chain) uint32_t cycle_chain(size_t steps, uint32_t x, uint32_t key) {
  for (size_t step = 0; step < steps; ++step) x = (x << 7 | x >> 25) ^ key;
  return x;
}

/// The sum of n floats (a multiple of 32), eight sums at a time: how fast memory can be read.
EXPORT(read_floats) float read_floats(const float* from, size_t n) {
  using namespace simd;
  Vec sums[8];
  for (Vec& sum : sums) sum = splat(0.0F);
  for (size_t i = 0; i < n; i += 8 * kLanes) {
    for (size_t j = 0; j < 8; ++j) sums[j] = sums[j] + load(from + i + j * kLanes);
  }
  Vec total = sums[0];
  for (size_t i = 1; i < 8; ++i) total = total + sums[i];
  return sum_lanes(total);
}

// ---- memory ---------------------------------------------------------------------------------------------------------

EXPORT(allocate) void* allocate(size_t bytes) {
  return std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
}
EXPORT(release) void release(void* memory) { std::free(memory); }

// ---- products -------------------------------------------------------------------------------------------------------

EXPORT(pack) void pack(size_t depth, size_t columns, const float* b, float* packed) {
  pack_in_out(b, columns, depth, columns, packed);
}

EXPORT(product)
void product(size_t rows, size_t depth, size_t columns, const float* a, const float* packed, const float* bias,
             float* c) {
  static Workspace workspace;
  const uint64_t scratch = multiply_scratch(rows, depth);
  if (!workspace.reserve(scratch)) __builtin_trap();
  multiply({depth, columns, packed, depth * kPanel, bias != nullptr ? Start::bias : Start::zero, bias, columns}, rows,
           a, depth, c, workspace.take(scratch));
}

EXPORT(row_bytes) size_t row_bytes(uint32_t type, size_t n) { return stored_bytes(static_cast<TensorType>(type), n); }
EXPORT(values_in_block) size_t values_in_block(uint32_t type) { return block_values(static_cast<TensorType>(type)); }

EXPORT(linear_packed) Linear* linear_packed(size_t depth, size_t columns, const float* weights) {
  auto* linear = new (std::nothrow) Linear;
  if (linear == nullptr) return nullptr;
  if (linear->pack(WeightLayout::out_in, {weights, depth}, depth, columns, nullptr) == Status::ok) return linear;
  delete linear;
  return nullptr;
}

EXPORT(linear_stored)
Linear* linear_stored(uint32_t layout, uint32_t type_number, size_t depth, size_t columns, const void* weights) {
  auto* linear = new (std::nothrow) Linear;
  if (linear == nullptr) return nullptr;
  const auto type = static_cast<TensorType>(type_number);
  const auto order = static_cast<WeightLayout>(layout);
  const size_t bytes = stored_bytes(type, order == WeightLayout::out_in ? depth : columns);
  if (linear->keep(order, type, weights, bytes, depth, columns, nullptr) == Status::ok) return linear;
  delete linear;
  return nullptr;
}

EXPORT(linear_scratch) size_t linear_scratch(const Linear* linear, size_t rows, uint32_t numerics) {
  return static_cast<size_t>(linear->scratch(rows, static_cast<Numerics>(numerics)));
}

EXPORT(linear_apply)
void linear_apply(const Linear* linear, size_t rows, const float* x, float* y, uint32_t numerics, float* scratch) {
  linear->apply(rows, x, linear->depth(), y, linear->columns(), static_cast<Numerics>(numerics), scratch);
}

EXPORT(linear_free) void linear_free(Linear* linear) { delete linear; }

EXPORT(decode) void decode(uint32_t type, const void* from, size_t n, float* to) {
  dequantize(static_cast<TensorType>(type), from, n, to);
}

// ---- rows -----------------------------------------------------------------------------------------------------------

EXPORT(exponential) void exponential(const float* from, size_t n, float* to) {
  using namespace simd;
  for (size_t i = 0; i + 4 * kLanes <= n; i += 4 * kLanes) {
    const Vec e0 = exp_nonpositive(load(from + i));
    const Vec e1 = exp_nonpositive(load(from + i + kLanes));
    const Vec e2 = exp_nonpositive(load(from + i + 2 * kLanes));
    const Vec e3 = exp_nonpositive(load(from + i + 3 * kLanes));
    store(to + i, e0);
    store(to + i + kLanes, e1);
    store(to + i + 2 * kLanes, e2);
    store(to + i + 3 * kLanes, e3);
  }
}

/// Softmax of every row of scores [rows, n] into weights.
EXPORT(softmax) void softmax(size_t rows, size_t n, const float* scores, float* weights) {
  for (size_t r = 0; r < rows; ++r, scores += n, weights += n) {
    for (size_t j = 0; j < n; ++j) weights[j] = scores[j];
    RunningRow row = kUnseenRow;
    take_block(row, weights, n);
    scale_row(weights, n, 1.0F / row.sum);
  }
}

EXPORT(norm)
void norm(uint32_t kind, size_t rows, size_t width, const float* x, const float* weight, const float* bias, float* y) {
  normalise_rows(static_cast<NormKind>(kind), rows, width, x, {weight, bias}, 1e-5F, y);
}

/// y = activation(x).
EXPORT(activation) void activation(uint32_t kind, size_t n, const float* x, float* y) {
  for (size_t i = 0; i < n; ++i) y[i] = x[i];
  activate(static_cast<Activation>(kind), y, n);
}

EXPORT(add) void add(float* x, const float* y, size_t n) { add_in_place(x, y, n); }

// ---- a whole block
// ---------------------------------------------------------------------------------------------------

struct BenchBlock {
  std::unique_ptr<Block> block;
  Workspace workspace, layer_workspace;
};

/// A GPT-2 block that takes over the linears (query, key, value, output, up, down); null when out of memory.
EXPORT(block_create)
BenchBlock* block_create(size_t width, size_t heads, Linear* const* parts, const float* weight, const float* bias) {
  BlockConfig config;
  const size_t head_dim = width / heads;
  config.attention = {width, width, width, width, heads, heads, head_dim, head_dim, {}};
  BlockLinears linears;
  Linear* const to[] = {&linears.query, &linears.key, &linears.value, &linears.output, &linears.up, &linears.down};
  for (size_t i = 0; i < std::size(to); ++i) *to[i] = std::move(*parts[i]);
  auto* bench = new (std::nothrow) BenchBlock;
  if (bench == nullptr) return nullptr;
  bench->block.reset(Block::create(config, linears, {weight, bias}, {weight, bias}));
  return bench;
}

EXPORT(block_forward) int block_forward(BenchBlock* bench, size_t rows, const float* x, float* output, float* hidden) {
  ForwardCall call;
  call.batch = 1;
  call.queries = call.new_keys = rows;
  call.query = x;
  call.output = output;
  const LayerConfig& layer = bench->block->config().attention;
  float scale = 1.0F;
  while (scale * scale * static_cast<float>(layer.head_dim) > 1.0F) scale *= 0.5F;
  call.scale = scale;
  return static_cast<int>(bench->block->forward(call, nullptr, hidden, bench->workspace, bench->layer_workspace));
}
