#include "kernels/pair/pair_dtype.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <type_traits>

#include "base/bytes.h"
#include "kernels/pair/pair.h"
#include "kernels/pair/pair_block.h"
#include "kernels/widen/widen.h"
#include "tensor/dtype.h"

namespace msdump::kernels {
namespace {

enum class Kind { kSigned, kUnsigned, kFloat, kComplex };  // bool is unsigned

struct Traits {
  Kind kind;
  int bits;  // of a part
};

Traits traits_of(DType dtype) {
  const DType plain = info(dtype).npy_dtype;
  const int bits = info(part_of(plain)).bits;
  switch (kind_of(plain)) {
    case DTypeKind::kFloat: return {Kind::kFloat, bits};
    case DTypeKind::kComplex: return {Kind::kComplex, bits};
    case DTypeKind::kBool: return {Kind::kUnsigned, bits};
    default: return {is_unsigned(plain) ? Kind::kUnsigned : Kind::kSigned, bits};
  }
}

DType integer_of(Kind kind, int bits) {
  const bool is_signed = kind == Kind::kSigned;
  if (bits <= 8) return is_signed ? DType::kInt8 : DType::kUint8;
  if (bits <= 16) return is_signed ? DType::kInt16 : DType::kUint16;
  if (bits <= 32) return is_signed ? DType::kInt32 : DType::kUint32;
  return is_signed ? DType::kInt64 : DType::kUint64;
}

bool is_integer(Kind kind) { return kind == Kind::kSigned || kind == Kind::kUnsigned; }

DType common_integer(Traits a, Traits b) {
  if (a.kind == b.kind) return integer_of(a.kind, std::max(a.bits, b.bits));
  const Traits with_sign = a.kind == Kind::kSigned ? a : b, without = a.kind == Kind::kSigned ? b : a;
  const int bits = std::max(with_sign.bits, 2 * without.bits);
  return bits > 64 ? DType::kFloat64 : integer_of(Kind::kSigned, bits);
}

// True if float32 holds all values of the parts.
bool fits_float32(Traits traits) { return is_integer(traits.kind) ? traits.bits <= 16 : traits.bits <= 32; }

template <class From, class To>
void convert(const std::byte* src, int64_t count, int64_t stride, std::byte* dst) {
  for (int64_t at = 0; at < count; ++at) {
    const auto value = static_cast<To>(load<From>(src + at * static_cast<int64_t>(sizeof(From))));
    std::memcpy(dst + at * stride, &value, sizeof value);
  }
}

template <class To>
void convert_from(DType from, const std::byte* src, int64_t count, int64_t stride, std::byte* dst) {
  switch (from) {
    case DType::kBool:
      for (int64_t at = 0; at < count; ++at) {
        const auto value = static_cast<To>(src[at] != std::byte{0} ? 1 : 0);
        std::memcpy(dst + at * stride, &value, sizeof value);
      }
      return;
    case DType::kInt8: return convert<int8_t, To>(src, count, stride, dst);
    case DType::kUint8: return convert<uint8_t, To>(src, count, stride, dst);
    case DType::kInt16: return convert<int16_t, To>(src, count, stride, dst);
    case DType::kUint16: return convert<uint16_t, To>(src, count, stride, dst);
    case DType::kInt32: return convert<int32_t, To>(src, count, stride, dst);
    case DType::kUint32: return convert<uint32_t, To>(src, count, stride, dst);
    case DType::kInt64: return convert<int64_t, To>(src, count, stride, dst);
    case DType::kUint64: return convert<uint64_t, To>(src, count, stride, dst);
    default: break;
  }
  if constexpr (std::is_floating_point_v<To>) {
    if (from == DType::kFloat32) return convert<float, To>(src, count, stride, dst);
    if constexpr (sizeof(To) == 8) return convert<double, To>(src, count, stride, dst);
  }
}

void convert_to(DType from, DType to, const std::byte* src, int64_t count, int64_t stride, std::byte* dst) {
  switch (to) {
    case DType::kInt8: return convert_from<int8_t>(from, src, count, stride, dst);
    case DType::kUint8: return convert_from<uint8_t>(from, src, count, stride, dst);
    case DType::kInt16: return convert_from<int16_t>(from, src, count, stride, dst);
    case DType::kUint16: return convert_from<uint16_t>(from, src, count, stride, dst);
    case DType::kInt32: return convert_from<int32_t>(from, src, count, stride, dst);
    case DType::kUint32: return convert_from<uint32_t>(from, src, count, stride, dst);
    case DType::kInt64: return convert_from<int64_t>(from, src, count, stride, dst);
    case DType::kUint64: return convert_from<uint64_t>(from, src, count, stride, dst);
    case DType::kFloat32:
    case DType::kComplex64: return convert_from<float>(from, src, count, stride, dst);
    default: return convert_from<double>(from, src, count, stride, dst);
  }
}

void widen_float16(const std::byte* src, int64_t count, std::byte* dst) {
  for (int64_t at = widen_float16_fast(src, count, dst); at < count; ++at) {
    const float value = decode_float16(load<uint16_t>(src + at * 2));
    std::memcpy(dst + at * 4, &value, sizeof value);
  }
}

// Elements without a C++ type become float32 or complex64 first, kSome at a time.
constexpr int64_t kSome = 1024;

}  // namespace

std::optional<DType> common_dtype(DType a, DType b) {
  if (!can_pair(a) || !can_pair(b)) return std::nullopt;
  if (element::stored_as(a) == element::stored_as(b)) return a;
  const Traits x = traits_of(a), y = traits_of(b);
  if (is_integer(x.kind) && is_integer(y.kind)) return common_integer(x, y);
  const bool narrow = fits_float32(x) && fits_float32(y);
  if (x.kind == Kind::kComplex || y.kind == Kind::kComplex) return narrow ? DType::kComplex64 : DType::kComplex128;
  return narrow ? DType::kFloat32 : DType::kFloat64;
}

void widen_to(DType from, DType to, const std::byte* src, int64_t count, std::byte* dst) {
  if (count == 0) return;  // then the pointers may be null
  const DType stored = element::stored_as(from), wanted = element::stored_as(to);
  const int64_t bytes = element::bytes(from), wide_bytes = element::bytes(to);
  if (stored == wanted) {
    std::memcpy(dst, src, static_cast<size_t>(count * bytes));
    return;
  }
  const bool from_complex = traits_of(from).kind == Kind::kComplex, to_complex = traits_of(to).kind == Kind::kComplex;
  assert(to_complex || !from_complex);
  if (to_complex && !from_complex) std::memset(dst, 0, static_cast<size_t>(count * wide_bytes));
  alignas(64) std::byte floats[kSome * 8];
  for (int64_t at = 0; at < count; at += kSome, src += kSome * bytes, dst += kSome * wide_bytes) {
    const int64_t number = std::min(kSome, count - at);
    const std::byte* now = src;
    DType now_dtype = stored;
    if (stored == DType::kFloat16) {
      widen_float16(src, number, floats);
      now = floats;
      now_dtype = DType::kFloat32;
    } else if (needs_widening(stored)) {
      widen(stored, src, number, floats);
      now = floats;
      now_dtype = info(stored).npy_dtype;
    }
    if (from_complex) {  // real and imaginary parts alternate
      convert_to(part_of(now_dtype), wanted, now, 2 * number, wide_bytes / 2, dst);
    } else {
      const bool vectors = now_dtype == DType::kFloat32 && wanted == DType::kFloat64;
      const int64_t done = vectors ? widen_float32_fast(now, number, dst) : 0;
      convert_to(now_dtype, wanted, now + done * element::bytes(now_dtype), number - done, wide_bytes,
                 dst + done * wide_bytes);
    }
  }
}

}  // namespace msdump::kernels
