// Makes a row of doubles from elements of any type, in vectors, with extremes and counts. These use the narrowest float that
// holds all values of the type, because a vector has twice as many floats as doubles.
#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce/reduce_fill.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "kernels/reduce/reduce_block.h"
#include "kernels/widen/widen.h"

HWY_BEFORE_NAMESPACE();
namespace msdump::kernels::HWY_NAMESPACE {
#if MSDUMP_HAS_VECTORS
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// True if the CPU has an instruction for binary16. (Highway's emulation has no infinities.)
#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)) || \
    (HWY_ARCH_ARM_A64 && defined(__ARM_FP) && (__ARM_FP & 2))
constexpr bool kHasHalves = true;
#else
constexpr bool kHasHalves = false;
#endif

using FloatTag = hn::ScalableTag<float>;
using DoubleTag = hn::ScalableTag<double>;
template <class T>
using ForFloats = hn::Rebind<T, FloatTag>;  // as many as a vector has floats
template <class T>
using ForDoubles = hn::Rebind<T, DoubleTag>;

// A struct for each conversion of stored elements to the narrowest float.
template <class T>
struct ShortInteger {
  using Stored = ForFloats<T>;
  using Wide = FloatTag;
  static HWY_INLINE hn::Vec<Wide> widened(hn::Vec<Stored> v) {
    return hn::ConvertTo(Wide(), hn::PromoteTo(ForFloats<int32_t>(), v));
  }
};

struct Bool {
  using Stored = ForFloats<uint8_t>;
  using Wide = FloatTag;
  static HWY_INLINE hn::Vec<Wide> widened(hn::Vec<Stored> v) {
    return ShortInteger<uint8_t>::widened(hn::Min(v, hn::Set(Stored(), uint8_t{1})));
  }
};

struct Bfloat16 {
  using Stored = ForFloats<uint16_t>;
  using Wide = FloatTag;
  static HWY_INLINE hn::Vec<Wide> widened(hn::Vec<Stored> v) {
    return hn::BitCast(Wide(), hn::ShiftLeft<16>(hn::PromoteTo(ForFloats<uint32_t>(), v)));
  }
};

struct Float16 {
  using Stored = ForFloats<uint16_t>;
  using Wide = FloatTag;
  static HWY_INLINE hn::Vec<Wide> widened(hn::Vec<Stored> v) {
    return hn::PromoteTo(Wide(), hn::BitCast(ForFloats<hwy::float16_t>(), v));
  }
};

template <class Tag>
struct Itself {
  using Stored = Tag;
  using Wide = Tag;
  static HWY_INLINE hn::Vec<Wide> widened(hn::Vec<Stored> v) { return v; }
};

struct Int32 {
  using Stored = ForDoubles<int32_t>;
  using Wide = DoubleTag;
  static HWY_INLINE hn::Vec<Wide> widened(hn::Vec<Stored> v) { return hn::PromoteTo(Wide(), v); }
};

struct Uint32 {
  using Stored = ForDoubles<uint32_t>;
  using Wide = DoubleTag;
  static HWY_INLINE hn::Vec<Wide> widened(hn::Vec<Stored> v) {
    return hn::ConvertTo(Wide(), hn::PromoteTo(ForDoubles<uint64_t>(), v));
  }
};

template <class T>
struct LongInteger {
  using Stored = ForDoubles<T>;
  using Wide = DoubleTag;
  static HWY_INLINE hn::Vec<Wide> widened(hn::Vec<Stored> v) { return hn::ConvertTo(Wide(), v); }
};

// Memory is read as bytes, because an element of a dump has no alignment.
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const std::byte* from) {
  return hn::BitCast(d, hn::LoadU(hn::Repartition<uint8_t, D>(), reinterpret_cast<const uint8_t*>(from)));
}

HWY_INLINE void store(DoubleTag d, hn::Vec<DoubleTag> v, double* to) { hn::StoreU(v, d, to); }

HWY_INLINE void store(FloatTag /*d*/, hn::Vec<FloatTag> v, double* to) {
  const DoubleTag d;
  const ForDoubles<float> half;
  hn::StoreU(hn::PromoteTo(d, hn::LowerHalf(half, v)), d, to);
  hn::StoreU(hn::PromoteTo(d, hn::UpperHalf(half, v)), d, to + hn::Lanes(d));
}

// Adds 1 to the lanes of the mask. AVX-512 adds under a mask; on other targets a mask is -1.
template <class D, class I = hn::RebindToSigned<D>>
HWY_INLINE hn::Vec<I> count_in(D d, hn::Mask<D> mask, hn::Vec<I> counts) {
  const I ints;
#if HWY_TARGET <= HWY_AVX3
  (void)d;
  return hn::IfThenElse(hn::RebindMask(ints, mask), hn::Add(counts, hn::Set(ints, 1)), counts);
#else
  return hn::Sub(counts, hn::BitCast(ints, hn::VecFromMask(d, mask)));
#endif
}

// The classes of a row while it is being filled.
template <class D, Wanted kWanted>
struct Classifier {
  using Ints = hn::RebindToSigned<D>;
  hn::Vec<D> max, min;
  hn::Mask<D> special;
  hn::Vec<Ints> below, zero;

  explicit HWY_INLINE Classifier(hn::Vec<D> first)
      : max(first), min(first), special(hn::FirstN(D(), 0)), below(hn::Zero(Ints())), zero(hn::Zero(Ints())) {}

  HWY_INLINE void classify(hn::Vec<D> x) {
    const D d;
    if constexpr (kWanted == Wanted::kSpecials) special = hn::Or(special, hn::Not(hn::IsFinite(x)));
    if constexpr (kWanted >= Wanted::kExtremes) {  // infinities show in the extremes
      max = hn::Max(max, x);
      min = hn::Min(min, x);
      special = hn::Or(special, hn::IsNaN(x));
    }
    if constexpr (kWanted >= Wanted::kCounts) {
      below = count_in(d, hn::Lt(x, hn::Zero(d)), below);
      zero = count_in(d, hn::Eq(x, hn::Zero(d)), zero);
    }
  }

  HWY_INLINE RowClasses found() const {
    const D d;
    RowClasses classes;
    if constexpr (kWanted >= Wanted::kSpecials) classes.has_special = !hn::AllFalse(d, special);
    if constexpr (kWanted >= Wanted::kExtremes) {
      classes.max = static_cast<double>(hn::GetLane(hn::MaxOfLanes(d, max)));
      classes.min = static_cast<double>(hn::GetLane(hn::MinOfLanes(d, min)));
      classes.has_special |= std::isinf(classes.max) || std::isinf(classes.min);
    }
    if constexpr (kWanted >= Wanted::kCounts) {
      classes.below_zero = hn::GetLane(hn::SumOfLanes(Ints(), below));
      classes.zero = hn::GetLane(hn::SumOfLanes(Ints(), zero));
    }
    return classes;
  }
};

template <class Type, Wanted kWanted>
RowClasses fill_wanted(const std::byte* src, int64_t count, double* row) {
  using Wide = typename Type::Wide;
  const typename Type::Stored stored;
  constexpr auto kElement = static_cast<int64_t>(sizeof(hn::TFromD<typename Type::Stored>));
  constexpr auto kStep = static_cast<int64_t>(hn::MaxLanes(Wide()));
  if (count < kStep) return {};
  Classifier<Wide, kWanted> classifier(Type::widened(load(stored, src)));
  int64_t at = 0;
  for (; at + kStep <= count; at += kStep) {
    const auto x = Type::widened(load(stored, src + at * kElement));
    store(Wide(), x, row + at);
    classifier.classify(x);
  }
  RowClasses classes = classifier.found();
  classes.filled = at;
  return classes;
}

template <class Type>
RowClasses fill(const std::byte* src, int64_t count, Wanted wanted, double* row) {
  switch (wanted) {
    case Wanted::kNothing: return fill_wanted<Type, Wanted::kNothing>(src, count, row);
    case Wanted::kSpecials: return fill_wanted<Type, Wanted::kSpecials>(src, count, row);
    case Wanted::kExtremes: return fill_wanted<Type, Wanted::kExtremes>(src, count, row);
    case Wanted::kCounts: return fill_wanted<Type, Wanted::kCounts>(src, count, row);
  }
  return {};
}

RowClasses fill_float16(const std::byte* src, int64_t count, Wanted wanted, double* row) {
  if constexpr (kHasHalves) {
    return fill<Float16>(src, count, wanted, row);
  } else {
    alignas(64) std::byte floats[kBlockElements * 4];
    const int64_t widened = widen_float16_fast(src, count < kBlockElements ? count : kBlockElements, floats);
    return fill<Itself<FloatTag>>(floats, widened, wanted, row);
  }
}

}  // namespace

RowClasses fill_block_vectors(DType dtype, const std::byte* src, int64_t count, Wanted wanted, double* row) {
  switch (dtype) {
    case DType::kBool: return fill<Bool>(src, count, wanted, row);
    case DType::kInt8: return fill<ShortInteger<int8_t>>(src, count, wanted, row);
    case DType::kUint8: return fill<ShortInteger<uint8_t>>(src, count, wanted, row);
    case DType::kInt16: return fill<ShortInteger<int16_t>>(src, count, wanted, row);
    case DType::kUint16: return fill<ShortInteger<uint16_t>>(src, count, wanted, row);
    case DType::kInt32: return fill<Int32>(src, count, wanted, row);
    case DType::kUint32: return fill<Uint32>(src, count, wanted, row);
    case DType::kInt64: return fill<LongInteger<int64_t>>(src, count, wanted, row);
    case DType::kUint64: return fill<LongInteger<uint64_t>>(src, count, wanted, row);
    case DType::kFloat16: return fill_float16(src, count, wanted, row);
    case DType::kBfloat16: return fill<Bfloat16>(src, count, wanted, row);
    case DType::kFloat32: return fill<Itself<FloatTag>>(src, count, wanted, row);
    case DType::kFloat64: return fill<Itself<DoubleTag>>(src, count, wanted, row);
    default: return {};
  }
}

int64_t count_specials_vectors(const double* row, int64_t count, Specials& found) {
  const DoubleTag d;
  constexpr auto kStep = static_cast<int64_t>(hn::MaxLanes(d));
  using Ints = hn::RebindToSigned<DoubleTag>;
  auto nan = hn::Zero(Ints()), negative_inf = nan, positive_inf = nan;
  int64_t at = 0;
  for (; at + kStep <= count; at += kStep) {
    const auto x = hn::LoadU(d, row + at);
    nan = count_in(d, hn::IsNaN(x), nan);
    negative_inf = count_in(d, hn::Eq(x, hn::Neg(hn::Inf(d))), negative_inf);
    positive_inf = count_in(d, hn::Eq(x, hn::Inf(d)), positive_inf);
  }
  found.nan += hn::GetLane(hn::SumOfLanes(Ints(), nan));
  found.negative_inf += hn::GetLane(hn::SumOfLanes(Ints(), negative_inf));
  found.positive_inf += hn::GetLane(hn::SumOfLanes(Ints(), positive_inf));
  return at;
}

#else  // !MSDUMP_HAS_VECTORS: all is left to the portable loop

RowClasses fill_block_vectors(DType /*dtype*/, const std::byte* /*src*/, int64_t /*count*/, Wanted /*wanted*/,
                              double* /*row*/) {
  return {};
}
int64_t count_specials_vectors(const double* /*row*/, int64_t /*count*/, Specials& /*found*/) { return 0; }

#endif
}  // namespace msdump::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace msdump::kernels {

HWY_EXPORT(fill_block_vectors);
HWY_EXPORT(count_specials_vectors);

RowClasses fill_block(DType dtype, const std::byte* src, int64_t count, Wanted wanted, double* row) {
  return portable_forced() ? RowClasses{} : HWY_DYNAMIC_DISPATCH(fill_block_vectors)(dtype, src, count, wanted, row);
}

int64_t count_specials_fast(const double* row, int64_t count, Specials& found) {
  return portable_forced() ? 0 : HWY_DYNAMIC_DISPATCH(count_specials_vectors)(row, count, found);
}

}  // namespace msdump::kernels
#endif
