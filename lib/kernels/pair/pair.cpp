// pair, block by block: the steps of pair_facts.h in vectors, with a short way for blocks that are equal bit by bit.
#include "kernels/pair/pair.h"

#include <cassert>
#include <cstring>
#include <memory>
#include <optional>

#include "kernels/dispatch.h"
#include "kernels/pair/pair_block.h"
#include "kernels/pair/pair_common.h"
#include "kernels/pair/pair_element.h"
#include "kernels/widen/widen.h"
#include "tensor/dtype_kind.h"

namespace msdump::kernels {
namespace {

// One side of a block.
struct Side {
  const std::byte* elements;  // as they are
  const std::byte* finite;    // with zeros for those that are not
  int64_t count, finite_count;
  double max, min;  // of the finite ones

  [[nodiscard]] BlockMoments moments(DType stored, OwnSums plain) const {
    if (finite_count > 0 && !has_ordinary_squares(max, min)) return wide_moments(elements, count, max, min);
    return moments_of(stored, finite_count, plain, max, min, [this, stored](Shift shift) {
      return finite_count == count ? add_own(stored, elements, count, shift)
                                   : add_own_finite(stored, elements, count, shift);
    });
  }
};

class VectorBlocks {
 public:
  VectorBlocks(DType stored, const PairRule& rule)
      : stored_(stored), rule_(rule), infinity_(element::infinity_code(stored)) {}

  // `state` says whether a block has a new worst pair.
  BlockFacts measure(const std::byte* a, const std::byte* b, int64_t count, const PairState& state,
                     Magnitudes& magnitudes) {
    const auto bytes = static_cast<size_t>(count * element::bytes(stored_));
    const bool same_bits = std::memcmp(a, b, bytes) == 0;
    if (same_bits) b = a;
    BlockFacts facts;
    facts.elements = count;
    CodeFacts codes = code_facts(stored_, a, b, count);
    const bool has_specials = infinity_ != 0 && (std::max(codes.max_a, codes.max_b) >= infinity_ ||
                                                 std::min(codes.min_a, codes.min_b) <= -infinity_);
    Side side_a{a, a, count, count, value(codes.max_a), value(codes.min_a)};
    Side side_b{b, b, count, count, value(codes.max_b), value(codes.min_b)};
    facts.finite = count;
    if (has_specials) {
      if (!cleaned_) cleaned_ = std::make_unique<Cleaned>();
      const SpecialFacts& found = facts.specials = clean_specials(stored_, a, b, count, *cleaned_);
      side_a = cleaned_side(a, cleaned_->own_a, count, found.finite_a, found.max_a, found.min_a);
      side_b = cleaned_side(b, cleaned_->own_b, count, found.finite_b, found.max_b, found.min_b);
      a = cleaned_->a;
      b = cleaned_->b;
      facts.finite = found.finite;
      codes = code_facts(stored_, a, b, count);
    }
    take_codes(codes, facts);
    const bool is_wide = stored_ == DType::kFloat64 && (!has_ordinary_squares(value(codes.max_a), value(codes.min_a)) ||
                                                        !has_ordinary_squares(value(codes.max_b), value(codes.min_b)));
    if (same_bits && !is_wide) {
      add_same(side_a, facts);
    } else {
      add_different(a, b, count, is_wide, has_specials, side_a, side_b, facts, magnitudes);
    }
    find_worst(state, side_a, side_b, magnitudes, facts);
    return facts;
  }

 private:
  [[nodiscard]] double value(int64_t code) const { return element::value_of_code(stored_, code); }

  // Without finite elements there are no extremes, and no metric needs them.
  [[nodiscard]] Side cleaned_side(const std::byte* elements, const std::byte* finite, int64_t count,
                                  int64_t finite_count, int64_t max, int64_t min) const {
    if (finite_count == 0) return {elements, finite, count, 0, 0, 0};
    return {elements, finite, count, finite_count, value(max), value(min)};
  }

  // Does not count the zeros in place of pairs that are not finite.
  void take_codes(const CodeFacts& codes, BlockFacts& facts) const {
    const int64_t cleaned = facts.elements - facts.finite;
    facts.equal = codes.equal - cleaned;
    facts.reference_zero = codes.zero_b - codes.zero_both;
    facts.reference_nonzero = facts.elements - codes.zero_b;
    if (rule_.ulp && stored_ != DType::kBool && facts.finite > 0) facts.max_ulp = codes.max_ulp;
  }

  // Every pair is equal: the sums of one side are enough.
  void add_same(const Side& side, BlockFacts& facts) const {
    const OwnSums own = add_own(stored_, side.finite, side.count, {});
    facts.sums.squares_a.value = facts.sums.squares_b.value = facts.sums.products.value = own.squares;
    facts.sums.under_1e3 = facts.sums.under_5e3 = facts.finite;
    facts.a = facts.b = side.moments(stored_, own);
  }

  void add_different(const std::byte* a, const std::byte* b, int64_t count, bool is_wide, bool has_specials,
                     const Side& side_a, const Side& side_b, BlockFacts& facts, Magnitudes& magnitudes) const {
    OwnSums own_a, own_b;
    if (is_wide) {
      double rows_a[kPairBlock], rows_b[kPairBlock];
      const auto number = static_cast<size_t>(count);
      std::memcpy(rows_a, a, number * sizeof(double));
      std::memcpy(rows_b, b, number * sizeof(double));
      facts.sums = add_wide_pairs({rows_a, number}, {rows_b, number}, rule_, magnitudes);
    } else {
      const LaneSums lanes = add_pairs(stored_, a, b, count, rule_, magnitudes);
      facts.sums = block_sums(lanes);
      if (!has_ordinary_squares(facts.sums.max_abs)) {
        facts.sums.squares = add_wide_squares({magnitudes.values, static_cast<size_t>(count)});
      }
      own_a = {sum_of(lanes.sum_a), facts.sums.squares_a.value};
      own_b = {sum_of(lanes.sum_b), facts.sums.squares_b.value};
    }
    if (is_wide || has_specials) {
      own_a = add_own(stored_, side_a.finite, count, {});
      own_b = add_own(stored_, side_b.finite, count, {});
    }
    const int64_t others = count - facts.finite + facts.reference_zero;
    facts.sums.under_1e3 -= others;
    facts.sums.under_5e3 -= others;
    facts.a = side_a.moments(stored_, own_a);
    facts.b = side_b.moments(stored_, own_b);
  }

  void find_worst(const PairState& state, const Side& a, const Side& b, const Magnitudes& magnitudes,
                  BlockFacts& facts) const {
    if (facts.finite == 0 || (state.worst && facts.sums.max_abs <= state.max_abs)) return;
    if (facts.sums.max_abs > 0) {
      facts.worst = first_with({magnitudes.values, static_cast<size_t>(facts.elements)}, facts.sums.max_abs);
      return;
    }
    const int64_t bytes = element::bytes(stored_);
    const auto is_finite = [this, bytes](const Side& side, int64_t at) {
      return std::isfinite(element::as_double(stored_, side.elements + at * bytes));
    };
    while (!is_finite(a, facts.worst) || !is_finite(b, facts.worst)) ++facts.worst;
  }

  const DType stored_;
  const PairRule& rule_;
  const int64_t infinity_;
  std::unique_ptr<Cleaned> cleaned_;
};

bool is_complex(DType stored) { return kind_of(stored) == DTypeKind::kComplex; }
bool is_narrow(DType stored) { return needs_widening(stored) && stored != DType::kBfloat16; }

// Measures a block of two tensors. Elements whose dtype numpy lacks are widened, one block at a time.
class BlockMeasure {
 public:
  BlockMeasure(DType dtype, const PairRule& rule, const PairState& state, bool with_vectors)
      : stored_(element::stored_as(dtype)),
        plain_(is_narrow(stored_) ? info(stored_).npy_dtype : stored_),
        rule_(rule),
        state_(state) {
    if (with_vectors && !is_complex(plain_)) vectors_.emplace(plain_, rule);
    if (plain_ != stored_) wide_ = std::make_unique<Wide>();
  }

  BlockFacts measure(const std::byte* a, const std::byte* b, int64_t count, Magnitudes& magnitudes) {
    if (!wide_) return measure_plain(a, b, count, magnitudes);
    widen(stored_, a, count, wide_->a);
    widen(stored_, b, count, wide_->b);
    BlockFacts facts = measure_plain(wide_->a, wide_->b, count, magnitudes);
    facts.max_ulp.reset();
    if (rule_.ulp && stored_ != DType::kComplex32 && facts.finite > 0) {
      facts.max_ulp = max_ulp_of_codes(stored_, a, b, count);
    }
    return facts;
  }

 private:
  struct Wide {
    alignas(64) std::byte a[kPairBlock * 8];
    alignas(64) std::byte b[kPairBlock * 8];
  };

  BlockFacts measure_plain(const std::byte* a, const std::byte* b, int64_t count, Magnitudes& magnitudes) {
    if (is_complex(plain_)) return complex_block_facts(plain_, a, b, count, rule_, magnitudes);
    if (vectors_) return vectors_->measure(a, b, count, state_, magnitudes);
    return block_facts_reference(plain_, a, b, count, rule_, magnitudes);
  }

  const DType stored_, plain_;
  const PairRule& rule_;
  const PairState& state_;
  std::optional<VectorBlocks> vectors_;
  std::unique_ptr<Wide> wide_;
};

void pair_blocks(DType dtype, const std::byte* a, const std::byte* b, int64_t count, const PairRule& rule,
                 PairState& state, bool with_vectors) {
  assert(can_pair(dtype));
  if (count == 0) return;
  BlockMeasure blocks(dtype, rule, state, with_vectors);
  const int64_t bytes = element::bytes(dtype);
  Magnitudes magnitudes;
  MagnitudeTally tally(state.magnitudes);
  state.has_magnitudes |= rule.quantiles;
  for (int64_t at = 0; at < count; at += kPairBlock) {
    const int64_t number = std::min(kPairBlock, count - at);
    const BlockFacts facts = blocks.measure(a + at * bytes, b + at * bytes, number, magnitudes);
    if (rule.quantiles && facts.sums.max_abs > 0) {
      const int64_t zeros = facts.equal + number - facts.finite;
      tally.add({magnitudes.values, static_cast<size_t>(number)}, static_cast<uint64_t>(zeros), facts.sums.max_abs);
    }
    state.add(facts);
  }
}

}  // namespace

bool can_pair(DType dtype) { return !is_raw(dtype) && dtype != DType::kUndefined; }

void pair_block(DType dtype, const std::byte* a, const std::byte* b, int64_t count, const PairRule& rule,
                PairState& state) {
  pair_blocks(dtype, a, b, count, rule, state, !portable_forced() && has_pair_vectors());
}

void pair_reference(DType dtype, const std::byte* a, const std::byte* b, int64_t count, const PairRule& rule,
                    PairState& state) {
  pair_blocks(dtype, a, b, count, rule, state, false);
}

}  // namespace msdump::kernels
