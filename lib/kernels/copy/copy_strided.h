// The innermost piece of copy_strided: a small block with two axes, cut by copy_strided.cpp so that both sides of it fit
// in the first-level cache. Internal to lib/kernels.
//
// `along_dst` is the axis whose neighbours are nearest in the destination, `along_src` the one whose neighbours are
// nearest in the source. What moves is a piece of `width` bytes: an element, or as many elements as lie side by side on
// both sides. All strides are in bytes.
//
//     source, C0 = 4 (along_src goes right)      destination (along_dst goes right)
//       h0: c0 c1 c2 c3                            c0: h0 h1 h2
//       h1: c0 c1 c2 c3            --->            c1: h0 h1 h2
//       h2: c0 c1 c2 c3                            c2: h0 h1 h2
//                                                  c3: h0 h1 h2
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace msdump::kernels {

struct BlockAxis {
  int64_t extent = 1;
  int64_t src_stride = 0;
  int64_t dst_stride = 0;
};

struct Block {
  const std::byte* src = nullptr;
  std::byte* dst = nullptr;
  BlockAxis along_dst, along_src;
  size_t width = 0;
  // End of the source bytes of the whole copy: a vector load may reach beyond the block, but not beyond this.
  const std::byte* src_end = nullptr;
};

using BlockCopy = void (*)(const Block& block);

// The portable form: a loop over pieces of a width known to the compiler, or of two overlapping moves of one.
[[nodiscard]] BlockCopy choose_piece_copy(size_t width);

// The SIMD form, for blocks that are transpositions: pieces of 1, 2, 4 or 8 bytes which touch along along_dst in the
// destination and along along_src in the source. Null when there is none for this width or CPU.
[[nodiscard]] BlockCopy choose_transposition(size_t width);

// copy_strided: the one kernel under every format conversion. A conversion is a set of boxes; a box is a loop nest in
// which every axis moves by a constant stride on both sides, so no element ever needs a division.

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
