// The SIMD part of widening binary16 and bfloat16 to float32. Internal to lib/kernels.
#pragma once

#include <cstddef>
#include <cstdint>

namespace msdump::kernels {

// Widen the first elements and return how many: as many as fill whole vectors, 0 if the CPU has none or "scalar" is
// forced. The caller widens the rest with the formulas of decode.h; the bytes are the same.
[[nodiscard]] int64_t widen_bfloat16_fast(const std::byte* src, int64_t count, std::byte* dst);
[[nodiscard]] int64_t widen_float16_fast(const std::byte* src, int64_t count, std::byte* dst);

}  // namespace msdump::kernels
