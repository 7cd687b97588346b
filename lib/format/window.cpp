#include "format/window.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "kernels/copy/copy_strided.h"

namespace msdump {
namespace {

// A loop over a part of an axis: `count` positions with `stride` in the tensor. lay_out() sets `buffer_stride`.
struct AxisLoop {
  int64_t count;
  int64_t stride;
  int64_t* buffer_stride;
};

// Sets the strides of the loops in a buffer and returns the runs that fill it. Loops with gaps of at most `gap` elements are
// merged into the run; the others loop over runs.
Region lay_out(std::vector<AxisLoop> loops, int64_t base, int64_t gap) {
  std::erase_if(loops, [](const AxisLoop& loop) {
    *loop.buffer_stride = loop.stride;
    return loop.count <= 1;
  });
  std::sort(loops.begin(), loops.end(), [](const AxisLoop& a, const AxisLoop& b) { return a.stride < b.stride; });
  Region region;
  region.base = base;
  region.run = 1;
  size_t next = 0;
  for (; next < loops.size(); ++next) {
    const AxisLoop& loop = loops[next];
    if (loop.stride > region.run + gap) break;
    region.run = std::max(region.run, loop.stride * (loop.count - 1) + region.run);
  }
  int64_t size = region.run;
  for (; next < loops.size(); ++next) {
    *loops[next].buffer_stride = size;
    size *= loops[next].count;
    region.loops.insert(region.loops.begin(), RunLoop{loops[next].count, loops[next].stride});
  }
  return region;
}

struct LoopRange {
  int64_t outer_begin, outer_count, inner_begin, inner_count;
};

LoopRange loops_of(const PlanAxis& axis, int64_t begin, int64_t end) {
  const int64_t first = begin + axis.phase, last = end - 1 + axis.phase;
  const int64_t outer = first / axis.block, outer_last = last / axis.block;
  if (outer == outer_last) return {outer, 1, first % axis.block, last - first + 1};
  return {outer, outer_last - outer + 1, 0, axis.block};
}

Window window_of(const PlanPart& part, const std::vector<std::pair<int64_t, int64_t>>& ranges, int64_t gap) {
  Window window;
  window.axes.resize(part.axes.size());
  std::vector<AxisLoop> src_loops, dst_loops;
  int64_t src_base = part.src_base, dst_base = part.dst_base;
  for (size_t i = 0; i < part.axes.size(); ++i) {
    const PlanAxis& axis = part.axes[i];
    WindowAxis& in_window = window.axes[i];
    in_window.begin = ranges[i].first;
    in_window.end = ranges[i].second;
    const LoopRange range = loops_of(axis, in_window.begin, in_window.end);
    in_window.outer_begin = range.outer_begin;
    in_window.inner_begin = range.inner_begin;
    src_base += range.outer_begin * axis.src_outer + range.inner_begin * axis.src_inner;
    dst_base += in_window.begin * axis.dst_stride;
    src_loops.push_back({range.outer_count, axis.src_outer, &in_window.buffer_outer});
    src_loops.push_back({range.inner_count, axis.src_inner, &in_window.buffer_inner});
    dst_loops.push_back({in_window.end - in_window.begin, axis.dst_stride, &in_window.buffer_dst});
  }
  window.src = lay_out(std::move(src_loops), src_base, gap);
  // The destination merges only adjacent elements, because a write must not touch the bytes between others.
  window.dst = lay_out(std::move(dst_loops), dst_base, 0);
  return window;
}

// A part of a window axis with constant strides on both sides: a part of a block at either end, or the whole blocks between.
struct Segment {
  std::array<kernels::CopyDim, 2> dims;
  size_t dim_count = 0;
  int64_t src = 0, dst = 0;  // offsets in the buffers
};

std::vector<Segment> segments_of(const PlanAxis& axis, const WindowAxis& in_window) {
  std::vector<Segment> segments;
  int64_t at = in_window.begin;
  while (at < in_window.end) {
    const int64_t outer = (at + axis.phase) / axis.block, inner = (at + axis.phase) % axis.block;
    const int64_t left = in_window.end - at;
    Segment segment;
    segment.src = (outer - in_window.outer_begin) * in_window.buffer_outer +
                  (inner - in_window.inner_begin) * in_window.buffer_inner;
    segment.dst = (at - in_window.begin) * in_window.buffer_dst;
    const int64_t blocks = inner == 0 ? left / axis.block : 0;
    const int64_t per_block = blocks > 0 ? axis.block : std::min(axis.block - inner, left);
    segment.dims[segment.dim_count++] = {per_block, in_window.buffer_inner, in_window.buffer_dst};
    if (blocks > 1)
      segment.dims[segment.dim_count++] = {blocks, in_window.buffer_outer, axis.block * in_window.buffer_dst};
    at += std::max<int64_t>(blocks, 1) * per_block;
    segments.push_back(segment);
  }
  return segments;
}

void run_segments(const std::vector<std::vector<Segment>>& segments, std::vector<kernels::CopyDim>& dims,
                  int64_t src_offset, int64_t dst_offset, const std::byte* src, std::byte* dst, size_t element_size,
                  size_t level) {
  if (level == segments.size()) {
    const auto width = static_cast<int64_t>(element_size);
    kernels::copy_strided(dims, src + src_offset * width, dst + dst_offset * width, element_size);
    return;
  }
  for (const Segment& segment : segments[level]) {
    const size_t depth = dims.size();
    dims.insert(dims.end(), segment.dims.begin(),
                segment.dims.begin() + static_cast<std::ptrdiff_t>(segment.dim_count));
    run_segments(segments, dims, src_offset + segment.src, dst_offset + segment.dst, src, dst, element_size, level + 1);
    dims.resize(depth);
  }
}

// The tile of position p (index + phase) of an axis, counted from position 0. Tiles are whole blocks or parts of one block,
// so that a window never holds more of the source than its tile.
int64_t tile_of(const PlanAxis& axis, int64_t tile, int64_t position) {
  if (tile >= axis.extent) return 0;
  if (tile >= axis.block) return position / tile;
  return position / axis.block * ceil_div(axis.block, tile) + position % axis.block / tile;
}

int64_t tiles_in(const PlanAxis& axis, int64_t tile) {
  if (axis.extent <= 0) return 0;
  return tile_of(axis, tile, axis.phase + axis.extent - 1) - tile_of(axis, tile, axis.phase) + 1;
}

// The indices in the tile `number` of an axis.
std::pair<int64_t, int64_t> tile_range(const PlanAxis& axis, int64_t tile, int64_t number) {
  if (tile >= axis.extent) return {0, axis.extent};
  const int64_t at = tile_of(axis, tile, axis.phase) + number;
  int64_t begin = at * tile, size = tile;
  if (tile < axis.block) {
    const int64_t per_block = ceil_div(axis.block, tile), offset = at % per_block * tile;
    begin = at / per_block * axis.block + offset;
    size = std::min(tile, axis.block - offset);
  }
  begin -= axis.phase;
  // The sum may be beyond int64_t.
  const int64_t end = begin <= axis.extent - size ? begin + size : axis.extent;
  return {std::max<int64_t>(begin, 0), end};
}

std::vector<std::pair<int64_t, int64_t>> ranges_of(const PlanPart& part, const Tiling& tiling, int64_t window_index) {
  std::vector<std::pair<int64_t, int64_t>> ranges(part.axes.size());
  for (size_t i = part.axes.size(); i-- > 0;) {
    const int64_t tiles = tiles_in(part.axes[i], tiling.tile[i]);
    ranges[i] = tile_range(part.axes[i], tiling.tile[i], window_index % tiles);
    window_index /= tiles;
  }
  return ranges;
}

// The ranges of a largest window. (The first and the last tile of an axis may be shorter.)
std::vector<std::pair<int64_t, int64_t>> largest_ranges(const PlanPart& part, const Tiling& tiling) {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (size_t i = 0; i < part.axes.size(); ++i) {
    const PlanAxis& axis = part.axes[i];
    std::pair<int64_t, int64_t> largest = tile_range(axis, tiling.tile[i], 0);
    for (int64_t number = 1; number < std::min<int64_t>(tiles_in(axis, tiling.tile[i]), 3); ++number) {
      const auto range = tile_range(axis, tiling.tile[i], number);
      if (range.second - range.first > largest.second - largest.first) largest = range;
    }
    ranges.push_back(largest);
  }
  return ranges;
}

struct TilingCost {
  int64_t elements;  // of the larger buffer of one window
  double runs;       // separate runs per element; writes count twice, because they cost more
};

TilingCost cost_of(const PlanPart& part, const Tiling& tiling, int64_t gap) {
  const Window window = window_of(part, largest_ranges(part, tiling), gap);
  const int64_t moved = window.dst.elements();
  const double runs = static_cast<double>(window.src.run_count()) + 2.0 * static_cast<double>(window.dst.run_count());
  return {std::max(window.src.elements(), moved), runs / static_cast<double>(std::max<int64_t>(moved, 1))};
}

// Half as many whole blocks; with `inside_blocks`, half of a part of one.
int64_t halved(const PlanAxis& axis, int64_t tile, bool inside_blocks) {
  if (inside_blocks) return ceil_div(std::min(tile, axis.block), 2);
  const bool blocked = axis.block < axis.extent || axis.phase != 0;
  const int64_t granule = blocked ? axis.block : 1;
  return std::min(ceil_div(ceil_div(tile, 2), granule) * granule, tile);
}

// The axis whose halving gives the cheapest windows; none if no axis can be halved. An axis that shortens runs but not the
// buffer, because the gaps between runs are read, comes last.
std::optional<size_t> best_axis_to_halve(const PlanPart& part, Tiling& tiling, int64_t gap, bool inside_blocks) {
  std::optional<size_t> best;
  double best_runs = 0;
  bool best_shrinks = false;
  const int64_t elements = cost_of(part, tiling, gap).elements;
  for (size_t i = 0; i < tiling.tile.size(); ++i) {
    const int64_t before = tiling.tile[i], after = halved(part.axes[i], before, inside_blocks);
    if (after == before) continue;
    tiling.tile[i] = after;
    const TilingCost cost = cost_of(part, tiling, gap);
    const bool shrinks = 4 * (cost.elements / 3) <= elements;
    tiling.tile[i] = before;
    if (!best || (shrinks != best_shrinks ? shrinks : cost.runs < best_runs)) {
      best = i;
      best_runs = cost.runs;
      best_shrinks = shrinks;
    }
  }
  return best;
}

}  // namespace

int64_t Region::run_count() const {
  int64_t count = 1;
  for (const RunLoop& loop : loops) count *= loop.count;
  return count;
}

Tiling choose_tiling(const PlanPart& part, int64_t max_elements, int64_t gap) {
  Tiling tiling;
  for (const PlanAxis& axis : part.axes) tiling.tile.push_back(axis.extent);
  bool inside_blocks = false;  // only when no tile can be halved into whole blocks any more
  while (cost_of(part, tiling, gap).elements > max_elements) {
    if (const auto axis = best_axis_to_halve(part, tiling, gap, inside_blocks)) {
      tiling.tile[*axis] = halved(part.axes[*axis], tiling.tile[*axis], inside_blocks);
    } else if (inside_blocks) {
      break;  // a single element
    } else {
      inside_blocks = true;
    }
  }
  tiling.windows = 1;
  for (size_t i = 0; i < part.axes.size(); ++i) tiling.windows *= tiles_in(part.axes[i], tiling.tile[i]);
  return tiling;
}

Window make_window(const PlanPart& part, const Tiling& tiling, int64_t window_index, int64_t gap) {
  return window_of(part, ranges_of(part, tiling, window_index), gap);
}

void run_window(const PlanPart& part, const Window& window, const std::byte* src, std::byte* dst, size_t element_size) {
  std::vector<std::vector<Segment>> segments;
  for (size_t i = 0; i < part.axes.size(); ++i) segments.push_back(segments_of(part.axes[i], window.axes[i]));
  std::vector<kernels::CopyDim> dims;
  run_segments(segments, dims, 0, 0, src, dst, element_size, 0);
}

void run_part(const PlanPart& part, const std::byte* src, std::byte* dst, size_t element_size) {
  Window window;
  for (const PlanAxis& axis : part.axes)
    window.axes.push_back({0, axis.extent, 0, 0, axis.src_outer, axis.src_inner, axis.dst_stride});
  const auto width = static_cast<int64_t>(element_size);
  run_window(part, window, src + part.src_base * width, dst + part.dst_base * width, element_size);
}

}  // namespace msdump
