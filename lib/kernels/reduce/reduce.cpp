#include "kernels/reduce/reduce.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <vector>

#include "base/bytes.h"
#include "kernels/reduce/reduce_block.h"
#include "kernels/widen/widen.h"

namespace msdump::kernels {

// The fast form of reduce: up to eight lanes run side by side, block by block. The next lane replaces one that has ended.
//
// Vectors add all numbers. A sum that stays finite or becomes infinite is exact to the last bit. A sum that becomes NaN is
// recomputed from its block, because CPUs differ in the NaN; later it does not change.

namespace {

using Row = std::span<const double>;

// The rest of a lane.
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

// Makes a row of the next elements, those that do not fill a vector one by one.
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
  // The first of equal values stays, which matters for the sign of a zero.
  const auto first = [row](double value) { return value == 0 ? *std::find(row.begin(), row.end(), 0.0) : value; };
  if (state.max < classes.max) state.max = first(classes.max);
  if (classes.min < state.min) state.min = first(classes.min);
}

// Adds one row at a time: without vectors, or with too few lanes to fill them.
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

// Reduces a lane of bytes, whose sums are exact in any order while they are below 2^53. False if that does not apply.
bool reduce_bytes(const ReduceLane& lane, const ReduceRule& rule) {
  constexpr double kExact = 0x1p53;
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
  // Drops lanes that have ended and starts new ones; false if none is left.
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

  // True if the row is done, sums included.
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

namespace element {
namespace {

uint8_t code(const std::byte* from) { return std::to_integer<uint8_t>(*from); }

}  // namespace

DType stored_as(DType dtype) {
  if (needs_widening(dtype) || is_raw(dtype)) return dtype;
  return info(dtype).npy_dtype;
}

double as_double(DType stored, const std::byte* at) {
  switch (stored) {
    case DType::kBool: return code(at) != 0 ? 1.0 : 0.0;
    case DType::kInt8: return static_cast<double>(load<int8_t>(at));
    case DType::kUint8: return static_cast<double>(load<uint8_t>(at));
    case DType::kInt16: return static_cast<double>(load<int16_t>(at));
    case DType::kUint16: return static_cast<double>(load<uint16_t>(at));
    case DType::kInt32: return static_cast<double>(load<int32_t>(at));
    case DType::kUint32: return static_cast<double>(load<uint32_t>(at));
    case DType::kInt64: return static_cast<double>(load<int64_t>(at));
    case DType::kUint64: return static_cast<double>(load<uint64_t>(at));
    case DType::kFloat16: return static_cast<double>(decode_float16(load<uint16_t>(at)));
    case DType::kBfloat16: return static_cast<double>(decode_bfloat16(load<uint16_t>(at)));
    case DType::kFloat32: return static_cast<double>(load<float>(at));
    case DType::kFloat64: return load<double>(at);
    default: return static_cast<double>(narrow_value(stored, code(at)));
  }
}

int64_t bytes(DType dtype) { return info(dtype).bits < 8 ? 1 : info(dtype).bits / 8; }

}  // namespace element

ChunkStatistics start_statistics(const ReduceRule& rule) {
  using Limits = std::numeric_limits<double>;
  ChunkStatistics state;
  state.min = rule.finite_start ? Limits::max() : Limits::infinity();
  state.max = -state.min;
  return state;
}

bool can_reduce(DType dtype) {
  if (is_raw(dtype)) return false;
  const DType becomes = info(dtype).npy_dtype;
  return becomes != DType::kComplex64 && becomes != DType::kComplex128;
}

void reduce_reference(std::span<const ReduceLane> lanes, const ReduceRule& rule) {
  for (const ReduceLane& lane : lanes) {
    const DType stored = element::stored_as(lane.dtype);
    const int64_t step = element::bytes(lane.dtype);
    for (int64_t at = 0; at < lane.count; ++at) {
      element::advance(*lane.state, element::as_double(stored, lane.data + at * step), rule);
    }
  }
}

namespace {

template <class T>
uint64_t count_of(const std::byte* elements, int64_t count, double first, double last) {
  uint64_t found = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<double>(load<T>(elements + static_cast<size_t>(i) * sizeof(T)));
    found += value >= first && value <= last ? 1U : 0U;
  }
  return found;
}

uint64_t count_halves(const std::byte* elements, int64_t count, double first, double last) {
  uint64_t found = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<double>(decode_float16(load<uint16_t>(elements + static_cast<size_t>(i) * 2)));
    found += value >= first && value <= last ? 1U : 0U;
  }
  return found;
}

uint64_t count_widened(DType dtype, const std::byte* elements, int64_t count, double first, double last) {
  constexpr int64_t kAtOnce = 1024;
  const auto bytes = static_cast<size_t>((info(dtype).bits + 7) / 8);  // unpacked
  std::array<std::byte, kAtOnce * sizeof(float)> wide;
  uint64_t found = 0;
  for (int64_t begin = 0; begin < count; begin += kAtOnce) {
    const int64_t some = std::min(kAtOnce, count - begin);
    widen(dtype, elements + static_cast<size_t>(begin) * bytes, some, wide.data());
    found += count_of<float>(wide.data(), some, first, last);
  }
  return found;
}

}  // namespace

std::optional<uint64_t> count_range(DType dtype, const std::byte* elements, int64_t count, double first, double last) {
  if (needs_widening(dtype) && dtype != DType::kComplex32) return count_widened(dtype, elements, count, first, last);
  switch (dtype) {
    case DType::kFloat16: return count_halves(elements, count, first, last);
    case DType::kFloat32: return count_of<float>(elements, count, first, last);
    case DType::kFloat64: return count_of<double>(elements, count, first, last);
    case DType::kInt8:
    case DType::kInt4:
    case DType::kInt2: return count_of<int8_t>(elements, count, first, last);
    case DType::kUint8:
    case DType::kUint2:
    case DType::kUint1:
    case DType::kBool: return count_of<uint8_t>(elements, count, first, last);
    case DType::kInt16: return count_of<int16_t>(elements, count, first, last);
    case DType::kUint16: return count_of<uint16_t>(elements, count, first, last);
    case DType::kInt32: return count_of<int32_t>(elements, count, first, last);
    case DType::kUint32: return count_of<uint32_t>(elements, count, first, last);
    case DType::kInt64: return count_of<int64_t>(elements, count, first, last);
    case DType::kUint64: return count_of<uint64_t>(elements, count, first, last);
    default: return std::nullopt;
  }
}

}  // namespace msdump::kernels
