#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/judge/judge_block.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <limits>

#include "kernels/judge/judge_block.h"

HWY_BEFORE_NAMESPACE();
namespace msdump::kernels::HWY_NAMESPACE {
#if MSDUMP_HAS_VECTORS
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, kJudgeLanes>;
using V = hn::Vec<D>;
using M = hn::Mask<D>;

// Sums of the lanes that a vector has, from `first` on.
HWY_INLINE V load(const LaneSum& sum, size_t first) { return hn::LoadU(D(), sum.lanes.data() + first); }
HWY_INLINE void store(V v, LaneSum& sum, size_t first) { hn::StoreU(v, D(), sum.lanes.data() + first); }

template <size_t kBounds, bool kHasTerms>
bool add_rounded(const JudgedBlock& block, const RoundingRule& rule, JudgeSums& sums) {
  const D d;
  const V u = hn::Set(d, rule.u), largest = hn::Set(d, rule.largest);
  const V most_terms = hn::Set(d, std::numeric_limits<double>::max());
  JudgeSums after = sums;
  for (size_t lane = 0; lane < kJudgeLanes; lane += hn::Lanes(d)) {
    V squares = load(sums.squares, lane), errors = load(sums.errors, lane), products = load(sums.products, lane);
    V spread[kBounds];
    for (size_t k = 0; k < kBounds; ++k) spread[k] = load(sums.spread[k], lane);
    M right = hn::FirstN(d, hn::Lanes(d));
    for (size_t i = lane; i < block.count; i += kJudgeLanes) {
      const V expected = hn::LoadU(d, block.expected + i), found = hn::LoadU(d, block.found + i);
      const V magnitude = hn::Abs(expected), error = hn::Abs(hn::Sub(found, expected));
      const V square = hn::Mul(expected, expected);
      V size = magnitude;
      right = hn::And(right, hn::Le(magnitude, largest));
      if constexpr (kHasTerms) {
        size = hn::LoadU(d, block.terms + i);
        right = hn::And(right, hn::Le(hn::Abs(size), most_terms));
      }
      squares = hn::Add(squares, square);
      errors = hn::Add(errors, hn::Mul(error, error));
      products = hn::Add(products, hn::Mul(expected, found));
      for (size_t k = 0; k < kBounds; ++k) {
        const RoundingRule::OfBound& of = rule.of[k];
        const V rounding = hn::Add(hn::Mul(u, magnitude), hn::Mul(hn::Set(d, of.scale), size));
        spread[k] = hn::Add(spread[k], hn::Mul(hn::Mul(square, rounding), rounding));
        const V bound = hn::Add(rounding, hn::Set(d, of.step));
        right = hn::And(right, hn::Le(error, hn::Mul(hn::Set(d, of.most), bound)));
      }
    }
    if (!hn::AllTrue(d, right)) return false;
    store(squares, after.squares, lane);
    store(errors, after.errors, lane);
    store(products, after.products, lane);
    for (size_t k = 0; k < kBounds; ++k) store(spread[k], after.spread[k], lane);
  }
  sums = after;
  return true;
}

template <size_t kBounds>
bool add_rounded(const JudgedBlock& block, const RoundingRule& rule, JudgeSums& sums) {
  return block.terms == nullptr ? add_rounded<kBounds, false>(block, rule, sums)
                                : add_rounded<kBounds, true>(block, rule, sums);
}

}  // namespace

bool add_rounded_vectors(const JudgedBlock& block, const RoundingRule& rule, JudgeSums& sums) {
  switch (rule.bounds) {
    case 1: return add_rounded<1>(block, rule, sums);
    case 2: return add_rounded<2>(block, rule, sums);
    case 3: return add_rounded<3>(block, rule, sums);
    default: return false;
  }
}

bool add_equal_vectors(const JudgedBlock& block, const StoredNumbers& numbers, JudgeSums& sums) {
  const D d;
  const hn::RebindToUnsigned<D> words;
  const V least = hn::Set(d, numbers.least), beyond = hn::Set(d, numbers.beyond);
  const V smallest = hn::Set(d, numbers.smallest), zero = hn::Zero(d);
  const auto zero_bits = hn::Set(words, numbers.zero_bits);
  JudgeSums after = sums;
  for (size_t lane = 0; lane < kJudgeLanes; lane += hn::Lanes(d)) {
    V squares = load(sums.squares, lane);
    auto low = hn::Zero(words);
    M equal = hn::FirstN(d, hn::Lanes(d));
    for (size_t i = lane; i < block.count; i += kJudgeLanes) {
      const V expected = hn::LoadU(d, block.expected + i);
      equal = hn::And(equal, hn::Eq(expected, hn::LoadU(d, block.found + i)));
      equal = hn::And(equal, hn::And(hn::Ge(expected, least), hn::Lt(expected, beyond)));
      equal = hn::And(equal, hn::Or(hn::Ge(hn::Abs(expected), smallest), hn::Eq(expected, zero)));
      if (numbers.whole) equal = hn::And(equal, hn::Eq(hn::Trunc(expected), expected));
      low = hn::Or(low, hn::And(hn::BitCast(words, expected), zero_bits));
      squares = hn::Add(squares, hn::Mul(expected, expected));
    }
    if (!hn::AllTrue(d, equal) || !hn::AllTrue(words, hn::Eq(low, hn::Zero(words)))) return false;
    store(squares, after.squares, lane);
  }
  sums = after;
  return true;
}

#else  // !MSDUMP_HAS_VECTORS: the caller looks at each element

bool add_rounded_vectors(const JudgedBlock& /*block*/, const RoundingRule& /*rule*/, JudgeSums& /*sums*/) {
  return false;
}
bool add_equal_vectors(const JudgedBlock& /*block*/, const StoredNumbers& /*numbers*/, JudgeSums& /*sums*/) {
  return false;
}

#endif
}  // namespace msdump::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace msdump::kernels {

HWY_EXPORT(add_rounded_vectors);
HWY_EXPORT(add_equal_vectors);

bool add_if_rounded(const JudgedBlock& block, const RoundingRule& rule, JudgeSums& sums) {
  return !portable_forced() && HWY_DYNAMIC_DISPATCH(add_rounded_vectors)(block, rule, sums);
}

bool add_if_equal(const JudgedBlock& block, const StoredNumbers& numbers, JudgeSums& sums) {
  return !portable_forced() && HWY_DYNAMIC_DISPATCH(add_equal_vectors)(block, numbers, sums);
}

}  // namespace msdump::kernels
#endif
