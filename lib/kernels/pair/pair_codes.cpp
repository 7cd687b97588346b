// Step 1 of pair_facts.h in vectors, as wide as the elements are stored.
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
    const auto bytes = hn::LoadU(hn::Repartition<uint8_t, D>(), reinterpret_cast<const uint8_t*>(from));
    const V v = hn::BitCast(d, bytes);
    if constexpr (kCoding == Coding::kBool) return hn::Min(v, hn::Set(d, T{1}));
    if constexpr (kCoding == Coding::kFloat) {
      const V sign = hn::ShiftRight<sizeof(T) * 8 - 1>(v);  // all ones or none
      return hn::Sub(hn::Xor(hn::And(v, hn::Set(d, hwy::LimitsMax<T>())), sign), sign);
    }
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

  // The first elements; the places after them repeat the first one.
  static HWY_INLINE V load_some(const std::byte* from, int64_t count) {
    alignas(64) std::byte padded[hn::MaxLanes(D()) * sizeof(T)];
    const auto there = static_cast<size_t>(std::min(count, kPlaces));
    std::memcpy(padded, from, there * sizeof(T));
    for (size_t at = there; at < hn::MaxLanes(D()); ++at) std::memcpy(padded + at * sizeof(T), from, sizeof(T));
    return load(padded);
  }

  HWY_INLINE void take(V a, V b) {
    const D d;
    count(hn::Eq(a, b), hn::Eq(b, hn::Zero(d)), hn::Eq(hn::Or(a, b), hn::Zero(d)));
    widen_extremes(a, b);
  }

  HWY_INLINE void take_some(V a, V b, int64_t there) {
    const D d;
    const auto mask = hn::FirstN(d, static_cast<size_t>(there));
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
    facts_.max_a = extreme(max_a_, std::less<T>());
    facts_.min_a = extreme(min_a_, std::greater<T>());
    facts_.max_b = extreme(max_b_, std::less<T>());
    facts_.min_b = extreme(min_b_, std::greater<T>());
    alignas(64) hwy::MakeUnsigned<T> ulps[hn::MaxLanes(D())];
    hn::Store(max_ulp_, U(), ulps);
    facts_.max_ulp = *std::max_element(ulps, ulps + kPlaces);
    return facts_;
  }

  template <class Order>
  static int64_t extreme(V v, Order order) {
    alignas(64) T places[hn::MaxLanes(D())];
    hn::Store(v, D(), places);
    return static_cast<int64_t>(*std::max_element(places, places + kPlaces, order));
  }

  V max_a_, min_a_, max_b_, min_b_;
  hn::Vec<U> max_ulp_;
  CodeFacts facts_;
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

#else  // !MSDUMP_HAS_VECTORS: all is left to pair_reference

bool has_vectors() { return false; }

CodeFacts code_facts_vectors(DType /*stored*/, const std::byte* /*a*/, const std::byte* /*b*/, int64_t /*count*/) {
  return {};
}

#endif
}  // namespace msdump::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace msdump::kernels {

HWY_EXPORT(has_vectors);
HWY_EXPORT(code_facts_vectors);

bool has_pair_vectors() { return HWY_DYNAMIC_DISPATCH(has_vectors)(); }

CodeFacts code_facts(DType stored, const std::byte* a, const std::byte* b, int64_t count) {
  return HWY_DYNAMIC_DISPATCH(code_facts_vectors)(stored, a, b, count);
}

}  // namespace msdump::kernels
#endif
