// The definition of reduce, and what it and the fast form share.
#include <bit>
#include <cassert>

#include "base/load.h"
#include "kernels/reduce/reduce_element.h"
#include "kernels/widen/widen.h"

namespace msdump::kernels {
namespace element {
namespace {

uint8_t code(const std::byte* from) { return std::to_integer<uint8_t>(*from); }

}  // namespace

DType stored_as(DType dtype) {
  if (needs_widening(dtype) || is_raw(dtype)) return dtype;
  return info(dtype).npy_dtype;
}

double as_double(DType stored, const std::byte* at) {
  switch (stored) {
    case DType::kBool: return code(at) != 0 ? 1.0 : 0.0;
    case DType::kInt8: return static_cast<double>(load<int8_t>(at));
    case DType::kUint8: return static_cast<double>(load<uint8_t>(at));
    case DType::kInt16: return static_cast<double>(load<int16_t>(at));
    case DType::kUint16: return static_cast<double>(load<uint16_t>(at));
    case DType::kInt32: return static_cast<double>(load<int32_t>(at));
    case DType::kUint32: return static_cast<double>(load<uint32_t>(at));
    case DType::kInt64: return static_cast<double>(load<int64_t>(at));
    case DType::kUint64: return static_cast<double>(load<uint64_t>(at));
    case DType::kFloat16: return static_cast<double>(decode_float16(load<uint16_t>(at)));
    case DType::kBfloat16: return static_cast<double>(decode_bfloat16(load<uint16_t>(at)));
    case DType::kFloat32: return static_cast<double>(load<float>(at));
    case DType::kFloat64: return load<double>(at);
    case DType::kHifloat8: return static_cast<double>(decode_hifloat8(code(at)));
    case DType::kFloat8E5m2: return static_cast<double>(decode_float8_e5m2(code(at)));
    case DType::kFloat8E4m3fn: return static_cast<double>(decode_float8_e4m3fn(code(at)));
    case DType::kFloat8E8m0: return static_cast<double>(decode_float8_e8m0(code(at)));
    case DType::kFloat4E2m1: return static_cast<double>(decode_float4_e2m1(code(at)));
    case DType::kFloat4E1m2: return static_cast<double>(decode_float4_e1m2(code(at)));
    default: assert(false && "can_reduce is false for this dtype"); return 0;
  }
}

int64_t bytes(DType dtype) { return info(dtype).bits < 8 ? 1 : info(dtype).bits / 8; }

}  // namespace element

ChunkStatistics start_statistics(const ReduceRule& rule) {
  using Limits = std::numeric_limits<double>;
  ChunkStatistics state;
  state.min = rule.finite_start ? Limits::max() : Limits::infinity();
  state.max = -state.min;
  return state;
}

bool can_reduce(DType dtype) {
  if (is_raw(dtype)) return false;
  const DType becomes = info(dtype).npy_dtype;
  return becomes != DType::kComplex64 && becomes != DType::kComplex128;
}

void reduce_reference(std::span<const ReduceLane> lanes, const ReduceRule& rule) {
  for (const ReduceLane& lane : lanes) {
    const DType stored = element::stored_as(lane.dtype);
    const int64_t step = element::bytes(lane.dtype);
    for (int64_t at = 0; at < lane.count; ++at) {
      element::advance(*lane.state, element::as_double(stored, lane.data + at * step), rule);
    }
  }
}

}  // namespace msdump::kernels
