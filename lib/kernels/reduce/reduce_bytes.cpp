#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce/reduce_bytes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/reduce/reduce_block.h"

HWY_BEFORE_NAMESPACE();
namespace msdump::kernels::HWY_NAMESPACE {
#if MSDUMP_HAS_VECTORS
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Vectors until the 32-bit sums of squares are emptied. Each adds at most 4 * 255^2.
constexpr int64_t kVectorsAtATime = 4096;

template <class T>
class Totals {
 public:
  // Takes as many elements as fill whole vectors and returns their number.
  static int64_t take(const T* src, int64_t count, ByteTotals& totals) {
    const D d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const int64_t end = count / lanes * lanes;
    if (end == 0) return 0;
    auto max = hn::LoadU(d, src), min = max;
    for (int64_t at = 0; at < end;) {
      const int64_t stop = std::min(end, at + kVectorsAtATime * lanes);
      take_some(src, at, stop, max, min, totals);
      at = stop;
    }
    totals.max = largest(max, d);
    totals.min = smallest(min, d);
    return end;
  }

 private:
  using D = hn::ScalableTag<T>;
  using Bytes = hn::ScalableTag<uint64_t>;  // sums of eight bytes each
  using Unsigned = hn::ScalableTag<uint8_t>;
  using Shorts = hn::ScalableTag<int16_t>;
  using Ints = hn::ScalableTag<int32_t>;
  using Longs = hn::ScalableTag<int64_t>;

  static HWY_INLINE void take_some(const T* src, int64_t at, int64_t stop, hn::Vec<D>& max, hn::Vec<D>& min,
                                   ByteTotals& totals) {
    constexpr bool kSigned = std::is_signed_v<T>;
    const D d;
    const hn::Half<D> half;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const auto zero = hn::Zero(d);
    // A signed byte with its highest bit flipped is 128 larger, so never negative.
    const auto bias = hn::Set(Unsigned(), kSigned ? uint8_t{0x80} : uint8_t{0});
    auto sums = hn::Zero(Bytes());
    auto squares0 = hn::Zero(Ints()), squares1 = squares0, squares2 = squares0, squares3 = squares0;
    const int64_t elements = stop - at;
    for (; at < stop; at += lanes) {
      const auto x = hn::LoadU(d, src + at);
      max = hn::Max(max, x);
      min = hn::Min(min, x);
      totals.zero += static_cast<int64_t>(hn::CountTrue(d, hn::Eq(x, zero)));
      if constexpr (kSigned) totals.below_zero += static_cast<int64_t>(hn::CountTrue(d, hn::Lt(x, zero)));
      sums = hn::Add(sums, hn::SumsOf8(hn::Xor(hn::BitCast(Unsigned(), x), bias)));
      const auto lower = hn::PromoteTo(Shorts(), hn::LowerHalf(half, x));
      const auto upper = hn::PromoteTo(Shorts(), hn::UpperHalf(half, x));
      squares0 = hn::ReorderWidenMulAccumulate(Ints(), lower, lower, squares0, squares1);
      squares2 = hn::ReorderWidenMulAccumulate(Ints(), upper, upper, squares2, squares3);
    }
    totals.sum += static_cast<int64_t>(hn::GetLane(hn::SumOfLanes(Bytes(), sums))) - (kSigned ? 128 * elements : 0);
    totals.squares += total(squares0) + total(squares1) + total(squares2) + total(squares3);
  }

  static HWY_INLINE int64_t total(hn::Vec<Ints> x) {
    const hn::Half<Ints> half;
    const auto wide =
        hn::Add(hn::PromoteTo(Longs(), hn::LowerHalf(half, x)), hn::PromoteTo(Longs(), hn::UpperHalf(half, x)));
    return hn::GetLane(hn::SumOfLanes(Longs(), wide));
  }

  static int largest(hn::Vec<D> x, D d) {
    alignas(64) T lanes[hn::MaxLanes(D())];
    hn::Store(x, d, lanes);
    return *std::max_element(lanes, lanes + hn::Lanes(d));
  }
  static int smallest(hn::Vec<D> x, D d) {
    alignas(64) T lanes[hn::MaxLanes(D())];
    hn::Store(x, d, lanes);
    return *std::min_element(lanes, lanes + hn::Lanes(d));
  }
};

int64_t count_zero(const uint8_t* src, int64_t count, int64_t& zero) {
  const hn::ScalableTag<uint8_t> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t at = 0;
  for (; at + lanes <= count; at += lanes)
    zero += static_cast<int64_t>(hn::CountTrue(d, hn::Eq(hn::LoadU(d, src + at), hn::Zero(d))));
  return at;
}

}  // namespace

int64_t take_int8(const int8_t* src, int64_t count, ByteTotals& totals) {
  return Totals<int8_t>::take(src, count, totals);
}
int64_t take_uint8(const uint8_t* src, int64_t count, ByteTotals& totals) {
  return Totals<uint8_t>::take(src, count, totals);
}
int64_t take_zeros(const uint8_t* src, int64_t count, int64_t& zero) { return count_zero(src, count, zero); }

#else  // !MSDUMP_HAS_VECTORS: all is left to the portable loop

int64_t take_int8(const int8_t* /*src*/, int64_t /*count*/, ByteTotals& /*totals*/) { return 0; }
int64_t take_uint8(const uint8_t* /*src*/, int64_t /*count*/, ByteTotals& /*totals*/) { return 0; }
int64_t take_zeros(const uint8_t* /*src*/, int64_t /*count*/, int64_t& /*zero*/) { return 0; }

#endif
}  // namespace msdump::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace msdump::kernels {
namespace {

template <class T>
void take_rest(const T* src, int64_t begin, int64_t count, ByteTotals& totals) {
  if (begin == 0) totals.max = totals.min = src[0];
  for (int64_t at = begin; at < count; ++at) {
    const int x = src[at];
    totals.max = std::max(totals.max, x);
    totals.min = std::min(totals.min, x);
    totals.below_zero += x < 0 ? 1 : 0;
    totals.zero += x == 0 ? 1 : 0;
    totals.sum += x;
    totals.squares += x * x;
  }
}

ByteTotals totals_of_bools(int64_t count, int64_t zero) {
  ByteTotals totals;
  totals.zero = zero;
  totals.sum = totals.squares = count - zero;
  totals.max = zero < count ? 1 : 0;
  totals.min = zero > 0 ? 0 : 1;
  return totals;
}

}  // namespace

HWY_EXPORT(take_int8);
HWY_EXPORT(take_uint8);
HWY_EXPORT(take_zeros);

bool has_byte_totals(DType stored) {
  return stored == DType::kInt8 || stored == DType::kUint8 || stored == DType::kBool;
}

ByteTotals byte_totals(DType stored, const std::byte* src, int64_t count) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(src);
  const bool portable = portable_forced();
  ByteTotals totals;
  if (stored == DType::kBool) {
    int64_t zero = 0;
    const int64_t begin = portable ? 0 : HWY_DYNAMIC_DISPATCH(take_zeros)(bytes, count, zero);
    return totals_of_bools(count, zero + std::count(bytes + begin, bytes + count, uint8_t{0}));
  }
  if (stored == DType::kInt8) {
    const auto* const elements = reinterpret_cast<const int8_t*>(src);
    const int64_t begin = portable ? 0 : HWY_DYNAMIC_DISPATCH(take_int8)(elements, count, totals);
    take_rest(elements, begin, count, totals);
    return totals;
  }
  const int64_t begin = portable ? 0 : HWY_DYNAMIC_DISPATCH(take_uint8)(bytes, count, totals);
  take_rest(bytes, begin, count, totals);
  return totals;
}

}  // namespace msdump::kernels
#endif
