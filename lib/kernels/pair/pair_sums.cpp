// Steps 3 and 4 of pair_block.h in vectors: eight elements at a time become doubles, one for each lane.
#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pair/pair_sums.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/pair/pair_block.h"

HWY_BEFORE_NAMESPACE();
namespace msdump::kernels::HWY_NAMESPACE {
#if MSDUMP_HAS_VECTORS
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, kLanes>;
using V = hn::Vec<D>;
using M = hn::Mask<D>;
using Counts = hn::RebindToSigned<D>;
template <class T>
using ForDoubles = hn::Rebind<T, D>;  // as many as a vector has doubles

constexpr size_t kPlaces = hn::MaxLanes(D());
using VectorsOfLanes = std::make_index_sequence<kLanes / kPlaces>;

// True if the CPU has an instruction for binary16.
#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)) || \
    (HWY_ARCH_ARM_A64 && defined(__ARM_FP) && (__ARM_FP & 2))
constexpr bool kHasHalves = true;
#else
constexpr bool kHasHalves = false;
#endif

// Memory is read as bytes, because an element of a dump has no alignment.
template <class Tag>
HWY_INLINE hn::Vec<Tag> load(Tag d, const std::byte* from) {
  return hn::BitCast(d, hn::LoadU(hn::Repartition<uint8_t, Tag>(), reinterpret_cast<const uint8_t*>(from)));
}

// Base of the structs that convert stored elements, all finite, to doubles. kExactProducts is true if the product of two
// elements is exact in double: a fused multiply-add then rounds like two operations.
template <class T, class Way>
struct Convertible {
  static constexpr size_t kBytes = sizeof(T);
  static constexpr bool kExactProducts = sizeof(T) < 4 || std::is_same_v<T, float>;
  using Stored = hn::Vec<ForDoubles<T>>;
  static HWY_INLINE Stored loaded(const std::byte* from) { return load(ForDoubles<T>(), from); }
  static HWY_INLINE V difference(Stored a, Stored b) { return hn::Abs(hn::Sub(Way::widened(a), Way::widened(b))); }
  static HWY_INLINE V shifted(Stored x, Shift by) { return hn::Sub(Way::widened(x), hn::Set(D(), by.value)); }
};

template <class T>
struct Short : Convertible<T, Short<T>> {
  static HWY_INLINE V widened(hn::Vec<ForDoubles<T>> v) {
    return hn::PromoteTo(D(), hn::PromoteTo(ForDoubles<int32_t>(), v));
  }
};

struct Bool : Convertible<uint8_t, Bool> {
  static HWY_INLINE V widened(Stored v) {
    return Short<uint8_t>::widened(hn::Min(v, hn::Set(ForDoubles<uint8_t>(), uint8_t{1})));
  }
};

struct Int32 : Convertible<int32_t, Int32> {
  static HWY_INLINE V widened(Stored v) { return hn::PromoteTo(D(), v); }
};

struct Uint32 : Convertible<uint32_t, Uint32> {
  static HWY_INLINE V widened(Stored v) { return hn::ConvertTo(D(), hn::PromoteTo(ForDoubles<uint64_t>(), v)); }
};

// Subtracted as integers, because doubles would lose the last bits.
template <class T>
struct Long {
  static constexpr size_t kBytes = sizeof(T);
  static constexpr bool kExactProducts = false;
  using Stored = hn::Vec<ForDoubles<T>>;
  static HWY_INLINE Stored loaded(const std::byte* from) { return load(ForDoubles<T>(), from); }
  static HWY_INLINE V widened(Stored v) { return hn::ConvertTo(D(), v); }
  static HWY_INLINE V difference(Stored a, Stored b) {
    return hn::ConvertTo(D(), hn::BitCast(ForDoubles<uint64_t>(), hn::Sub(hn::Max(a, b), hn::Min(a, b))));
  }
  static HWY_INLINE V shifted(Stored x, Shift by) {
    const Stored shift = hn::Set(ForDoubles<T>(), static_cast<T>(by.integer));
    const V magnitude = difference(x, shift);
    return hn::IfThenElse(hn::RebindMask(D(), hn::Lt(x, shift)), hn::Neg(magnitude), magnitude);
  }
};

struct Float16 : Convertible<uint16_t, Float16> {
  static HWY_INLINE V widened(Stored v) {
    const ForDoubles<float> floats;
    if constexpr (kHasHalves) {
      return hn::PromoteTo(D(), hn::PromoteTo(floats, hn::BitCast(ForDoubles<hwy::float16_t>(), v)));
    } else {  // a product corrects the bias of the exponent; it is exact, for denormals too
      const ForDoubles<uint32_t> words;
      const auto bits = hn::PromoteTo(words, v);
      const auto magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(words, 0x7FFFU)));
      const auto value = hn::Mul(hn::BitCast(floats, magnitude), hn::Set(floats, 0x1p112F));
      const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(words, 0x8000U)));
      return hn::PromoteTo(D(), hn::Or(value, hn::BitCast(floats, sign)));
    }
  }
};

struct Bfloat16 : Convertible<uint16_t, Bfloat16> {
  static HWY_INLINE V widened(Stored v) {
    const auto words = hn::ShiftLeft<16>(hn::PromoteTo(ForDoubles<uint32_t>(), v));
    return hn::PromoteTo(D(), hn::BitCast(ForDoubles<float>(), words));
  }
};

struct Float32 : Convertible<float, Float32> {
  static HWY_INLINE V widened(Stored v) { return hn::PromoteTo(D(), v); }
};

struct Float64 : Convertible<double, Float64> {
  static HWY_INLINE V widened(Stored v) { return v; }
};

// Adds 1 to the lanes of the mask. AVX-512 adds under a mask; on other targets a mask is -1.
HWY_INLINE hn::Vec<Counts> count_in(M mask, hn::Vec<Counts> counts) {
  const Counts ints;
#if HWY_TARGET <= HWY_AVX3
  return hn::IfThenElse(hn::RebindMask(ints, mask), hn::Add(counts, hn::Set(ints, 1)), counts);
#else
  return hn::Sub(counts, hn::BitCast(ints, hn::VecFromMask(D(), mask)));
#endif
}

// The running sums of a vector of the eight lanes.
template <class Type>
struct PairChains {
  V abs, squares, relative, squares_a, squares_b, products, sum_a, sum_b, max_abs, max_rel, max_scaled;
  hn::Vec<Counts> from_1e3, from_5e3, over_tolerance;

  HWY_INLINE PairChains()
      : abs(hn::Zero(D())),
        squares(abs),
        relative(abs),
        squares_a(abs),
        squares_b(abs),
        products(abs),
        sum_a(abs),
        sum_b(abs),
        max_abs(abs),
        max_rel(abs),
        max_scaled(abs),
        from_1e3(hn::Zero(Counts())),
        from_5e3(from_1e3),
        over_tolerance(from_1e3) {}

  HWY_INLINE void add(const std::byte* from_a, const std::byte* from_b, V rtol, V atol, V scale, double* magnitude) {
    const D d;
    const auto stored_a = Type::loaded(from_a), stored_b = Type::loaded(from_b);
    const V a = Type::widened(stored_a), b = Type::widened(stored_b);
    const V difference = Type::difference(stored_a, stored_b);
    hn::Store(difference, d, magnitude);
    squares_a = add_product(a, a, squares_a);
    squares_b = add_product(b, b, squares_b);
    products = add_product(a, b, products);
    sum_a = hn::Add(sum_a, a);
    sum_b = hn::Add(sum_b, b);
    if (!hn::AllFalse(d, hn::Ne(difference, hn::Zero(d)))) add_difference(difference, b, rtol, atol, scale);
  }

  static HWY_INLINE V add_product(V x, V y, V sum) {
    return Type::kExactProducts ? hn::MulAdd(x, y, sum) : hn::Add(sum, hn::Mul(x, y));
  }

  // Only for differences other than 0, which would change nothing.
  HWY_INLINE void add_difference(V difference, V b, V rtol, V atol, V scale) {
    const D d;
    const V reference = hn::Abs(b);
    const V ratio = hn::IfThenElseZero(hn::Ne(b, hn::Zero(d)), hn::Div(difference, reference));
    abs = hn::Add(abs, difference);
    squares = hn::Add(squares, hn::Mul(difference, difference));
    relative = hn::Add(relative, ratio);
    max_abs = hn::Max(max_abs, difference);
    max_rel = hn::Max(max_rel, ratio);
    raise_to_quotient(difference, hn::Add(reference, scale));
    from_1e3 = count_in(hn::Ge(ratio, hn::Set(d, 1e-3)), from_1e3);
    from_5e3 = count_in(hn::Ge(ratio, hn::Set(d, 5e-3)), from_5e3);
    over_tolerance = count_in(hn::Gt(difference, hn::Add(atol, hn::Mul(rtol, reference))), over_tolerance);
  }

  // Divides only if a lane rises.
  HWY_INLINE void raise_to_quotient(V difference, V base) {
    const M rises = hn::Gt(difference, hn::Mul(max_scaled, base));
    if (hn::AllFalse(D(), rises)) return;
    max_scaled = hn::IfThenElse(rises, hn::Div(difference, base), max_scaled);
  }

  HWY_INLINE void store(LaneSums& sums, size_t place) const {
    const D d;
    hn::Store(abs, d, sums.abs + place);
    hn::Store(squares, d, sums.squares + place);
    hn::Store(relative, d, sums.relative + place);
    hn::Store(squares_a, d, sums.squares_a + place);
    hn::Store(squares_b, d, sums.squares_b + place);
    hn::Store(products, d, sums.products + place);
    hn::Store(sum_a, d, sums.sum_a + place);
    hn::Store(sum_b, d, sums.sum_b + place);
    hn::Store(max_abs, d, sums.max_abs + place);
    hn::Store(max_rel, d, sums.max_rel + place);
    hn::Store(max_scaled, d, sums.max_scaled + place);
    sums.under_1e3 -= hn::GetLane(hn::SumOfLanes(Counts(), from_1e3));
    sums.under_5e3 -= hn::GetLane(hn::SumOfLanes(Counts(), from_5e3));
    sums.over_tolerance += hn::GetLane(hn::SumOfLanes(Counts(), over_tolerance));
  }
};

// The last elements, padded with zeros, which change no sum.
template <size_t kBytes>
struct Padded {
  alignas(64) std::byte bytes[kLanes * kBytes] = {};

  Padded(const std::byte* from, int64_t count) { std::memcpy(bytes, from, static_cast<size_t>(count) * kBytes); }
};

// Keeps all lanes in registers, hence a pack and not a loop.
template <class Type, size_t... kI>
LaneSums add_pairs_of(const std::byte* a, const std::byte* b, int64_t count, const PairRule& rule, double* magnitude,
                      std::index_sequence<kI...> /*vectors*/) {
  constexpr size_t kStep = kPlaces * Type::kBytes;
  const V rtol = hn::Set(D(), rule.rtol), atol = hn::Set(D(), rule.atol), scale = hn::Set(D(), rule.scale);
  PairChains<Type> chains[sizeof...(kI)];
  int64_t left = count;
  for (; left >= static_cast<int64_t>(kLanes); left -= static_cast<int64_t>(kLanes)) {
    (chains[kI].add(a + kI * kStep, b + kI * kStep, rtol, atol, scale, magnitude + kI * kPlaces), ...);
    a += kLanes * Type::kBytes;
    b += kLanes * Type::kBytes;
    magnitude += kLanes;
  }
  if (left > 0) {
    const Padded<Type::kBytes> pa(a, left), pb(b, left);
    (chains[kI].add(pa.bytes + kI * kStep, pb.bytes + kI * kStep, rtol, atol, scale, magnitude + kI * kPlaces), ...);
  }
  LaneSums sums;
  sums.under_1e3 = sums.under_5e3 = count;
  (chains[kI].store(sums, kI * kPlaces), ...);
  return sums;
}

struct OwnChains {
  V sum, squares;

  HWY_INLINE OwnChains() : sum(hn::Zero(D())), squares(sum) {}

  HWY_INLINE void add(V x) {
    sum = hn::Add(sum, x);
    squares = hn::Add(squares, hn::Mul(x, x));
  }
  HWY_INLINE void add_first(V x, M present) { add(hn::IfThenElseZero(present, x)); }
};

template <class Type, size_t... kI>
OwnSums add_own_of(const std::byte* from, int64_t count, Shift shift, std::index_sequence<kI...> /*vectors*/) {
  constexpr size_t kStep = kPlaces * Type::kBytes;
  OwnChains chains[sizeof...(kI)];
  const auto shifted = [shift](const std::byte* at) HWY_ATTR { return Type::shifted(Type::loaded(at), shift); };
  int64_t left = count;
  for (; left >= static_cast<int64_t>(kLanes); left -= static_cast<int64_t>(kLanes)) {
    (chains[kI].add(shifted(from + kI * kStep)), ...);
    from += kLanes * Type::kBytes;
  }
  if (left > 0) {
    const Padded<Type::kBytes> padded(from, left);
    const auto present = [left](size_t first) HWY_ATTR {
      return hn::FirstN(D(), static_cast<size_t>(left) > first ? static_cast<size_t>(left) - first : 0);
    };
    (chains[kI].add_first(shifted(padded.bytes + kI * kStep), present(kI * kPlaces)), ...);
  }
  alignas(64) Lanes sums, squares;
  (hn::Store(chains[kI].sum, D(), sums + kI * kPlaces), ...);
  (hn::Store(chains[kI].squares, D(), squares + kI * kPlaces), ...);
  return {sum_of(sums), sum_of(squares)};
}

}  // namespace

LaneSums add_pairs_vectors(DType stored, const std::byte* a, const std::byte* b, int64_t count, const PairRule& rule,
                           Magnitudes& magnitudes) {
  double* const to = magnitudes.values;
  constexpr VectorsOfLanes kAll;
  switch (stored) {
    case DType::kBool: return add_pairs_of<Bool>(a, b, count, rule, to, kAll);
    case DType::kInt8: return add_pairs_of<Short<int8_t>>(a, b, count, rule, to, kAll);
    case DType::kUint8: return add_pairs_of<Short<uint8_t>>(a, b, count, rule, to, kAll);
    case DType::kInt16: return add_pairs_of<Short<int16_t>>(a, b, count, rule, to, kAll);
    case DType::kUint16: return add_pairs_of<Short<uint16_t>>(a, b, count, rule, to, kAll);
    case DType::kInt32: return add_pairs_of<Int32>(a, b, count, rule, to, kAll);
    case DType::kUint32: return add_pairs_of<Uint32>(a, b, count, rule, to, kAll);
    case DType::kInt64: return add_pairs_of<Long<int64_t>>(a, b, count, rule, to, kAll);
    case DType::kUint64: return add_pairs_of<Long<uint64_t>>(a, b, count, rule, to, kAll);
    case DType::kFloat16: return add_pairs_of<Float16>(a, b, count, rule, to, kAll);
    case DType::kBfloat16: return add_pairs_of<Bfloat16>(a, b, count, rule, to, kAll);
    case DType::kFloat32: return add_pairs_of<Float32>(a, b, count, rule, to, kAll);
    case DType::kFloat64: return add_pairs_of<Float64>(a, b, count, rule, to, kAll);
    default: return {};
  }
}

OwnSums add_own_vectors(DType stored, const std::byte* from, int64_t count, Shift shift) {
  constexpr VectorsOfLanes kAll;
  switch (stored) {
    case DType::kBool: return add_own_of<Bool>(from, count, shift, kAll);
    case DType::kInt8: return add_own_of<Short<int8_t>>(from, count, shift, kAll);
    case DType::kUint8: return add_own_of<Short<uint8_t>>(from, count, shift, kAll);
    case DType::kInt16: return add_own_of<Short<int16_t>>(from, count, shift, kAll);
    case DType::kUint16: return add_own_of<Short<uint16_t>>(from, count, shift, kAll);
    case DType::kInt32: return add_own_of<Int32>(from, count, shift, kAll);
    case DType::kUint32: return add_own_of<Uint32>(from, count, shift, kAll);
    case DType::kInt64: return add_own_of<Long<int64_t>>(from, count, shift, kAll);
    case DType::kUint64: return add_own_of<Long<uint64_t>>(from, count, shift, kAll);
    case DType::kFloat16: return add_own_of<Float16>(from, count, shift, kAll);
    case DType::kBfloat16: return add_own_of<Bfloat16>(from, count, shift, kAll);
    case DType::kFloat32: return add_own_of<Float32>(from, count, shift, kAll);
    case DType::kFloat64: return add_own_of<Float64>(from, count, shift, kAll);
    default: return {};
  }
}

#else  // !MSDUMP_HAS_VECTORS: all is left to pair_reference

LaneSums add_pairs_vectors(DType /*stored*/, const std::byte* /*a*/, const std::byte* /*b*/, int64_t /*count*/,
                           const PairRule& /*rule*/, Magnitudes& /*magnitudes*/) {
  return {};
}
OwnSums add_own_vectors(DType /*stored*/, const std::byte* /*from*/, int64_t /*count*/, Shift /*shift*/) { return {}; }

#endif
}  // namespace msdump::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace msdump::kernels {

HWY_EXPORT(add_pairs_vectors);
HWY_EXPORT(add_own_vectors);

LaneSums add_pairs(DType stored, const std::byte* a, const std::byte* b, int64_t count, const PairRule& rule,
                   Magnitudes& magnitudes) {
  return HWY_DYNAMIC_DISPATCH(add_pairs_vectors)(stored, a, b, count, rule, magnitudes);
}

OwnSums add_own(DType stored, const std::byte* from, int64_t count, Shift shift) {
  return HWY_DYNAMIC_DISPATCH(add_own_vectors)(stored, from, count, shift);
}

}  // namespace msdump::kernels
#endif
