#include "profiles/msaccucmp/float32_reader.h"

#include <cassert>
#include <cstring>

#include "base/bytes.h"
#include "kernels/pair/pair_dtype.h"
#include "kernels/widen/widen.h"

namespace msdump {
namespace {

template <class T>
void convert(const std::byte* stored, int64_t count, float* into) {
  for (int64_t i = 0; i < count; ++i)
    into[i] = static_cast<float>(load<T>(stored + i * static_cast<int64_t>(sizeof(T))));
}

// The first of two parts.
template <class T>
void convert_complex(const std::byte* stored, int64_t count, float* into) {
  for (int64_t i = 0; i < count; ++i)
    into[i] = static_cast<float>(load<T>(stored + i * 2 * static_cast<int64_t>(sizeof(T))));
}

void convert_complex32(const std::byte* stored, int64_t count, float* into) {
  for (int64_t i = 0; i < count; ++i) into[i] = kernels::decode_float16(load<uint16_t>(stored + i * 4));
}

}  // namespace

bool can_become_float32(DType dtype) { return !is_raw(dtype); }

void to_float32(DType from, const std::byte* stored, int64_t count, float* into) {
  if (from == DType::kComplex32) return convert_complex32(stored, count, into);
  if (kernels::needs_widening(from)) return kernels::widen(from, stored, count, reinterpret_cast<std::byte*>(into));
  switch (info(from).npy_dtype) {
    case DType::kBool:
      for (int64_t i = 0; i < count; ++i) into[i] = stored[i] != std::byte{0} ? 1.0F : 0.0F;
      return;
    case DType::kInt8: return convert<int8_t>(stored, count, into);
    case DType::kUint8: return convert<uint8_t>(stored, count, into);
    case DType::kInt16: return convert<int16_t>(stored, count, into);
    case DType::kUint16: return convert<uint16_t>(stored, count, into);
    case DType::kInt32: return convert<int32_t>(stored, count, into);
    case DType::kUint32: return convert<uint32_t>(stored, count, into);
    case DType::kInt64: return convert<int64_t>(stored, count, into);
    case DType::kUint64: return convert<uint64_t>(stored, count, into);
    case DType::kFloat64: return convert<double>(stored, count, into);
    case DType::kComplex64: return convert_complex<float>(stored, count, into);
    case DType::kComplex128: return convert_complex<double>(stored, count, into);
    case DType::kFloat16:
      return kernels::widen_to(DType::kFloat16, DType::kFloat32, stored, count, reinterpret_cast<std::byte*>(into));
    default: break;
  }
  assert(info(from).npy_dtype == DType::kFloat32);
  std::memcpy(into, stored, static_cast<size_t>(count) * sizeof(float));
}

Result<const float*> Float32Reader::read(int64_t first, int64_t count) {
  assert(count <= kSlab);
  if (!can_become_float32(tensor_.dtype())) {
    return fail(
        make_error(ErrorCode::kUnsupportedDtype, "elements of {} cannot become float32", name_of(tensor_.dtype()))
            .with_path(tensor_.path()));
  }
  stored_.resize(static_cast<size_t>(count) * tensor_.element_bytes());
  floats_.resize(static_cast<size_t>(count));
  MSDUMP_CHECK_OK(tensor_.read(first, count, stored_.data()));
  to_float32(tensor_.dtype(), stored_.data(), count, floats_.data());
  return floats_.data();
}

}  // namespace msdump
