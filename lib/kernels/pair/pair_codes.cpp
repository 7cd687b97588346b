// Steps 1 and 2 of pair_block.h in vectors as wide as the elements are stored, and the buckets of magnitudes.
#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pair/pair_codes.cpp"
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

// Memory is read as bytes, because an element of a dump has no alignment.
template <class D>
HWY_INLINE hn::Vec<D> load_bytes(D d, const std::byte* from) {
  return hn::BitCast(d, hn::LoadU(hn::Repartition<uint8_t, D>(), reinterpret_cast<const uint8_t*>(from)));
}

template <class D>
HWY_INLINE hn::Vec<D> magnitude_of(D d, hn::Vec<D> bits) {
  return hn::And(bits, hn::Set(d, hwy::LimitsMax<hn::TFromD<D>>()));
}

// The bits of floats as integers in the order of the values.
template <class D>
HWY_INLINE hn::Vec<D> order_floats(D d, hn::Vec<D> bits) {
  const auto sign = hn::ShiftRight<sizeof(hn::TFromD<D>) * 8 - 1>(bits);  // all ones or none
  return hn::Sub(hn::Xor(magnitude_of(d, bits), sign), sign);
}

template <class D, class Order>
int64_t extreme_of(D d, hn::Vec<D> v, Order order) {
  constexpr size_t kPlaces = hn::MaxLanes(D());
  alignas(64) hn::TFromD<D> places[kPlaces];
  hn::Store(v, d, places);
  return static_cast<int64_t>(*std::max_element(places, places + kPlaces, order));
}

enum class Coding { kInteger, kBool, kFloat };

template <class T, Coding kCoding>
class CodeReader {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  using U = hn::RebindToUnsigned<D>;
  static constexpr auto kPlaces = static_cast<int64_t>(hn::MaxLanes(D()));

 public:
  static HWY_INLINE V load(const std::byte* from) {
    const D d;
    const V v = load_bytes(d, from);
    if constexpr (kCoding == Coding::kBool) return hn::Min(v, hn::Set(d, T{1}));
    if constexpr (kCoding == Coding::kFloat) return order_floats(d, v);
    return v;
  }

  static CodeFacts read(const std::byte* a, const std::byte* b, int64_t count) {
    constexpr auto kStep = kPlaces * static_cast<int64_t>(sizeof(T));
    CodeReader all(load_some(a, count), load_some(b, count));
    int64_t at = 0;
    for (; at + kPlaces <= count; at += kPlaces, a += kStep, b += kStep) all.take(load(a), load(b));
    if (at < count) all.take_some(load_some(a, count - at), load_some(b, count - at), count - at);
    return all.found();
  }

 private:
  HWY_INLINE CodeReader(V a, V b) : max_a_(a), min_a_(a), max_b_(b), min_b_(b), max_ulp_(hn::Zero(U())) {}

  // The first `count` elements; other lanes repeat the first one.
  static HWY_INLINE V load_some(const std::byte* from, int64_t count) {
    alignas(64) std::byte padded[hn::MaxLanes(D()) * sizeof(T)];
    const auto present = static_cast<size_t>(std::min(count, kPlaces));
    std::memcpy(padded, from, present * sizeof(T));
    for (size_t at = present; at < hn::MaxLanes(D()); ++at) std::memcpy(padded + at * sizeof(T), from, sizeof(T));
    return load(padded);
  }

  HWY_INLINE void take(V a, V b) {
    const D d;
    count(hn::Eq(a, b), hn::Eq(b, hn::Zero(d)), hn::Eq(hn::Or(a, b), hn::Zero(d)));
    widen_extremes(a, b);
  }

  HWY_INLINE void take_some(V a, V b, int64_t present) {
    const D d;
    const auto mask = hn::FirstN(d, static_cast<size_t>(present));
    count(hn::And(mask, hn::Eq(a, b)), hn::And(mask, hn::Eq(b, hn::Zero(d))),
          hn::And(mask, hn::Eq(hn::Or(a, b), hn::Zero(d))));
    widen_extremes(a, b);
  }

  HWY_INLINE void count(hn::Mask<D> equal, hn::Mask<D> zero_b, hn::Mask<D> zero_both) {
    const D d;
    facts_.equal += static_cast<int64_t>(hn::CountTrue(d, equal));
    facts_.zero_b += static_cast<int64_t>(hn::CountTrue(d, zero_b));
    facts_.zero_both += static_cast<int64_t>(hn::CountTrue(d, zero_both));
  }

  HWY_INLINE void widen_extremes(V a, V b) {
    max_a_ = hn::Max(max_a_, a);
    min_a_ = hn::Min(min_a_, a);
    max_b_ = hn::Max(max_b_, b);
    min_b_ = hn::Min(min_b_, b);
    max_ulp_ = hn::Max(max_ulp_, hn::BitCast(U(), hn::Sub(hn::Max(a, b), hn::Min(a, b))));
  }

  [[nodiscard]] CodeFacts found() {
    facts_.max_a = extreme_of(D(), max_a_, std::less<T>());
    facts_.min_a = extreme_of(D(), min_a_, std::greater<T>());
    facts_.max_b = extreme_of(D(), max_b_, std::less<T>());
    facts_.min_b = extreme_of(D(), min_b_, std::greater<T>());
    alignas(64) hwy::MakeUnsigned<T> ulps[hn::MaxLanes(D())];
    hn::Store(max_ulp_, U(), ulps);
    facts_.max_ulp = *std::max_element(ulps, ulps + kPlaces);
    return facts_;
  }

  V max_a_, min_a_, max_b_, min_b_;
  hn::Vec<U> max_ulp_;
  CodeFacts facts_;
};

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

  HWY_INLINE Side side(const std::byte* from, M present) const {
    const D d;
    const V bits = load_bytes(d, from), magnitude = magnitude_of(d, bits);
    return {bits, order_floats(d, bits), hn::And(present, hn::Gt(magnitude, infinity_)),
            hn::And(present, hn::Lt(magnitude, infinity_))};
  }

  HWY_INLINE void take(const std::byte* from_a, const std::byte* from_b, int64_t at, int64_t count, Cleaned& cleaned) {
    const D d;
    const int64_t offset = at * static_cast<int64_t>(sizeof(T));
    const M present = hn::FirstN(d, static_cast<size_t>(count));
    const Side a = side(from_a, present), b = side(from_b, present);
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
    count_in(facts_.inf_mismatch, hn::And(hn::AndNot(no_pair, present), hn::Ne(a.code, b.code)));
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
    facts_.max_a = extreme_of(D(), max_a_, std::less<T>());
    facts_.min_a = extreme_of(D(), min_a_, std::greater<T>());
    facts_.max_b = extreme_of(D(), max_b_, std::less<T>());
    facts_.min_b = extreme_of(D(), min_b_, std::greater<T>());
    return facts_;
  }

  V infinity_, max_a_, min_a_, max_b_, min_b_;
  SpecialFacts facts_;
};

}  // namespace

bool has_vectors() { return true; }

CodeFacts code_facts_vectors(DType stored, const std::byte* a, const std::byte* b, int64_t count) {
  switch (stored) {
    case DType::kBool: return CodeReader<uint8_t, Coding::kBool>::read(a, b, count);
    case DType::kInt8: return CodeReader<int8_t, Coding::kInteger>::read(a, b, count);
    case DType::kUint8: return CodeReader<uint8_t, Coding::kInteger>::read(a, b, count);
    case DType::kInt16: return CodeReader<int16_t, Coding::kInteger>::read(a, b, count);
    case DType::kUint16: return CodeReader<uint16_t, Coding::kInteger>::read(a, b, count);
    case DType::kInt32: return CodeReader<int32_t, Coding::kInteger>::read(a, b, count);
    case DType::kUint32: return CodeReader<uint32_t, Coding::kInteger>::read(a, b, count);
    case DType::kInt64: return CodeReader<int64_t, Coding::kInteger>::read(a, b, count);
    case DType::kUint64: return CodeReader<uint64_t, Coding::kInteger>::read(a, b, count);
    case DType::kFloat16:
    case DType::kBfloat16: return CodeReader<int16_t, Coding::kFloat>::read(a, b, count);
    case DType::kFloat32: return CodeReader<int32_t, Coding::kFloat>::read(a, b, count);
    case DType::kFloat64: return CodeReader<int64_t, Coding::kFloat>::read(a, b, count);
    default: return {};
  }
}

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

size_t find_buckets_vectors(const double* magnitudes, size_t count, MagnitudeBucket first, uint32_t* buckets) {
  const hn::ScalableTag<double> d;
  const hn::RebindToUnsigned<decltype(d)> bits;
  const hn::Repartition<uint32_t, decltype(d)> words;
  const auto lowest = hn::Set(d, lower_end(first));
  const auto base = hn::Set(words, first);
  constexpr size_t kPlaces = hn::MaxLanes(d);
  const auto halves_of = [&](const double* from) HWY_ATTR {
    const auto magnitude = hn::BitCast(bits, hn::Max(hn::LoadU(d, from), lowest));
    return hn::BitCast(words, hn::ShiftRight<52 - kBucketsPerOctaveLog2>(magnitude));
  };
  alignas(64) uint32_t some[2 * kPlaces];
  size_t at = 0, found = 0;
  for (; at + 2 * kPlaces <= count; at += 2 * kPlaces) {
    // A bucket fills the lower, even half of its word.
    const auto bucket = hn::ConcatEven(words, halves_of(magnitudes + at + kPlaces), halves_of(magnitudes + at));
    // CompressStore would copy its table to the stack for every vector.
    hn::Store(hn::Sub(bucket, base), words, some);
    for (const uint32_t one : some) {
      buckets[found] = one;
      found += one != 0 ? 1 : 0;
    }
  }
  return found + find_buckets_plain(magnitudes + at, count - at, first, buckets + found);
}

#else  // !MSDUMP_HAS_VECTORS: all is left to pair_reference

bool has_vectors() { return false; }

CodeFacts code_facts_vectors(DType /*stored*/, const std::byte* /*a*/, const std::byte* /*b*/, int64_t /*count*/) {
  return {};
}

SpecialFacts clean_specials_vectors(DType /*stored*/, const std::byte* /*a*/, const std::byte* /*b*/, int64_t /*count*/,
                                    Cleaned& /*cleaned*/) {
  return {};
}

size_t find_buckets_vectors(const double* magnitudes, size_t count, MagnitudeBucket first, uint32_t* buckets) {
  return find_buckets_plain(magnitudes, count, first, buckets);
}

#endif
}  // namespace msdump::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace msdump::kernels {

HWY_EXPORT(has_vectors);
HWY_EXPORT(code_facts_vectors);
HWY_EXPORT(clean_specials_vectors);
HWY_EXPORT(find_buckets_vectors);

bool has_pair_vectors() { return HWY_DYNAMIC_DISPATCH(has_vectors)(); }

CodeFacts code_facts(DType stored, const std::byte* a, const std::byte* b, int64_t count) {
  return HWY_DYNAMIC_DISPATCH(code_facts_vectors)(stored, a, b, count);
}

SpecialFacts clean_specials(DType stored, const std::byte* a, const std::byte* b, int64_t count, Cleaned& cleaned) {
  return HWY_DYNAMIC_DISPATCH(clean_specials_vectors)(stored, a, b, count, cleaned);
}

size_t find_buckets(const double* magnitudes, size_t count, MagnitudeBucket first, uint32_t* buckets) {
  return portable_forced() ? find_buckets_plain(magnitudes, count, first, buckets)
                           : HWY_DYNAMIC_DISPATCH(find_buckets_vectors)(magnitudes, count, first, buckets);
}

}  // namespace msdump::kernels
#endif
