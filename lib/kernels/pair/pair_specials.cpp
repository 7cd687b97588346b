// Step 2 of pair_facts.h in vectors.
#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pair/pair_specials.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "kernels/pair/pair_block.h"

HWY_BEFORE_NAMESPACE();
namespace msdump::kernels::HWY_NAMESPACE {
#if MSDUMP_HAS_VECTORS
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
class Cleaning {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  using M = hn::Mask<D>;
  static constexpr auto kPlaces = static_cast<int64_t>(hn::MaxLanes(D()));
  static constexpr auto kStep = kPlaces * static_cast<int64_t>(sizeof(T));

 public:
  static SpecialFacts run(const std::byte* a, const std::byte* b, int64_t count, T infinity, Cleaned& cleaned) {
    Cleaning all(infinity);
    int64_t at = 0;
    for (; at + kPlaces <= count; at += kPlaces, a += kStep, b += kStep) all.take(a, b, at, kPlaces, cleaned);
    if (at < count) {
      alignas(64) std::byte some_a[static_cast<size_t>(kStep)] = {}, some_b[static_cast<size_t>(kStep)] = {};
      std::memcpy(some_a, a, static_cast<size_t>(count - at) * sizeof(T));
      std::memcpy(some_b, b, static_cast<size_t>(count - at) * sizeof(T));
      all.take(some_a, some_b, at, count - at, cleaned);
    }
    return all.found();
  }

 private:
  explicit HWY_INLINE Cleaning(T infinity)
      : infinity_(hn::Set(D(), infinity)),
        max_a_(hn::Set(D(), hwy::LimitsMin<T>())),
        min_a_(hn::Set(D(), hwy::LimitsMax<T>())),
        max_b_(max_a_),
        min_b_(min_a_) {}

  struct Side {
    V bits, code;
    M nan, finite;
  };

  HWY_INLINE Side side(const std::byte* from, M there) const {
    const D d;
    const auto bytes = hn::LoadU(hn::Repartition<uint8_t, D>(), reinterpret_cast<const uint8_t*>(from));
    const V bits = hn::BitCast(d, bytes);
    const V sign = hn::ShiftRight<sizeof(T) * 8 - 1>(bits);
    const V magnitude = hn::And(bits, hn::Set(d, hwy::LimitsMax<T>()));
    return {bits, hn::Sub(hn::Xor(magnitude, sign), sign), hn::And(there, hn::Gt(magnitude, infinity_)),
            hn::And(there, hn::Lt(magnitude, infinity_))};
  }

  HWY_INLINE void take(const std::byte* from_a, const std::byte* from_b, int64_t at, int64_t count, Cleaned& cleaned) {
    const D d;
    const int64_t offset = at * static_cast<int64_t>(sizeof(T));
    const M there = hn::FirstN(d, static_cast<size_t>(count));
    const Side a = side(from_a, there), b = side(from_b, there);
    const M both = hn::And(a.finite, b.finite);
    store(hn::IfThenElseZero(both, a.bits), cleaned.a + offset);
    store(hn::IfThenElseZero(both, b.bits), cleaned.b + offset);
    store(hn::IfThenElseZero(a.finite, a.bits), cleaned.own_a + offset);
    store(hn::IfThenElseZero(b.finite, b.bits), cleaned.own_b + offset);
    count_in(facts_.finite, both);
    count_in(facts_.finite_a, a.finite);
    count_in(facts_.finite_b, b.finite);
    count_in(facts_.nan_a, a.nan);
    count_in(facts_.nan_b, b.nan);
    count_in(facts_.nan_mismatch, hn::Xor(a.nan, b.nan));
    const M no_pair = hn::Or(hn::Or(a.nan, b.nan), both);
    count_in(facts_.inf_mismatch, hn::And(hn::AndNot(no_pair, there), hn::Ne(a.code, b.code)));
    max_a_ = hn::IfThenElse(a.finite, hn::Max(max_a_, a.code), max_a_);
    min_a_ = hn::IfThenElse(a.finite, hn::Min(min_a_, a.code), min_a_);
    max_b_ = hn::IfThenElse(b.finite, hn::Max(max_b_, b.code), max_b_);
    min_b_ = hn::IfThenElse(b.finite, hn::Min(min_b_, b.code), min_b_);
  }

  static HWY_INLINE void store(V v, std::byte* to) {
    const hn::Repartition<uint8_t, D> bytes;
    hn::StoreU(hn::BitCast(bytes, v), bytes, reinterpret_cast<uint8_t*>(to));
  }

  static HWY_INLINE void count_in(int64_t& counter, M mask) {
    counter += static_cast<int64_t>(hn::CountTrue(D(), mask));
  }

  [[nodiscard]] SpecialFacts found() {
    facts_.max_a = extreme(max_a_, std::less<T>());
    facts_.min_a = extreme(min_a_, std::greater<T>());
    facts_.max_b = extreme(max_b_, std::less<T>());
    facts_.min_b = extreme(min_b_, std::greater<T>());
    return facts_;
  }

  template <class Order>
  static int64_t extreme(V v, Order order) {
    alignas(64) T places[hn::MaxLanes(D())];
    hn::Store(v, D(), places);
    return *std::max_element(places, places + kPlaces, order);
  }

  V infinity_, max_a_, min_a_, max_b_, min_b_;
  SpecialFacts facts_;
};

}  // namespace

SpecialFacts clean_specials_vectors(DType stored, const std::byte* a, const std::byte* b, int64_t count,
                                    Cleaned& cleaned) {
  const int64_t infinity = element::infinity_code(stored);
  switch (stored) {
    case DType::kFloat16:
    case DType::kBfloat16: return Cleaning<int16_t>::run(a, b, count, static_cast<int16_t>(infinity), cleaned);
    case DType::kFloat32: return Cleaning<int32_t>::run(a, b, count, static_cast<int32_t>(infinity), cleaned);
    case DType::kFloat64: return Cleaning<int64_t>::run(a, b, count, infinity, cleaned);
    default: return {};
  }
}

#else  // !MSDUMP_HAS_VECTORS: all is left to pair_reference

SpecialFacts clean_specials_vectors(DType /*stored*/, const std::byte* /*a*/, const std::byte* /*b*/, int64_t /*count*/,
                                    Cleaned& /*cleaned*/) {
  return {};
}

#endif
}  // namespace msdump::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace msdump::kernels {

HWY_EXPORT(clean_specials_vectors);

SpecialFacts clean_specials(DType stored, const std::byte* a, const std::byte* b, int64_t count, Cleaned& cleaned) {
  return HWY_DYNAMIC_DISPATCH(clean_specials_vectors)(stored, a, b, count, cleaned);
}

}  // namespace msdump::kernels
#endif
