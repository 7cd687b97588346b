// Several MD5 digests side by side, one in each 32-bit lane. Internal to lib/kernels.
#pragma once

#include <cstddef>
#include <cstdint>

namespace msdump::kernels {

constexpr size_t kMd5MaxLanes = 32;  // two vectors of AVX-512

// The next block of every lane, and the states with word w of lane l in words[w][l].
struct Md5Lanes {
  const std::byte* at[kMd5MaxLanes];
  alignas(64) uint32_t words[4][kMd5MaxLanes];
};

// The number of lanes; 0 when the CPU has no vectors or "scalar" is forced.
[[nodiscard]] size_t md5_lanes();

// Adds `blocks` blocks of 64 bytes of the first `lanes` lanes (1 to md5_lanes()) to their states; does not change `at`.
// The other lanes are overwritten.
void md5_compress_lanes(Md5Lanes& state, size_t lanes, size_t blocks);

}  // namespace msdump::kernels
