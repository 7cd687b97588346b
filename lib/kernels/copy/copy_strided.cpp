#include "kernels/copy/copy_strided.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include <limits>

namespace msdump::kernels {
namespace {

// A piece of constant width: memcpy is one or a few instructions.
template <size_t kWidth>
struct FixedMove {
  static void move(const std::byte* src, std::byte* dst, size_t /*width*/) { std::memcpy(dst, src, kWidth); }
};

// Any width in [kWidth, 2 * kWidth]: a move at the front and one at the end, which overlap.
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

// copy_strided, from the outside in:
//   1. normalise(): strides in bytes; axes of extent 1 are dropped, adjacent axes merged, and elements that are adjacent on
//      both sides become one wider piece. The remaining axes are ordered by destination stride.
//   2. choose_tiles(): the indices of each axis that make a tile. A tile has runs of a few cache lines on either side, so that
//      no line is fetched twice, whatever the strides between runs.
//   3. TileLoops: tiles in the order of the destination; within a tile, a block of two axes at a time.

namespace {

// Extents are at least 2 and destinations distinct, so more axes would need more than 2^63 elements.
constexpr size_t kMaxAxes = 64;

constexpr int64_t kLineBytes = 64;
// Bytes of a run in a tile: four lines, so that prefetched neighbours are used and few pages are open.
constexpr int64_t kRunBytes = 256;
// Tiles of short runs grow up to this size; both sides of a tile fit in the first-level cache.
constexpr int64_t kTileBytes = 8192;
// Pieces of this size need no tiles: each is a run of its own.
constexpr size_t kLongPiece = 512;

struct Box {
  std::array<BlockAxis, kMaxAxes> axes;  // by ascending destination stride
  size_t rank = 0;
  size_t width = 0;  // bytes of a piece

  [[nodiscard]] int64_t piece() const { return static_cast<int64_t>(width); }
};

// False if there is nothing to copy.
bool normalise(std::span<const CopyDim> dims, size_t element_size, Box& box) {
  const auto element = static_cast<int64_t>(element_size);
  std::array<BlockAxis, kMaxAxes> sorted;
  size_t count = 0;
  for (const CopyDim& dim : dims) {
    if (dim.extent == 0) return false;
  }
  for (const CopyDim& dim : dims) {
    if (dim.extent == 1) continue;
    assert(count < kMaxAxes);
    sorted[count++] = {dim.extent, dim.src_stride * element, dim.dst_stride * element};
  }
  std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(count),
            [](const BlockAxis& a, const BlockAxis& b) { return a.dst_stride < b.dst_stride; });
  box.rank = 0;
  box.width = element_size;
  for (size_t i = 0; i < count; ++i) {
    const BlockAxis& axis = sorted[i];
    if (box.rank == 0 && axis.src_stride == box.piece() && axis.dst_stride == box.piece()) {
      box.width *= static_cast<size_t>(axis.extent);
      continue;
    }
    if (box.rank > 0) {
      BlockAxis& inner = box.axes[box.rank - 1];
      if (axis.src_stride == inner.src_stride * inner.extent && axis.dst_stride == inner.dst_stride * inner.extent) {
        inner.extent *= axis.extent;
        continue;
      }
    }
    box.axes[box.rank++] = axis;
  }
  return true;
}

// The axis other than 0 whose neighbours are nearest in the source; a stride of 0 repeats elements and does not count. With
// one axis: 1.
size_t nearest_in_source(const Box& box) {
  size_t best = 1;
  int64_t best_stride = std::numeric_limits<int64_t>::max();
  for (size_t i = 1; i < box.rank; ++i) {
    const int64_t stride = box.axes[i].src_stride;
    if (stride > 0 && stride < best_stride) {
      best = i;
      best_stride = stride;
    }
  }
  return best;
}

// Adds axes to the tile in ascending order of their strides on one side, up to a run of kRunBytes.
template <class StrideOf>
void take_run(const Box& box, std::array<int64_t, kMaxAxes>& tile, StrideOf stride_of) {
  int64_t run = box.piece();
  std::array<bool, kMaxAxes> taken{};
  while (run < kRunBytes) {
    size_t next = box.rank;
    for (size_t i = 0; i < box.rank; ++i) {
      if (taken[i] || stride_of(box.axes[i]) == 0) continue;
      if (next == box.rank || stride_of(box.axes[i]) < stride_of(box.axes[next])) next = i;
    }
    if (next == box.rank || stride_of(box.axes[next]) >= kRunBytes) return;
    const int64_t stride = stride_of(box.axes[next]);
    const int64_t wanted = std::max<int64_t>((kRunBytes - run + stride - 1) / stride, 0) + 1;
    const int64_t count = std::min(box.axes[next].extent, wanted);
    tile[next] = std::max(tile[next], count);
    taken[next] = true;
    run += (count - 1) * stride;
    if (count < box.axes[next].extent) return;
  }
}

// Lengthens a tile along an axis that is dense on both sides, to save loop overhead.
void lengthen(const Box& box, size_t at, std::array<int64_t, kMaxAxes>& tile) {
  const BlockAxis& axis = box.axes[at];
  if (axis.src_stride >= kRunBytes || axis.dst_stride >= kRunBytes) return;
  int64_t bytes = box.piece();
  for (size_t i = 0; i < box.rank; ++i) bytes *= tile[i];
  while (bytes < kTileBytes && tile[at] < axis.extent) {
    tile[at] = std::min(tile[at] * 2, axis.extent);
    bytes *= 2;
  }
}

std::array<int64_t, kMaxAxes> choose_tiles(const Box& box, size_t along_src) {
  std::array<int64_t, kMaxAxes> tile;
  tile.fill(1);
  if (box.width >= kLongPiece) {
    tile[0] = box.axes[0].extent;
    return tile;
  }
  take_run(box, tile, [](const BlockAxis& axis) { return axis.dst_stride; });
  take_run(box, tile, [](const BlockAxis& axis) { return axis.src_stride; });
  lengthen(box, 0, tile);
  if (along_src < box.rank) lengthen(box, along_src, tile);
  return tile;
}

class TileLoops {
 public:
  TileLoops(const Box& box, const std::byte* src)
      : box_(box), along_src_(nearest_in_source(box)), tile_(choose_tiles(box, along_src_)) {
    block_.along_dst = box.axes[0];
    if (along_src_ < box.rank) block_.along_src = box.axes[along_src_];
    block_.width = box.width;
    const auto piece = box.piece();
    block_.src_end = src + piece;
    for (size_t i = 0; i < box.rank; ++i) block_.src_end += (box.axes[i].extent - 1) * box.axes[i].src_stride;
    const bool transposition = block_.along_dst.dst_stride == piece && block_.along_src.src_stride == piece;
    copy_ = transposition ? choose_transposition(box.width) : nullptr;
    if (copy_ == nullptr) copy_ = choose_piece_copy(box.width);
  }

  void run(const std::byte* src, std::byte* dst) {
    first_count_ = tile_[0] - elements_past_line(dst);
    over_tiles(box_.rank, src, dst);
  }

 private:
  // The number of elements by which the first tile along axis 0 is shorter, so that the next ones begin on a cache line. If
  // the strides are multiples of a line, no two tiles then write the same line.
  [[nodiscard]] int64_t elements_past_line(const std::byte* dst) const {
    const auto past = static_cast<int64_t>(std::bit_cast<uintptr_t>(dst) % kLineBytes);
    const int64_t piece = box_.piece();
    if (tile_[0] == box_.axes[0].extent) return 0;  // there is no next one
    if (box_.axes[0].dst_stride != piece || past % piece != 0 || tile_[0] * piece % kLineBytes != 0) return 0;
    return past / piece;
  }

  // Loops over the remaining `level` axes, from the outermost one.
  void over_tiles(size_t level, const std::byte* src, std::byte* dst) {
    if (level == 0) {
      within_tile(box_.rank, src, dst);
      return;
    }
    const size_t at = level - 1;
    const BlockAxis& axis = box_.axes[at];
    const int64_t step = tile_[at];
    int64_t count = at == 0 ? first_count_ : step;
    for (int64_t i = 0; i < axis.extent; i += count, count = step) {
      count = std::min(count, axis.extent - i);
      count_[at] = count;
      over_tiles(at, src + i * axis.src_stride, dst + i * axis.dst_stride);
    }
  }

  void within_tile(size_t level, const std::byte* src, std::byte* dst) {
    while (level > 0 && (count_[level - 1] == 1 || level - 1 == 0 || level - 1 == along_src_)) --level;
    if (level == 0) {
      block_.src = src;
      block_.dst = dst;
      block_.along_dst.extent = count_[0];
      if (along_src_ < box_.rank) block_.along_src.extent = count_[along_src_];
      copy_(block_);
      return;
    }
    const size_t at = level - 1;
    const BlockAxis& axis = box_.axes[at];
    for (int64_t i = 0; i < count_[at]; ++i) within_tile(at, src + i * axis.src_stride, dst + i * axis.dst_stride);
  }

  const Box& box_;
  size_t along_src_;
  std::array<int64_t, kMaxAxes> tile_;
  std::array<int64_t, kMaxAxes> count_{};
  Block block_;
  BlockCopy copy_ = nullptr;
  int64_t first_count_ = 0;
};

void copy_reference(std::span<const CopyDim> dims, const std::byte* src, std::byte* dst, size_t element_size) {
  if (dims.empty()) {
    std::memcpy(dst, src, element_size);
    return;
  }
  const CopyDim& dim = dims.front();
  const auto element = static_cast<int64_t>(element_size);
  for (int64_t i = 0; i < dim.extent; ++i) {
    copy_reference(dims.subspan(1), src + i * dim.src_stride * element, dst + i * dim.dst_stride * element,
                   element_size);
  }
}

}  // namespace

void copy_strided(std::span<const CopyDim> dims, const std::byte* src, std::byte* dst, size_t element_size) {
  Box box;
  if (!normalise(dims, element_size, box)) return;
  if (box.rank == 0) {
    std::memcpy(dst, src, box.width);
    return;
  }
  TileLoops(box, src).run(src, dst);
}

void copy_strided_reference(std::span<const CopyDim> dims, const std::byte* src, std::byte* dst, size_t element_size) {
  for (const CopyDim& dim : dims) {
    if (dim.extent == 0) return;
  }
  copy_reference(dims, src, dst, element_size);
}

}  // namespace msdump::kernels
