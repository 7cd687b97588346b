// copy_strided(): the kernel of all format conversions. A conversion is a set of boxes. A box is a loop nest in which every
// axis has a constant stride on both sides, so that no element needs a division. Bytes are moved and never interpreted: NaN
// payloads survive, and the result is the same on every CPU.
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

// dst[sum i_k * dst_stride_k] = src[sum i_k * src_stride_k] for all 0 <= i_k < extent_k. Dimensions may have any order; none
// copies one element, and an extent of 0 copies nothing. element_size is 1, 2, 4, 8 or 16 bytes; any alignment.
// Destinations are distinct, and src and dst do not overlap. Any byte of the source between the first and the last element
// may be read.
void copy_strided(std::span<const CopyDim> dims, const std::byte* src, std::byte* dst, size_t element_size);

// The definition, one element at a time; for tests.
void copy_strided_reference(std::span<const CopyDim> dims, const std::byte* src, std::byte* dst, size_t element_size);

// Internal to lib/kernels: a block with two axes, so small that both sides fit in the first-level cache.
//
// `along_dst` is the axis whose neighbours are nearest in the destination, `along_src` that whose neighbours are nearest in
// the source. A piece of `width` bytes is an element, or elements that are adjacent on both sides. Strides are in bytes.
//
//     source, C0 = 4 (along_src goes right)      destination (along_dst goes right)
//       h0: c0 c1 c2 c3                            c0: h0 h1 h2
//       h1: c0 c1 c2 c3            --->            c1: h0 h1 h2
//       h2: c0 c1 c2 c3                            c2: h0 h1 h2
//                                                  c3: h0 h1 h2
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
  // End of the source of the whole copy. A vector load may reach beyond the block, but not beyond this.
  const std::byte* src_end = nullptr;
};

using BlockCopy = void (*)(const Block& block);

// The portable form: one move of a constant width, or two that overlap, for each piece.
[[nodiscard]] BlockCopy choose_piece_copy(size_t width);

// The SIMD form (transpose_block.cpp) for transpositions: pieces of 1, 2, 4 or 8 bytes that are adjacent along along_dst in
// the destination and along along_src in the source. Null if there is none for this width or CPU.
[[nodiscard]] BlockCopy choose_transposition(size_t width);

}  // namespace msdump::kernels
