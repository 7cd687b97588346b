// Sums of several chunks in vectors, column by column of their blocks.
#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce/reduce_sum.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <utility>

#include "kernels/reduce/reduce_block.h"

HWY_BEFORE_NAMESPACE();
namespace msdump::kernels::HWY_NAMESPACE {
#if MSDUMP_HAS_VECTORS
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
constexpr size_t kPlaces = hn::MaxLanes(D());

// Elements 0 and 1 of every second row, from the first: x00 x01 | x20 x21 | x40 x41 | ...
template <class D>
HWY_INLINE hn::Vec<D> load_pairs(D d, const double* from) {
  if constexpr (kPlaces<D> == 2) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    const auto lower = load_pairs(half, from);
    return hn::Combine(d, load_pairs(half, from + static_cast<int64_t>(kPlaces<D>) / 2 * kBlockStride), lower);
  }
}

// Element 0 of every row.
template <class D>
HWY_INLINE hn::Vec<D> load_column(D d, const double* from) {
  alignas(64) double column[kPlaces<D>];
  for (size_t row = 0; row < kPlaces<D>; ++row) column[row] = from[static_cast<int64_t>(row) * kBlockStride];
  return hn::Load(d, column);
}

// The sums of a vector of chunks.
template <class D, SumKind kSum, bool kSquares>
struct Chains {
  hn::Vec<D> sum, squares, entered;

  static HWY_INLINE Chains load(const SumsAbreast& sums, size_t place) {
    const D d;
    return {hn::Load(d, sums.sum + place), hn::Load(d, sums.squares + place), hn::Load(d, sums.entered + place)};
  }

  HWY_INLINE void store(SumsAbreast& sums, size_t place) const {
    const D d;
    hn::Store(sum, d, sums.sum + place);
    hn::Store(squares, d, sums.squares + place);
    hn::Store(entered, d, sums.entered + place);
  }

  HWY_INLINE void add(hn::Vec<D> x) {
    if constexpr (kSquares) squares = hn::Add(squares, hn::Mul(x, x));
    if constexpr (kSum == SumKind::kPlain) sum = hn::Add(sum, x);
    if constexpr (kSum == SumKind::kRunningMean) {
      entered = hn::Add(entered, hn::Set(D(), 1.0));
      sum = hn::Add(sum, hn::Div(hn::Sub(x, sum), entered));
    }
  }

  // Adds two columns: two loads and an interleaving of each half turn rows into columns.
  HWY_INLINE void add_two(const double* from) {
    const D d;
    const auto first = load_pairs(d, from), second = load_pairs(d, from + kBlockStride);
    add(hn::InterleaveLower(d, first, second));
    add(hn::InterleaveUpper(d, first, second));
  }
};

// Adds to as many vectors as the rows need, all in registers (hence a pack and not a loop). Additions of one vector hide the
// latency of another.
template <class D, SumKind kSum, bool kSquares, size_t... kI>
HWY_INLINE void add_vectors(const double* rows, int64_t count, SumsAbreast& sums,
                            std::index_sequence<kI...> /*group*/) {
  constexpr auto kRowsApart = static_cast<int64_t>(kPlaces<D>) * kBlockStride;
  using Group = Chains<D, kSum, kSquares>;
  Group chains[] = {Group::load(sums, kI * kPlaces<D>)...};
  int64_t at = 0;
  for (; at + 2 <= count; at += 2) (chains[kI].add_two(rows + static_cast<int64_t>(kI) * kRowsApart + at), ...);
  if (at < count) (chains[kI].add(load_column(D(), rows + static_cast<int64_t>(kI) * kRowsApart + at)), ...);
  (chains[kI].store(sums, kI * kPlaces<D>), ...);
}

// Uses the narrowest vector that holds all rows, else several of the widest.
template <class D, SumKind kSum, bool kSquares, size_t kVectors = 1>
void add_rows(const double* rows, int64_t count, size_t used, SumsAbreast& sums) {
  if constexpr (kVectors == 1 && kPlaces < D >> 2) {
    if (used <= kPlaces<D> / 2) return add_rows<hn::Half<D>, kSum, kSquares>(rows, count, used, sums);
  }
  if constexpr (kVectors * kPlaces<D> < kChunksAbreast) {
    if (used > kVectors * kPlaces<D>) return add_rows<D, kSum, kSquares, kVectors + 1>(rows, count, used, sums);
  }
  add_vectors<D, kSum, kSquares>(rows, count, sums, std::make_index_sequence<kVectors>());
}

template <bool kSquares>
void add_kind(const double* rows, int64_t count, size_t used, SumKind kind, SumsAbreast& sums) {
  using D = hn::CappedTag<double, kChunksAbreast>;
  switch (kind) {
    case SumKind::kNone:
      if constexpr (kSquares) add_rows<D, SumKind::kNone, kSquares>(rows, count, used, sums);
      return;
    case SumKind::kPlain: add_rows<D, SumKind::kPlain, kSquares>(rows, count, used, sums); return;
    case SumKind::kRunningMean: add_rows<D, SumKind::kRunningMean, kSquares>(rows, count, used, sums); return;
  }
}

}  // namespace

bool add_columns_vectors(const double* rows, int64_t count, size_t used, WantedSums wanted, SumsAbreast& sums) {
  if (wanted.squares) {
    add_kind<true>(rows, count, used, wanted.sum, sums);
  } else {
    add_kind<false>(rows, count, used, wanted.sum, sums);
  }
  return true;
}

#else  // !MSDUMP_HAS_VECTORS

bool add_columns_vectors(const double* /*rows*/, int64_t /*count*/, size_t /*used*/, WantedSums /*wanted*/,
                         SumsAbreast& /*sums*/) {
  return false;
}

#endif
}  // namespace msdump::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace msdump::kernels {

HWY_EXPORT(add_columns_vectors);

bool add_columns(const Blocks& blocks, int64_t count, size_t rows, WantedSums wanted, SumsAbreast& sums) {
  return !portable_forced() && HWY_DYNAMIC_DISPATCH(add_columns_vectors)(blocks.elements, count, rows, wanted, sums);
}

}  // namespace msdump::kernels
#endif
