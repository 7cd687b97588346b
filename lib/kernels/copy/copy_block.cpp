#include "kernels/copy/copy_block.h"

#include <cstring>

namespace msdump::kernels {
namespace {

// A piece whose width lets the compiler turn memcpy into one or a few instructions.
template <size_t kWidth>
struct FixedMove {
  static void move(const std::byte* src, std::byte* dst, size_t /*width*/) { std::memcpy(dst, src, kWidth); }
};

// Any width in [kWidth, 2 * kWidth]: one move from the front, one that ends at the end; the middle is written twice.
//
//     width 11, kWidth 8:   [0 1 2 3 4 5 6 7] 8 9 10
//                            0 1 2[3 4 5 6 7  8 9 10]
template <size_t kWidth>
struct TwoMoves {
  static void move(const std::byte* src, std::byte* dst, size_t width) {
    std::memcpy(dst, src, kWidth);
    std::memcpy(dst + (width - kWidth), src + (width - kWidth), kWidth);
  }
};

struct LongMove {
  static void move(const std::byte* src, std::byte* dst, size_t width) { std::memcpy(dst, src, width); }
};

// Writing along the destination is faster, unless that axis is too short for a loop of its own.
constexpr int64_t kShortLoop = 8;

template <class Move>
void copy_pieces(const Block& block) {
  const bool swap = block.along_dst.extent < kShortLoop && block.along_dst.extent < block.along_src.extent;
  const BlockAxis outer = swap ? block.along_dst : block.along_src;
  const BlockAxis inner = swap ? block.along_src : block.along_dst;
  const size_t width = block.width;
  for (int64_t i = 0; i < outer.extent; ++i) {
    const std::byte* src = block.src + i * outer.src_stride;
    std::byte* dst = block.dst + i * outer.dst_stride;
    for (int64_t k = 0; k < inner.extent; ++k)
      Move::move(src + k * inner.src_stride, dst + k * inner.dst_stride, width);
  }
}

}  // namespace

BlockCopy choose_piece_copy(size_t width) {
  switch (width) {
    case 1: return copy_pieces<FixedMove<1>>;
    case 2: return copy_pieces<FixedMove<2>>;
    case 4: return copy_pieces<FixedMove<4>>;
    case 8: return copy_pieces<FixedMove<8>>;
    case 16: return copy_pieces<FixedMove<16>>;
    case 32: return copy_pieces<FixedMove<32>>;
    case 64: return copy_pieces<FixedMove<64>>;
    default: break;
  }
  if (width < 4) return copy_pieces<TwoMoves<2>>;  // 3
  if (width < 8) return copy_pieces<TwoMoves<4>>;
  if (width < 16) return copy_pieces<TwoMoves<8>>;
  if (width < 32) return copy_pieces<TwoMoves<16>>;
  if (width < 64) return copy_pieces<TwoMoves<32>>;
  if (width < 128) return copy_pieces<TwoMoves<64>>;
  return copy_pieces<LongMove>;
}

}  // namespace msdump::kernels
