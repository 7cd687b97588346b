// copy_strided: the one kernel under every format conversion. A conversion is a set of boxes; a box is a loop nest in
// which every axis moves by a constant stride on both sides, so no element ever needs a division.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace msdump::kernels {

struct CopyDim {
  int64_t extent;      // >= 0
  int64_t src_stride;  // elements, >= 0
  int64_t dst_stride;  // elements, >= 0
};

// dst[sum i_k * dst_stride_k] = src[sum i_k * src_stride_k] for all 0 <= i_k < extent_k; dims in any order, an empty list
// copies one element, any extent of 0 copies nothing. element_size is 1, 2, 4, 8 or 16 bytes. Bytes are moved, never
// interpreted, so NaN payloads survive. Destinations are distinct; src and dst do not overlap. Unaligned is fine.
// Only the destination's elements are written; of the source, bytes between the first and the last element may be read
// also where no element lies. Picks the memcpy, strided or tiled-transposition form by itself; SIMD by CPU, same bytes on
// every CPU.
void copy_strided(std::span<const CopyDim> dims, const std::byte* src, std::byte* dst, size_t element_size);

// The definition, one element at a time: what copy_strided is tested and fuzzed against.
void copy_strided_reference(std::span<const CopyDim> dims, const std::byte* src, std::byte* dst, size_t element_size);

}  // namespace msdump::kernels
