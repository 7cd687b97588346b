// Transposition of a block in vector registers, for elements of 1, 2, 4 and 8 bytes.
//
// A register tile is K x K elements, K = 16 bytes / element: K loads of 16 bytes, log2(K) rounds of interleaving, K stores.
// Every round interleaves vector i with vector i + K/2. This transposes: number an element by the bits of its vector v and
// its lane l. A round moves
//
//     v = (b v'), l = (a l')   ->   v = (v' a), l = (l' b)        a, b: the top bits
//
// which rotates the number (v l) left by one bit; after log2(K) rounds v and l are exchanged.
//
// Wider vectors hold a tile in each 16-byte block, stacked along along_dst. Interleaving stays within blocks, so the same
// code serves all widths, and a store covers K * blocks neighbours of the destination:
//
//     AVX-512, 2-byte elements: 32 source rows of 8 elements  ->  8 destination rows of 32 elements (one cache line)
//
// A "row" is an index along along_dst (a row of the source), a "column" one along along_src (a row of the destination).
#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/copy/transpose_block.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/copy/copy_strided.h"

HWY_BEFORE_NAMESPACE();
namespace msdump::kernels::HWY_NAMESPACE {
#if MSDUMP_HAS_VECTORS
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
constexpr size_t kTile = 16 / sizeof(T);

template <class D>
constexpr auto kLanesOf = static_cast<int64_t>(hn::MaxLanes(D()));

template <class D>
constexpr bool kOneBlock = static_cast<size_t>(kLanesOf<D>) * sizeof(hn::TFromD<D>) <= 16;

constexpr int64_t kLineBytes = 64;

// Memory is read and written as bytes, because an element of a dump has no alignment.
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const std::byte* from) {
  return hn::BitCast(d, hn::LoadU(hn::Repartition<uint8_t, D>(), reinterpret_cast<const uint8_t*>(from)));
}

template <class D>
HWY_INLINE void store(D /*d*/, hn::Vec<D> value, std::byte* to) {
  const hn::Repartition<uint8_t, D> bytes;
  hn::StoreU(hn::BitCast(bytes, value), bytes, reinterpret_cast<uint8_t*>(to));
}

// 16 bytes of row 0 into the first block, of row K into the second, of row 2K into the third, ...
template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const std::byte* from, int64_t row_stride) {
  if constexpr (kOneBlock<D>) {
    return load(d, from);
  } else {
    const hn::Half<D> half;
    const auto lower = load_blocks(half, from, row_stride);
    return hn::Combine(d, load_blocks(half, from + kLanesOf<hn::Half<D>> * row_stride, row_stride), lower);
  }
}

// All rounds on the K vectors of a tile. A pack and recursion instead of loops keep the vectors in registers at -O2.
template <size_t kLeft, class D, size_t... kI>
HWY_INLINE void interleave(D d, hn::Vec<D>* HWY_RESTRICT v, std::index_sequence<kI...> half) {
  if constexpr (kLeft > 1) {
    constexpr size_t kHalf = sizeof...(kI);
    hn::Vec<D> mixed[2 * kHalf];
    ((mixed[2 * kI] = hn::InterleaveLower(d, v[kI], v[kI + kHalf]),
      mixed[2 * kI + 1] = hn::InterleaveUpper(d, v[kI], v[kI + kHalf])),
     ...);
    ((v[kI] = mixed[kI], v[kI + kHalf] = mixed[kI + kHalf]), ...);
    interleave<kLeft / 2>(d, v, half);
  }
}

// Transposes a register tile for each 16-byte block. Columns from `columns` on are computed but not stored.
template <class D, size_t... kI>
HWY_INLINE void transpose_tile(D d, const std::byte* src, int64_t row_stride, std::byte* dst, int64_t column_stride,
                               int64_t columns, std::index_sequence<kI...> /*tile*/) {
  constexpr size_t kRows = sizeof...(kI);
  hn::Vec<D> v[kRows] = {load_blocks(d, src + static_cast<int64_t>(kI) * row_stride, row_stride)...};
  interleave<kRows>(d, v, std::make_index_sequence<kRows / 2>());
  if (HWY_LIKELY(columns >= static_cast<int64_t>(kRows))) {
    (store(d, v[kI], dst + static_cast<int64_t>(kI) * column_stride), ...);
    return;
  }
  ((static_cast<int64_t>(kI) < columns ? store(d, v[kI], dst + static_cast<int64_t>(kI) * column_stride) : void()),
   ...);
}

// A copy of source rows with a large stride. If the stride is a power of two, all rows share a few cache sets. Without the
// copy, a line would be evicted and fetched again for each of its groups of columns.
struct StagedRows {
  static constexpr int64_t kFarApart = 256;  // stride of rows from which staging is faster
  static constexpr int64_t kRowBytes = 256;  // of a staged row
  static constexpr int64_t kMinBytes = 64;   // fewer columns give a line too few groups

  alignas(64) std::byte bytes[kLineBytes * kRowBytes];  // at most kLineBytes rows of a byte per destination line

  void fill(const std::byte* src, int64_t row_stride, int64_t rows, int64_t row_bytes) {
    for (int64_t row = 0; row < rows; ++row) {
      const std::byte* from = src + row * row_stride;
      std::byte* to = bytes + row * kRowBytes;
      int64_t at = 0;
      for (; at + kLineBytes <= row_bytes; at += kLineBytes) std::memcpy(to + at, from + at, size_t{kLineBytes});
      if (at < row_bytes) std::memcpy(to + at, from + at, static_cast<size_t>(row_bytes - at));
    }
  }
};

// Transposes `rows` rows, at least a vector of them, by `columns` columns. The last step in either direction overlaps the
// one before. Rows vary fastest, so that a line of the destination is complete before the next columns begin. (With
// destination strides of a large power of two, all open lines share one cache set of 8 or 12 ways.)
template <class D>
HWY_INLINE void transpose_strip(D d, const std::byte* src, int64_t row_stride, std::byte* dst, int64_t column_stride,
                                int64_t rows, int64_t columns) {
  using T = hn::TFromD<D>;
  constexpr auto kColumns = static_cast<int64_t>(kTile<T>), kElement = static_cast<int64_t>(sizeof(T));
  for (int64_t group = 0; group < columns; group += kColumns) {
    const int64_t column = std::max<int64_t>(std::min(group, columns - kColumns), 0);
    for (int64_t at = 0; at < rows; at += kLanesOf<D>) {
      const int64_t row = std::min(at, rows - kLanesOf<D>);
      transpose_tile(d, src + row * row_stride + column * kElement, row_stride,
                     dst + row * kElement + column * column_stride, column_stride, columns,
                     std::make_index_sequence<kTile<T>>());
    }
  }
}

// Strips of rows that make one line of the destination.
template <class D>
HWY_INLINE void transpose_rows(D d, const Block& block, int64_t rows) {
  constexpr auto kElement = static_cast<int64_t>(sizeof(hn::TFromD<D>));
  constexpr int64_t kStrip = kLineBytes / kElement;
  constexpr int64_t kStagedColumns = StagedRows::kRowBytes / kElement;
  const int64_t columns = block.along_src.extent;
  const int64_t row_stride = block.along_dst.src_stride, column_stride = block.along_src.dst_stride;
  const bool staged = row_stride >= StagedRows::kFarApart && columns * kElement >= StagedRows::kMinBytes;
  for (int64_t strip = 0; strip < rows; strip += kStrip) {
    const int64_t row = std::max<int64_t>(std::min(strip, rows - kStrip), 0), count = std::min(kStrip, rows);
    const std::byte* src = block.src + row * row_stride;
    std::byte* dst = block.dst + row * kElement;
    if (!staged) {
      transpose_strip(d, src, row_stride, dst, column_stride, count, columns);
      continue;
    }
    StagedRows near;
    for (int64_t column = 0; column < columns; column += kStagedColumns) {
      const int64_t width = std::min(kStagedColumns, columns - column);
      near.fill(src + column * kElement, row_stride, count, width * kElement);
      transpose_strip(d, near.bytes, StagedRows::kRowBytes, dst + column * column_stride, column_stride, count, width);
    }
  }
}

// The widest vector that `rows` fill.
template <class D>
HWY_INLINE void transpose_with(D d, const Block& block, int64_t rows) {
  if constexpr (!kOneBlock<D>) {
    if (rows < kLanesOf<D>) {
      transpose_with(hn::Half<D>(), block, rows);
      return;
    }
  }
  transpose_rows(d, block, rows);
}

// The number of first rows that may be loaded 16 bytes wide. Loads of a block of fewer than K columns pass its last column,
// but must not pass the end of the source.
template <class T>
HWY_INLINE int64_t loadable_rows(const Block& block) {
  const int64_t rows = block.along_dst.extent, row_stride = block.along_dst.src_stride;
  if (block.along_src.extent >= static_cast<int64_t>(kTile<T>)) return rows;
  int64_t loadable = rows;
  while (loadable > 0 && block.src_end - (block.src + (loadable - 1) * row_stride) < 16) --loadable;
  return loadable;
}

// Transposes fewer rows than a tile has, in a destination without gaps between columns. Each store of a whole vector
// overwrites the excess x of the one before; 3 rows of a 4 x 4 tile:
//
//     store 0:  a0 a1 a2 x
//     store 1:           b0 b1 b2 x
//     store 2:                    c0 c1 c2 x          the last ones go through a buffer, to end where the block does
template <class T, size_t... kI>
HWY_INLINE void transpose_short(const Block& block, std::index_sequence<kI...> /*tile*/) {
  using D = hn::CappedTag<T, kTile<T>>;
  const D d;
  constexpr auto kColumns = static_cast<int64_t>(kTile<T>), kElement = static_cast<int64_t>(sizeof(T));
  const int64_t rows = block.along_dst.extent, columns = block.along_src.extent;
  const int64_t row_stride = block.along_dst.src_stride, column_stride = block.along_src.dst_stride;
  const std::byte* const end = block.dst + columns * column_stride;
  for (int64_t group = 0; group < columns; group += kColumns) {
    const int64_t column = std::min(group, columns - kColumns);
    const std::byte* src = block.src + column * kElement;
    hn::Vec<D> v[] = {
        (static_cast<int64_t>(kI) < rows ? load(d, src + static_cast<int64_t>(kI) * row_stride) : hn::Zero(d))...};
    interleave<kTile<T>>(d, v, std::make_index_sequence<kTile<T> / 2>());
    alignas(16) std::byte buffer[16 * kTile<T>];
    std::byte* to = block.dst + column * column_stride;
    // The number of stores that end inside the block.
    const int64_t inside = (end - to - 16) / column_stride + 1;
    ((static_cast<int64_t>(kI) < inside ? store(d, v[kI], to + static_cast<int64_t>(kI) * column_stride)
                                        : store(d, v[kI], buffer + static_cast<int64_t>(kI) * 16)),
     ...);
    for (int64_t i = inside; i < kColumns; ++i) {
      std::memcpy(to + i * column_stride, buffer + i * 16, static_cast<size_t>(column_stride));
    }
  }
}

template <class T>
HWY_INLINE void transpose(const Block& block) {
  constexpr auto kRows = static_cast<int64_t>(kTile<T>), kElement = static_cast<int64_t>(sizeof(T));
  const int64_t rows = block.along_dst.extent;
  const bool dense = block.along_src.dst_stride == rows * kElement;
  if (rows < kRows && dense && block.along_src.extent >= kRows) {
    transpose_short<T>(block, std::make_index_sequence<kTile<T>>());
    return;
  }
  Block rest = block;  // what vectors cannot do
  const int64_t loadable = loadable_rows<T>(block);
  if (loadable >= kRows) {
    transpose_with(hn::ScalableTag<T>(), block, loadable);
    rest.src += loadable * block.along_dst.src_stride;
    rest.dst += loadable * block.along_dst.dst_stride;
    rest.along_dst.extent -= loadable;
  }
  if (rest.along_dst.extent > 0) choose_piece_copy(sizeof(T))(rest);
}

}  // namespace

void transpose_1(const Block& block) { transpose<uint8_t>(block); }
void transpose_2(const Block& block) { transpose<uint16_t>(block); }
void transpose_4(const Block& block) { transpose<uint32_t>(block); }
void transpose_8(const Block& block) { transpose<uint64_t>(block); }

#else  // !MSDUMP_HAS_VECTORS

void transpose_1(const Block& block) { choose_piece_copy(1)(block); }
void transpose_2(const Block& block) { choose_piece_copy(2)(block); }
void transpose_4(const Block& block) { choose_piece_copy(4)(block); }
void transpose_8(const Block& block) { choose_piece_copy(8)(block); }

#endif
}  // namespace msdump::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace msdump::kernels {

HWY_EXPORT(transpose_1);
HWY_EXPORT(transpose_2);
HWY_EXPORT(transpose_4);
HWY_EXPORT(transpose_8);

BlockCopy choose_transposition(size_t width) {
  if (portable_forced()) return nullptr;
  switch (width) {
    case 1: return &HWY_DYNAMIC_DISPATCH(transpose_1);
    case 2: return &HWY_DYNAMIC_DISPATCH(transpose_2);
    case 4: return &HWY_DYNAMIC_DISPATCH(transpose_4);
    case 8: return &HWY_DYNAMIC_DISPATCH(transpose_8);
    default: return nullptr;
  }
}

}  // namespace msdump::kernels
#endif
