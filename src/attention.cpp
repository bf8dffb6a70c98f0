#include "attention.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "matmul.h"
#include "rows.h"
#include "simd.h"
#include "softmax.h"

namespace headscope {
namespace {

// Queries are taken in blocks (a multiple of every height of tiles), so that a panel of keys is used for many rows
// while it is in the first-level cache; where no [T, S] result is wanted, keys come in blocks as well and
// 60 × 256 scores stay in the second-level cache. There several blocks of queries take a block of keys and values in
// turn before the next one is fetched: long inputs have more of them than the caches hold.
constexpr size_t kQueryBlock = 60;
static_assert(kQueryBlock % 4 == 0 && kQueryBlock % 5 == 0 && kQueryBlock % 6 == 0);
constexpr size_t kKeyBlock = 256;
static_assert(kKeyBlock % kPanel == 0);
constexpr size_t kBlocksInTurn = 4;

// Up to here the query heads of one K/V head are taken together, so that each key and value is read once for all of
// them: decoding with grouped heads is bound by how fast these come from memory.
constexpr size_t kSharedQueries = kTileRows - 1;

// A product over keys is cut in two only for a hole in the mask that is worth it.
constexpr size_t kShortestHole = 4 * kPanel;

/// A result has rows of all keys.
bool has_whole_rows(const AttentionProblem& p) { return p.wants_weights() || p.wants_scores(); }

/// Rows of the [B, H, T, S] results from one on, null where a result is not wanted: in the result itself, or in
/// scratch, to be handed on from there.
struct ResultRows {
  float* weights;
  float* scores;
};

/// Floats of scratch for so many rows of the results that go to sinks.
[[gnu::noinline]] uint64_t sink_floats(const AttentionProblem& p, uint64_t rows) {
  const bool weights = p.weights_sink.take != nullptr;
  const bool scores = p.scores_sink.take != nullptr;
  return (uint64_t{weights} + uint64_t{scores}) * Workspace::need(rows * p.keys);
}

/// Rows first … first + rows − 1; `scratch` holds sink_floats(p, rows) or more.
ResultRows result_rows(const AttentionProblem& p, size_t first, uint64_t rows, float* scratch) {
  ResultRows results{};
  if (p.weights != nullptr) results.weights = p.weights + first * p.keys;
  if (p.scores != nullptr) results.scores = p.scores + first * p.keys;
  if (p.weights_sink.take != nullptr) {
    results.weights = scratch;
    scratch += Workspace::need(rows * p.keys);
  }
  if (p.scores_sink.take != nullptr) results.scores = scratch;
  return results;
}

void hand_on(const AttentionProblem& p, size_t first, size_t count, const ResultRows& rows) {
  if (p.weights_sink.take != nullptr) p.weights_sink.take(p.weights_sink.to, first, count, rows.weights);
  if (p.scores_sink.take != nullptr) p.scores_sink.take(p.scores_sink.to, first, count, rows.scores);
}

struct Areas {
  float* query;    // packed tiles of each block's queries, scaled
  float* scores;   // [rows, score_stride]; unused where the rows of the weights result serve
  float* packed;   // one tile of exponentials, packed
  float* sums;     // of each block [rows, padded dv]: Σ e^(s − m) · v so far
  float* addends;  // [keys of a block]
  float* sunk;     // rows of a block that go to sinks
};

// Pass 3 of one row where a value is NaN or infinite: sums += e · V over keys from … to − 1, exponentials[0] of key
// `from`. 0 · NaN would bring a hidden value in, so hidden keys are left out one by one. Rare, and plain, but key after
// key with the same madd, so that a hidden NaN does not move even the last bit of a row.
void add_visible_values(const AttentionProblem& p, size_t b, size_t head, size_t query, const float* values,
                        const float* exponentials, size_t from, size_t to, float* sums) {
  const size_t panel_stride = p.key_values->value_panel_stride();
  const size_t padded_dv = padded_columns(p.value_head_dim);
  for (size_t j = from; j < to; ++j) {
    if (!p.mask->visible(b, head, query, j, p.keys)) continue;
    const simd::Vec weight = simd::splat(exponentials[j - from]);
    for (size_t c = 0; c < padded_dv; c += simd::kLanes) {
      const float* value = values + c / kPanel * panel_stride + j * kPanel + c % kPanel;
      simd::store(sums + c, simd::madd(weight, simd::load(value), simd::load(sums + c)));
    }
  }
}

// Pass 4 of one row: its results from the sums and the exponentials, divided by the row's sum. A sum of 0 means that
// the row saw no key. The exponentials may lie where the weights go.
void finish_row(const AttentionProblem& p, size_t b, size_t head, size_t query, KeyRange visible, float sum,
                const float* sums, const float* exponentials, float* weights) {
  const float inverse = sum == 0.0F ? 0.0F : 1.0F / sum;
  const size_t dv = p.value_head_dim;
  if (p.heads != nullptr) {
    copy_scaled_row(sums, dv, inverse, 1.0F, p.heads + ((b * p.num_heads + head) * p.queries + query) * dv);
  }
  if (p.output.data != nullptr) {
    float* to = p.output.row(b, head, query);
    const float gate = p.head_gate != nullptr ? p.head_gate[head] : 1.0F;
    if (gate == 0.0F) {
      fill_row(to, dv, 0.0F);
    } else {
      copy_scaled_row(sums, dv, inverse, gate, to);
    }
  }
  if (weights == nullptr) return;
  if (visible.begin > 0) fill_row(weights, visible.begin, 0.0F);
  if (visible.end < p.keys) fill_row(weights + visible.end, p.keys - visible.end, 0.0F);
  if (std::isnan(inverse)) {  // the row is NaN where it looks, and 0 where it does not
    for (size_t j = visible.begin; j < visible.end; ++j) {
      weights[j] = p.mask->visible(b, head, query, j, p.keys) ? inverse : 0.0F;
    }
  } else {
    const size_t n = visible.end - visible.begin;
    copy_scaled_row(exponentials + visible.begin, n, inverse, 1.0F, weights + visible.begin);
  }
}

/// One query of one head.
struct Row {
  size_t head;
  size_t query;
  KeyRange visible;  // what causal, window and length leave
  RunningRow running;
};

/// Rows of one query tile and the keys that any of them may see.
struct Tile {
  size_t first;
  size_t count;
  KeyRange keys;
  bool started;  // its sums hold something
};

/// Queries of one head, or of all heads that share a K/V head, from scores to outputs. Rows go query by query through
/// the first head, then the next, as they lie in [B, H, T, ·].
class QueryBlock {
 public:
  /// Rows first_row … of the block's heads first_head ….
  QueryBlock(const AttentionProblem& problem, const Areas& areas, const ResultRows& results, size_t b, size_t kv_head,
             size_t first_head, size_t first_row, size_t rows)
      : p_(problem), areas_(areas), results_(results), b_(b), rows_count_(rows), kv_head_(kv_head) {
    keys_ = p_.key_values->keys(b, kv_head_);
    values_ = p_.key_values->values(b, kv_head_);
    padded_dv_ = padded_columns(p_.value_head_dim);
    const bool whole_rows = has_whole_rows(p_);
    every_score_ = p_.wants_scores() && p_.scores_stage != ScoresStage::masked;
    if (results_.weights != nullptr) {
      scores_ = results_.weights;
      score_stride_ = p_.keys;
    } else {
      scores_ = areas.scores;
      score_stride_ = whole_rows ? p_.keys : kKeyBlock;
    }
    size_t head = first_head;
    size_t query = first_row;
    for (; query >= p_.queries; query -= p_.queries) ++head;
    KeyRange seen{p_.keys, 0};
    for_each_tile(rows_count_, [&](size_t first, size_t count) {
      Tile& tile = tiles_[tile_count_++];
      tile = {first, count, {p_.keys, 0}, false};
      for (size_t r = first; r < first + count; ++r) {
        const KeyRange range = p_.mask->range(b_, query, p_.keys);
        rows_[r] = {head, query, range, kUnseenRow};
        tile.keys = {std::min(tile.keys.begin, range.begin), std::max(tile.keys.end, range.end)};
        if (++query == p_.queries) {
          query = 0;
          ++head;
        }
      }
      seen = {std::min(seen.begin, tile.keys.begin), std::max(seen.end, tile.keys.end)};
    });
    seen_ = seen;
    pack_queries();
  }

  /// Keys that any row may see.
  [[nodiscard]] KeyRange seen() const { return seen_; }

  /// Keys begin … end − 1 (begin a multiple of 8): scores, softmax so far, and their share of the sums.
  void take_keys(size_t begin, size_t end) {
    score_products(begin, end);
    for (size_t t = 0; t < tile_count_; ++t) {
      Tile& tile = tiles_[t];
      const size_t from = std::max(tile.keys.begin / kPanel * kPanel, begin);
      const size_t to = std::min(tile.keys.end, end);
      for (size_t r = tile.first; r < tile.first + tile.count; ++r) {
        score_to_exponential(r, tile.started, begin, end, from, to);
      }
      if (from < to) add_values(tile, begin, from, to);
    }
  }

  /// The same for what any row may see of the block of keys that begins at key `first`.
  void take_key_block(size_t first) {
    const size_t begin = std::max(seen_.begin / kPanel * kPanel, first);
    const size_t end = std::min(seen_.end, first + kKeyBlock);
    if (begin < end) take_keys(begin, end);
  }

  void finish() {
    for (size_t t = 0; t < tile_count_; ++t) {
      start_sums(tiles_[t]);
      for (size_t r = tiles_[t].first; r < tiles_[t].first + tiles_[t].count; ++r) {
        const Row& row = rows_[r];
        float* scores = score_row(r);
        finish_row(p_, b_, row.head, row.query, row.visible, row.running.sum, areas_.sums + r * padded_dv_, scores,
                   results_.weights != nullptr ? scores : nullptr);
      }
    }
  }

 private:
  [[nodiscard]] size_t head_of(size_t r) const { return rows_[r].head; }
  [[nodiscard]] size_t query_of(size_t r) const { return rows_[r].query; }
  /// Row r of the scores of a block of keys; [0] is the block's first key.
  [[nodiscard]] float* score_row(size_t r) const { return scores_ + r * score_stride_; }

  void pack_queries() {
    for (size_t t = 0; t < tile_count_; ++t) {
      const Tile& tile = tiles_[t];
      const float* row[kTileRows];
      for (size_t r = 0; r < tile.count; ++r) {
        row[r] = p_.query.row(b_, head_of(tile.first + r), query_of(tile.first + r));
      }
      pack_rows(tile.count, p_.head_dim, row, p_.scale, areas_.query + tile.first * p_.head_dim);
    }
  }

  /// Pass 1: scale · Q · Kᵀ, panel outside and tile inside, leaving out what no row of a tile can see.
  void score_products(size_t begin, size_t end) {
    const size_t panel_stride = p_.key_values->key_panel_stride();
    if (tile_count_ == 1) {  // few rows: decoding reads all keys in one go
      const size_t from = every_score_ ? begin : std::max(tiles_[0].keys.begin / kPanel * kPanel, begin);
      const size_t to = every_score_ ? end : std::min(tiles_[0].keys.end, end);
      if (from >= to) return;
      const Product product{p_.head_dim, to - from,    keys_ + from / kPanel * panel_stride, panel_stride, Start::zero,
                            nullptr,     score_stride_};
      return multiply_tiles(product, rows_count_, areas_.query, scores_ + (from - begin));
    }
    for (size_t j = begin; j < end; j += kPanel) {
      const Product product{
          p_.head_dim,  std::min(kPanel, end - j), keys_ + j / kPanel * panel_stride, 0, Start::zero, nullptr,
          score_stride_};
      for (size_t t = 0; t < tile_count_;) {
        // Tiles in a row that see the panel, or do not. A run is dealt to the tiles that it was packed as: what the
        // tiles of a block lack to full height is less than one tile, so no run fits into fewer.
        const size_t run = t;
        const bool seen = sees(tiles_[run], j);
        while (t < tile_count_ && sees(tiles_[t], j) == seen) ++t;
        if (!seen) continue;
        const size_t first = tiles_[run].first;
        const size_t rows = tiles_[t - 1].first + tiles_[t - 1].count - first;
        multiply_tiles(product, rows, areas_.query + first * p_.head_dim, score_row(first) + (j - begin));
      }
    }
  }

  /// Whether any row of the tile sees any key of the panel that begins at key `panel`.
  [[nodiscard]] bool sees(const Tile& tile, size_t panel) const {
    if (every_score_) return true;
    if (panel >= tile.keys.end || panel + kPanel <= tile.keys.begin) return false;
    return !p_.mask->has_addends() || !is_dead(tile, panel);
  }

  /// A mask that hides the whole panel from the whole tile: seldom true, and mostly known at the first place.
  [[nodiscard, gnu::noinline]] bool is_dead(const Tile& tile, size_t panel) const {
    const size_t count = std::min(kPanel, p_.keys - panel);
    for (size_t r = tile.first; r < tile.first + tile.count; ++r) {
      if (p_.mask->any_allowed(b_, head_of(r), query_of(r), panel, count, p_.keys)) return false;
    }
    return true;
  }

  /// Pass 2 for one row: cap, mask, e^(s − m). Keys of from … to − 1 that the row cannot see get 0, because the
  /// tile multiplies them.
  void score_to_exponential(size_t r, bool started, size_t begin, size_t end, size_t from, size_t to) {
    float* row = score_row(r);
    const KeyRange visible = rows_[r].visible;
    const size_t run_begin = std::max(visible.begin, begin);
    const size_t run_end = std::max(std::min(visible.end, end), run_begin);
    const size_t run = run_end - run_begin;
    float* run_scores = row + (run_begin - begin);

    if (p_.softcap > 0.0F) {
      if (every_score_) {
        if (p_.scores_stage == ScoresStage::scaled) copy_scores(r, row, 0, p_.keys);
        cap_scores(row, end - begin, p_.softcap);
      } else {
        cap_scores(run_scores, run, p_.softcap);
      }
    }
    if (every_score_ && !(p_.softcap > 0.0F && p_.scores_stage == ScoresStage::scaled)) {
      copy_scores(r, row, 0, p_.keys);
    }
    if (run > 0 && p_.mask->has_addends()) {
      p_.mask->fill_addends(b_, head_of(r), query_of(r), run_begin, run, p_.keys, areas_.addends);
      add_or_hide(run_scores, areas_.addends, run);
    }
    if (p_.wants_scores() && !every_score_) copy_scores(r, run_scores, run_begin, run);

    if (run > 0) {
      const float shrink = take_block(rows_[r].running, run_scores, run);
      if (shrink != 1.0F && started) scale_row(areas_.sums + r * padded_dv_, padded_dv_, shrink);
    }
    if (from < to) {
      const size_t zeros_end = std::min(std::max(run_begin, from), to);
      if (zeros_end > from) fill_row(row + (from - begin), zeros_end - from, 0.0F);
      const size_t zeros_begin = std::max(std::min(run_end, to), zeros_end);
      if (to > zeros_begin) fill_row(row + (zeros_begin - begin), to - zeros_begin, 0.0F);
    }
  }

  /// The caller's scores: `n` of them from key `first` on, −Infinity around them.
  void copy_scores(size_t r, const float* row, size_t first, size_t n) {
    float* to = results_.scores + r * p_.keys;
    fill_row(to, first, kHidden);
    copy_row(row, n, to + first);
    fill_row(to + first + n, p_.keys - first - n, kHidden);
  }

  void start_sums(Tile& tile) {
    if (tile.started) return;
    fill_row(areas_.sums + tile.first * padded_dv_, tile.count * padded_dv_, 0.0F);
    tile.started = true;
  }

  /// Pass 3: sums += e · V over keys from … to − 1, without long runs of keys that a mask hides from the whole tile.
  void add_values(Tile& tile, size_t begin, size_t from, size_t to) {
    if (!p_.key_values->values_finite(b_, kv_head_)) {
      start_sums(tile);
      for (size_t r = tile.first; r < tile.first + tile.count; ++r) {
        add_visible_values(p_, b_, head_of(r), query_of(r), values_, score_row(r) + (from - begin), from, to,
                           areas_.sums + r * padded_dv_);
      }
      return;
    }
    if (!p_.mask->has_addends()) return add_run(tile, begin, from, to);
    size_t run = from;
    for (size_t j = from; j < to;) {
      size_t live = j;
      while (live < to && is_dead(tile, live / kPanel * kPanel)) live = std::min((live / kPanel + 1) * kPanel, to);
      if (live - j >= kShortestHole) {
        if (run < j) add_run(tile, begin, run, j);
        run = live;
      }
      j = std::max(live, std::min((j / kPanel + 1) * kPanel, to));
    }
    if (run < to) add_run(tile, begin, run, to);
  }

  void add_run(Tile& tile, size_t begin, size_t from, size_t to) {
    const float* row[kTileRows];
    for (size_t r = 0; r < tile.count; ++r) row[r] = score_row(tile.first + r) + (from - begin);
    float* sums = areas_.sums + tile.first * padded_dv_;
    const Product product{to - from,
                          padded_dv_,
                          values_ + from * kPanel,
                          p_.key_values->value_panel_stride(),
                          tile.started ? Start::result : Start::zero,
                          nullptr,
                          padded_dv_};
    tile.started = true;
    if (tile.count == 1) return multiply_row(product, row[0], sums);
    pack_rows(tile.count, to - from, row, 1.0F, areas_.packed);
    multiply_tiles(product, tile.count, areas_.packed, sums);
  }

  const AttentionProblem& p_;
  Areas areas_;
  ResultRows results_;
  size_t b_;
  size_t rows_count_;
  size_t kv_head_;
  const float* keys_;
  const float* values_;
  size_t padded_dv_;
  KeyRange seen_;     // by any row
  bool every_score_;  // of hidden places as well
  float* scores_;
  size_t score_stride_;
  Row rows_[kQueryBlock];
  Tile tiles_[kQueryBlock / kLeastTileRows];
  size_t tile_count_ = 0;
};

// Up to here a head is done faster without tiles, blocks and packing: 1.3 times as fast at 32 rows of 4 numbers, the
// same at 32 rows of 64.
constexpr size_t kShortQueries = 24;
constexpr size_t kShortKeys = 24;

bool is_short(const AttentionProblem& problem) {
  return problem.queries <= kShortQueries && problem.keys <= kShortKeys;
}

constexpr size_t whole_vectors(size_t n) { return (n + simd::kLanes - 1) / simd::kLanes * simd::kLanes; }

/// A head of few queries and keys, in the passes of a QueryBlock, but all rows at once and every score of a row, with
/// those that it may not see overwritten: to leave work out costs more here than the work.
void attend_short(const AttentionProblem& p, const ResultRows& results, size_t b, size_t head, size_t kv_head,
                  float* scratch) {
  const KeyValues& key_values = *p.key_values;
  const size_t width = whole_vectors(p.keys);
  const size_t padded_dv = padded_columns(p.value_head_dim);
  float* const queries = scratch;                        // [T, dk], scaled
  float* const rows = queries + p.queries * p.head_dim;  // [T, width]: scores, then exponentials
  float* const sums = rows + p.queries * width;          // [T, padded dv]
  float* const addends = sums + p.queries * padded_dv;   // [S]
  KeyRange visible[kShortQueries];

  // 1. Scores.
  for (size_t t = 0; t < p.queries; ++t) {
    copy_scaled_row(p.query.row(b, head, t), p.head_dim, p.scale, 1.0F, queries + t * p.head_dim);
  }
  const float* keys = key_values.keys(b, kv_head);
  multiply_in_place({p.head_dim, width, keys, key_values.key_panel_stride(), Start::zero, nullptr, width}, p.queries,
                    queries, p.head_dim, rows);

  // 2. Cap, mask, e^(s − m). Rows are whole vectors: places behind the last key are hidden like any other.
  for (size_t t = 0; t < p.queries; ++t) {
    float* row = rows + t * width;
    const auto copy_scores = [&](ScoresStage stage) {
      if (results.scores == nullptr || p.scores_stage != stage) return;
      copy_row(row, p.keys, results.scores + t * p.keys);
    };
    copy_scores(ScoresStage::scaled);
    if (p.softcap > 0.0F) cap_scores(row, width, p.softcap);
    copy_scores(ScoresStage::capped);
    if (p.mask->has_addends()) {
      p.mask->fill_addends(b, head, t, 0, p.keys, p.keys, addends);
      add_or_hide(row, addends, p.keys);
    }
    const KeyRange seen = p.mask->range(b, t, p.keys);
    visible[t] = seen;
    if (seen.begin > 0) fill_row(row, seen.begin, kHidden);
    if (seen.end < width) fill_row(row + seen.end, width - seen.end, kHidden);
    copy_scores(ScoresStage::masked);
    subtract_maximum(row, width);
  }
  short_exponentials(rows, p.queries * width);

  // 3. Sums of e · V.
  const float* values = key_values.values(b, kv_head);
  if (key_values.values_finite(b, kv_head)) {
    multiply_in_place({p.keys, padded_dv, values, key_values.value_panel_stride(), Start::zero, nullptr, padded_dv},
                      p.queries, rows, width, sums);
  } else {
    fill_row(sums, p.queries * padded_dv, 0.0F);
    for (size_t t = 0; t < p.queries; ++t) {
      add_visible_values(p, b, head, t, values, rows + t * width, 0, p.keys, sums + t * padded_dv);
    }
  }

  // 4. Results.
  for (size_t t = 0; t < p.queries; ++t) {
    finish_row(p, b, head, t, visible[t], row_sum(rows + t * width, width), sums + t * padded_dv, rows + t * width,
               results.weights != nullptr ? results.weights + t * p.keys : nullptr);
  }
}

/// How the heads are cut into blocks of rows.
struct Blocks {
  size_t heads;  // of one K/V head, taken together
  size_t rows;   // of all of them

  explicit Blocks(const AttentionProblem& problem)
      : heads(problem.queries <= kSharedQueries ? problem.num_heads / problem.num_kv_heads : 1),
        rows(heads * problem.queries) {}
};

struct Plan {
  size_t blocks;   // of queries, in turn
  uint64_t query;  // floats, of each block
  uint64_t scores;
  uint64_t packed;
  uint64_t sums;  // of each block
  uint64_t addends;
  uint64_t sunk;
};

// Once a call, so for size: [[gnu::cold]].
[[gnu::cold]] Plan plan(const AttentionProblem& problem) {
  const size_t all_rows = Blocks(problem).rows;
  const uint64_t rows = std::min(kQueryBlock, all_rows);
  const uint64_t tile_rows = std::min<uint64_t>(rows, kTileRows);
  const bool whole_rows = has_whole_rows(problem);
  const uint64_t width = whole_rows ? problem.keys : kKeyBlock;
  return {
      whole_rows ? 1 : std::min(kBlocksInTurn, (all_rows + kQueryBlock - 1) / kQueryBlock),
      Workspace::need(packed_tile_floats(rows, problem.head_dim)),
      problem.wants_weights() ? 0 : Workspace::need(rows * width),
      rows > 1 ? Workspace::need(packed_tile_floats(tile_rows, width)) : 0,
      Workspace::need(rows * padded_columns(problem.value_head_dim)),
      problem.mask->has_addends() ? Workspace::need(width) : 0,
      sink_floats(problem, rows),
  };
}

/// Blocks of queries from first_row on, as many as take keys in turn.
void attend_blocks(const AttentionProblem& problem, const Plan& plan, const Areas& first, size_t b, size_t kv_head,
                   size_t head, size_t first_row, size_t rows) {
  std::optional<QueryBlock> blocks[kBlocksInTurn];
  size_t count = 0;
  KeyRange seen{problem.keys, 0};
  Areas areas = first;
  // Where weights or scores are wanted there is one block at a time.
  const size_t index = (b * problem.num_heads + head) * problem.queries + first_row;
  const size_t result_count = std::min(kQueryBlock, rows - first_row);
  const ResultRows results = result_rows(problem, index, result_count, areas.sunk);
  for (size_t row = first_row; row < rows && count < plan.blocks; row += kQueryBlock) {
    const QueryBlock& block =
        blocks[count++].emplace(problem, areas, results, b, kv_head, head, row, std::min(kQueryBlock, rows - row));
    seen = {std::min(seen.begin, block.seen().begin), std::max(seen.end, block.seen().end)};
    areas.query += plan.query;
    areas.sums += plan.sums;
  }
  if (has_whole_rows(problem)) {
    blocks[0]->take_keys(0, problem.keys);
  } else {
    for (size_t j = seen.begin / kKeyBlock * kKeyBlock; j < seen.end; j += kKeyBlock) {
      for (size_t i = 0; i < count; ++i) blocks[i]->take_key_block(j);
    }
  }
  for (size_t i = 0; i < count; ++i) blocks[i]->finish();
  hand_on(problem, index, result_count, results);
}

}  // namespace

[[gnu::cold]] uint64_t attention_scratch(const AttentionProblem& problem) {
  if (is_short(problem)) {
    const uint64_t padded = padded_columns(problem.keys) + padded_columns(problem.value_head_dim);
    return Workspace::need(saturating_product(problem.queries, problem.head_dim + padded) + problem.keys) +
           sink_floats(problem, problem.queries);
  }
  const Plan p = plan(problem);
  return p.blocks * (p.query + p.sums) + p.scores + p.packed + p.addends + p.sunk;
}

[[gnu::cold]] void attend(const AttentionProblem& problem, float* scratch) {
  const size_t group = problem.num_heads / problem.num_kv_heads;
  if (is_short(problem)) {
    float* const rest = scratch + sink_floats(problem, problem.queries);
    for (size_t b = 0; b < problem.batch; ++b) {
      for (size_t h = 0; h < problem.num_heads; ++h) {
        const size_t first = (b * problem.num_heads + h) * problem.queries;
        const ResultRows results = result_rows(problem, first, problem.queries, scratch);
        attend_short(problem, results, b, h, h / group, rest);
        hand_on(problem, first, problem.queries, results);
      }
    }
    return;
  }
  const Plan p = plan(problem);
  Areas areas{};
  areas.query = scratch;
  areas.sums = areas.query + p.blocks * p.query;
  areas.scores = areas.sums + p.blocks * p.sums;
  areas.packed = areas.scores + p.scores;
  areas.addends = areas.packed + p.packed;
  areas.sunk = areas.addends + p.addends;
  const Blocks blocks(problem);
  for (size_t b = 0; b < problem.batch; ++b) {
    for (size_t g = 0; g < problem.num_kv_heads; ++g) {
      for (size_t h = g * group; h < (g + 1) * group; h += blocks.heads) {
        for (size_t row = 0; row < blocks.rows; row += p.blocks * kQueryBlock) {
          attend_blocks(problem, p, areas, b, g, h, row, blocks.rows);
        }
      }
    }
  }
}

}  // namespace headscope
