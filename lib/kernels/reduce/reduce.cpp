// The fast form of reduce: up to eight lanes run side by side, block by block; the next lane replaces one that has
// ended.
//
// Vectors do all additions of all numbers: a sum that stays finite or becomes infinite is right to the last bit. Only a
// sum that becomes NaN is recomputed from its block, because CPUs differ in the NaN; after that, it never changes
// again.
#include "kernels/reduce/reduce.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <vector>

#include "kernels/reduce/reduce_block.h"
#include "kernels/reduce/reduce_bytes.h"
#include "kernels/reduce/reduce_element.h"
#include "kernels/widen/widen.h"

namespace msdump::kernels {
namespace {

using Row = std::span<const double>;

// What is left of a lane.
struct Running {
  DType stored = DType::kUndefined;
  int64_t element_bytes = 1;
  const std::byte* data = nullptr;
  int64_t left = 0;
  ChunkStatistics* state = nullptr;
};

Running begin(const ReduceLane& lane) {
  assert(can_reduce(lane.dtype));
  return {element::stored_as(lane.dtype), element::bytes(lane.dtype), lane.data, lane.count, lane.state};
}

void classify(double x, RowClasses& classes) {
  classes.has_special |= !std::isfinite(x);
  classes.max = classes.max < x ? x : classes.max;
  classes.min = x < classes.min ? x : classes.min;
  classes.below_zero += x < 0 ? 1 : 0;
  classes.zero += x == 0 ? 1 : 0;
}

// Makes a row of the next elements. Those that do not fill a vector are done one by one.
RowClasses fill_row(DType stored, int64_t element_bytes, const std::byte* src, int64_t count, Wanted wanted,
                    double* row) {
  RowClasses classes = fill_block(stored, src, count, wanted, row);
  if (classes.filled == 0) {
    classes.max = -std::numeric_limits<double>::infinity();
    classes.min = -classes.max;
  }
  for (; classes.filled < count; ++classes.filled) {
    const double x = element::as_double(stored, src + classes.filled * element_bytes);
    row[classes.filled] = x;
    classify(x, classes);
  }
  return classes;
}

RowClasses fill_row(const Running& lane, int64_t count, Wanted wanted, double* row) {
  if (!needs_widening(lane.stored) || lane.stored == DType::kBfloat16) {
    return fill_row(lane.stored, lane.element_bytes, lane.data, count, wanted, row);
  }
  alignas(64) std::byte floats[kBlockElements * 4];
  widen(lane.stored, lane.data, count, floats);
  return fill_row(DType::kFloat32, 4, floats, count, wanted, row);
}

Specials count_specials(Row row) {
  Specials found;
  const auto count = static_cast<int64_t>(row.size());
  for (int64_t at = count_specials_fast(row.data(), count, found); at < count; ++at) {
    const double x = row[static_cast<size_t>(at)];
    found.nan += std::isnan(x) ? 1 : 0;
    found.negative_inf += std::isinf(x) && x < 0 ? 1 : 0;
    found.positive_inf += std::isinf(x) && x > 0 ? 1 : 0;
  }
  return found;
}

void take_counts(const RowClasses& classes, const Specials& specials, ChunkStatistics& state) {
  state.negative += static_cast<uint64_t>(classes.below_zero);
  state.zero += static_cast<uint64_t>(classes.zero);
  state.positive += static_cast<uint64_t>(classes.filled - classes.below_zero - classes.zero - specials.nan);
  state.nan += static_cast<uint64_t>(specials.nan);
  state.negative_inf += static_cast<uint64_t>(specials.negative_inf);
  state.positive_inf += static_cast<uint64_t>(specials.positive_inf);
}

void take_extremes(Row row, const RowClasses& classes, const Specials& specials, ChunkStatistics& state) {
  if (specials.nan > 0) {
    const auto last = std::find_if(row.rbegin(), row.rend(), [](double x) { return std::isnan(x); });
    state.max = state.min = element::plain_nan_of(*last);
    return;
  }
  // Of equal values the first stays, which shows in the sign of a zero.
  const auto first = [row](double value) { return value == 0 ? *std::find(row.begin(), row.end(), 0.0) : value; };
  if (state.max < classes.max) state.max = first(classes.max);
  if (classes.min < state.min) state.min = first(classes.min);
}

// One chain at a time, where there are no vectors or too few lanes to fill them.
void add_row(const double* row, int64_t count, SumKind kind, double& sum, double& squares, double entered) {
  double s = sum, q = squares;
  if (kind == SumKind::kRunningMean) {
    for (int64_t at = 0; at < count; ++at) {
      const double x = row[at];
      q += x * x;
      s += (x - s) / (entered += 1);
    }
  } else {
    for (int64_t at = 0; at < count; ++at) {
      const double x = row[at];
      q += x * x;
      s += x;
    }
  }
  sum = s;
  squares = q;
}

// Sums of bytes are exact in any order as long as a double can count them.
bool reduce_bytes(const ReduceLane& lane, const ReduceRule& rule) {
  constexpr double kExact = 9007199254740992;  // 2^53
  const DType stored = element::stored_as(lane.dtype);
  if (rule.running_mean || lane.count == 0 || !has_byte_totals(stored)) return false;
  ChunkStatistics& state = *lane.state;
  const double most = static_cast<double>(lane.count) * 255 * 255;
  const auto exact = [most](double sum) { return std::trunc(sum) == sum && std::abs(sum) + most < kExact; };
  if (!exact(state.sum) || !exact(state.squares)) return false;
  const ByteTotals totals = byte_totals(stored, lane.data, lane.count);
  const auto count = static_cast<uint64_t>(lane.count);
  state.count += count;
  state.entered += count;
  if (rule.sum) state.sum += static_cast<double>(totals.sum);
  if (rule.squares) state.squares += static_cast<double>(totals.squares);
  if (rule.extremes) {
    const double max = totals.max, min = totals.min;
    state.max = state.max < max ? max : state.max;
    state.min = min < state.min ? min : state.min;
  }
  if (rule.counts) {
    state.negative += static_cast<uint64_t>(totals.below_zero);
    state.zero += static_cast<uint64_t>(totals.zero);
    state.positive += count - static_cast<uint64_t>(totals.below_zero + totals.zero);
  }
  return true;
}

class Reduction {
 public:
  explicit Reduction(const ReduceRule& rule)
      : rule_(rule),
        wanted_(rule.counts        ? Wanted::kCounts
                : rule.extremes    ? Wanted::kExtremes
                : rule.finite_only ? Wanted::kSpecials
                                   : Wanted::kNothing),
        sums_{!rule.sum           ? SumKind::kNone
              : rule.running_mean ? SumKind::kRunningMean
                                  : SumKind::kPlain,
              rule.squares} {}

  void run(std::span<const ReduceLane> lanes) {
    while (take_up(lanes)) {
      int64_t count = kBlockElements;
      for (size_t i = 0; i < used_; ++i) count = std::min(count, running_[i].left);
      advance(count);
      for (size_t i = 0; i < used_; ++i) {
        running_[i].data += count * running_[i].element_bytes;
        running_[i].left -= count;
      }
    }
  }

 private:
  // Drops the lanes that have ended and takes up new ones; false when none is left.
  bool take_up(std::span<const ReduceLane>& lanes) {
    const auto end = running_.begin() + static_cast<std::ptrdiff_t>(used_);
    used_ = static_cast<size_t>(
        std::remove_if(running_.begin(), end, [](const Running& lane) { return lane.left == 0; }) - running_.begin());
    for (; used_ < kChunksAbreast && !lanes.empty(); lanes = lanes.subspan(1)) {
      if (lanes.front().count > 0) running_[used_++] = begin(lanes.front());
    }
    return used_ > 0;
  }

  void advance(int64_t count) {
    std::array<bool, kChunksAbreast> done{};
    SumsAbreast sums;
    for (size_t i = 0; i < used_; ++i) {
      double* const row = blocks_.row(i);
      const RowClasses classes = fill_row(running_[i], count, wanted_, row);
      done[i] = take_classes({row, static_cast<size_t>(count)}, classes, *running_[i].state);
      const ChunkStatistics& state = *running_[i].state;
      sums.sum[i] = state.sum;
      sums.squares[i] = state.squares;
      sums.entered[i] = static_cast<double>(state.entered);
    }
    add(count, sums);
    for (size_t i = 0; i < used_; ++i) {
      if (!done[i]) take_sums({blocks_.row(i), static_cast<size_t>(count)}, i, sums);
    }
  }

  // True when the row has been done as a whole, sums included.
  bool take_classes(Row row, const RowClasses& classes, ChunkStatistics& state) const {
    if (rule_.finite_only && classes.has_special) {
      for (const double x : row) element::advance(state, x, rule_);
      return true;
    }
    const Specials specials = classes.has_special ? count_specials(row) : Specials{};
    if (rule_.counts) take_counts(classes, specials, state);
    if (rule_.extremes) take_extremes(row, classes, specials, state);
    return false;
  }

  void add(int64_t count, SumsAbreast& sums) {
    if (sums_.sum == SumKind::kNone && !sums_.squares) return;
    if (used_ > 1 && add_columns(blocks_, count, used_, sums_, sums)) return;
    for (size_t i = 0; i < used_; ++i) {
      add_row(blocks_.row(i), count, sums_.sum, sums.sum[i], sums.squares[i], sums.entered[i]);
    }
  }

  void take_sums(Row row, size_t index, const SumsAbreast& sums) const {
    ChunkStatistics& state = *running_[index].state;
    const auto take = [&](double& value, double found, auto&& next) {
      if (!std::isnan(found)) {
        value = found;
        return;
      }
      for (size_t i = 0; i < row.size() && !std::isnan(value); ++i) value = next(value, row[i], state.entered + i + 1);
    };
    if (rule_.sum) {
      take(state.sum, sums.sum[index],
           [&](double sum, double x, uint64_t entered) { return element::next_sum(sum, x, entered, rule_); });
    }
    if (rule_.squares) {
      take(state.squares, sums.squares[index],
           [&](double squares, double x, uint64_t /*entered*/) { return element::next_squares(squares, x, rule_); });
    }
    state.count += row.size();
    state.entered += row.size();
  }

  const ReduceRule rule_;
  const Wanted wanted_;
  const WantedSums sums_;
  std::array<Running, kChunksAbreast> running_;
  size_t used_ = 0;
  Blocks blocks_;
};

}  // namespace

void reduce(std::span<const ReduceLane> lanes, const ReduceRule& rule) {
  std::vector<ReduceLane> others;
  others.reserve(lanes.size());
  for (const ReduceLane& lane : lanes) {
    if (!reduce_bytes(lane, rule)) others.push_back(lane);
  }
  Reduction(rule).run(others);
}

}  // namespace msdump::kernels
