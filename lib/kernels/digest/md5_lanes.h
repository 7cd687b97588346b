// Several MD5 digests abreast, one in each 32-bit lane. Internal to lib/kernels.
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

// How many lanes go abreast; 0: none, because of the CPU or because "scalar" is forced.
[[nodiscard]] size_t md5_lanes();

// `blocks` blocks of 64 bytes of the first `lanes` lanes (1 to md5_lanes()) into their states; `at` is left alone. What the other
// lanes hold is overwritten.
void md5_compress_lanes(Md5Lanes& state, size_t lanes, size_t blocks);

}  // namespace msdump::kernels
