// The 16-bit types in vectors, by moving bits: no float instruction handles a NaN. And float32 to float64.
#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/widen/widen_halves.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/widen/widen.h"

HWY_BEFORE_NAMESPACE();
namespace msdump::kernels::HWY_NAMESPACE {
#if MSDUMP_HAS_VECTORS
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using WordTag = hn::ScalableTag<uint32_t>;
using Words = hn::Vec<WordTag>;

struct Bfloat16Words {
  static HWY_INLINE Words widened(WordTag /*words*/, Words bits) { return hn::ShiftLeft<16>(bits); }
};

// Computes all three cases of float16_to_float_bits() and selects one.
struct Float16Words {
  static HWY_INLINE Words widened(WordTag words, Words bits) {
    const hn::RebindToFloat<WordTag> floats;
    const hn::RebindToSigned<WordTag> ints;
    const Words sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(words, 0x8000U)));
    const Words magnitude = hn::And(bits, hn::Set(words, 0x7FFFU));
    const Words shifted = hn::ShiftLeft<13>(magnitude);
    const Words normal = hn::Add(shifted, hn::Set(words, (127U - 15U) << 23));
    const Words special = hn::Or(shifted, hn::Set(words, kFloatInfinity));
    const auto count = hn::ConvertTo(floats, hn::BitCast(ints, magnitude));
    const Words denormal = hn::BitCast(words, hn::Mul(count, hn::Set(floats, 1.0F / 16777216.0F)));  // 2^-24
    const auto is_special = hn::Gt(hn::BitCast(ints, magnitude), hn::Set(ints, 0x7BFF));
    const auto is_denormal = hn::Lt(hn::BitCast(ints, magnitude), hn::Set(ints, 0x0400));
    const Words high = hn::IfThenElse(hn::RebindMask(words, is_special), special, normal);
    return hn::Or(sign, hn::IfThenElse(hn::RebindMask(words, is_denormal), denormal, high));
  }
};

// Widens as many elements as fill whole vectors and returns their number.
template <class Type>
HWY_INLINE int64_t widen_halves(const std::byte* src, int64_t count, std::byte* dst) {
  const WordTag words;
  const hn::Rebind<uint16_t, WordTag> halves;
  const hn::Repartition<uint8_t, decltype(halves)> half_bytes;
  const hn::Repartition<uint8_t, WordTag> word_bytes;
  const auto lanes = static_cast<int64_t>(hn::Lanes(words));
  int64_t at = 0;
  for (; at + lanes <= count; at += lanes) {
    const auto bits = hn::BitCast(halves, hn::LoadU(half_bytes, reinterpret_cast<const uint8_t*>(src + at * 2)));
    const Words wide = Type::widened(words, hn::PromoteTo(words, bits));
    hn::StoreU(hn::BitCast(word_bytes, wide), word_bytes, reinterpret_cast<uint8_t*>(dst + at * 4));
  }
  return at;
}

}  // namespace

int64_t widen_bfloat16_vectors(const std::byte* src, int64_t count, std::byte* dst) {
  return widen_halves<Bfloat16Words>(src, count, dst);
}

int64_t widen_float16_vectors(const std::byte* src, int64_t count, std::byte* dst) {
  return widen_halves<Float16Words>(src, count, dst);
}

int64_t widen_float32_vectors(const std::byte* src, int64_t count, std::byte* dst) {
  const hn::ScalableTag<double> doubles;
  const hn::Rebind<float, decltype(doubles)> floats;
  const hn::Repartition<uint8_t, decltype(floats)> float_bytes;
  const hn::Repartition<uint8_t, decltype(doubles)> double_bytes;
  const auto lanes = static_cast<int64_t>(hn::Lanes(doubles));
  int64_t at = 0;
  for (; at + lanes <= count; at += lanes) {
    const auto narrow = hn::BitCast(floats, hn::LoadU(float_bytes, reinterpret_cast<const uint8_t*>(src + at * 4)));
    hn::StoreU(hn::BitCast(double_bytes, hn::PromoteTo(doubles, narrow)), double_bytes,
               reinterpret_cast<uint8_t*>(dst + at * 8));
  }
  return at;
}

#else  // !MSDUMP_HAS_VECTORS: all is left to the portable loop

int64_t widen_bfloat16_vectors(const std::byte* /*src*/, int64_t /*count*/, std::byte* /*dst*/) { return 0; }
int64_t widen_float16_vectors(const std::byte* /*src*/, int64_t /*count*/, std::byte* /*dst*/) { return 0; }
int64_t widen_float32_vectors(const std::byte* /*src*/, int64_t /*count*/, std::byte* /*dst*/) { return 0; }

#endif
}  // namespace msdump::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace msdump::kernels {

HWY_EXPORT(widen_bfloat16_vectors);
HWY_EXPORT(widen_float16_vectors);
HWY_EXPORT(widen_float32_vectors);

int64_t widen_bfloat16_fast(const std::byte* src, int64_t count, std::byte* dst) {
  return portable_forced() ? 0 : HWY_DYNAMIC_DISPATCH(widen_bfloat16_vectors)(src, count, dst);
}

int64_t widen_float16_fast(const std::byte* src, int64_t count, std::byte* dst) {
  return portable_forced() ? 0 : HWY_DYNAMIC_DISPATCH(widen_float16_vectors)(src, count, dst);
}

int64_t widen_float32_fast(const std::byte* src, int64_t count, std::byte* dst) {
  return portable_forced() ? 0 : HWY_DYNAMIC_DISPATCH(widen_float32_vectors)(src, count, dst);
}

}  // namespace msdump::kernels
#endif
