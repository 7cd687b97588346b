// Format conversion, part 2: running a plan window by window, in buffers of a fixed size.
//
// A window is a box of host indices of one part. On either side it covers runs of elements of equal length. The caller reads
// the source runs into a buffer, run_window() moves the elements to another buffer, and the caller writes its runs.
//
// All counts and offsets are in elements, after unpacking.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "format/plan.h"

namespace msdump {

struct RunLoop {
  int64_t count;
  int64_t stride;  // in the tensor
};

// The runs of one side of a window in buffer order: `run` elements from base + sum(index * stride) for each combination of
// the loops, the first being outermost.
struct Region {
  int64_t base = 0;
  int64_t run = 0;
  std::vector<RunLoop> loops;

  [[nodiscard]] int64_t run_count() const;
  [[nodiscard]] int64_t elements() const { return run_count() * run; }  // the size of the buffer
};

// Calls visit(first element in the tensor) for every run in buffer order, until it returns false.
template <class Visit>
bool for_each_run(const Region& region, Visit&& visit) {
  std::vector<int64_t> index(region.loops.size(), 0);
  int64_t at = region.base;
  for (;;) {
    if (!visit(at)) return false;
    size_t level = region.loops.size();
    for (;;) {
      if (level == 0) return true;
      const RunLoop& loop = region.loops[--level];
      at += loop.stride;
      if (++index[level] < loop.count) break;
      at -= loop.count * loop.stride;
      index[level] = 0;
    }
  }
}

// The indices [begin, end) of PlanPart::axes[i] and their strides in the two buffers.
struct WindowAxis {
  int64_t begin = 0, end = 0;
  int64_t outer_begin = 0, inner_begin = 0;                    // the smallest block and offset in it of (index + phase)
  int64_t buffer_outer = 0, buffer_inner = 0, buffer_dst = 0;  // strides in the buffers
};

struct Window {
  Region src, dst;
  std::vector<WindowAxis> axes;
};

// A division of a part into windows of `tile` indices of each axis. A tile of a blocked axis is whole blocks, a part of one
// block, or the whole axis.
struct Tiling {
  std::vector<int64_t> tile;
  int64_t windows = 0;
};

// The tiling with the fewest separate runs whose windows need at most `max_elements` (1 or more) on either side. Up to `gap`
// elements between two runs are cheaper to read than to skip.
[[nodiscard]] Tiling choose_tiling(const PlanPart& part, int64_t max_elements, int64_t gap);
[[nodiscard]] Window make_window(const PlanPart& part, const Tiling& tiling, int64_t window_index, int64_t gap);

// Moves the elements of a window from a buffer with the source runs to one with the destination runs.
void run_window(const PlanPart& part, const Window& window, const std::byte* src, std::byte* dst, size_t element_size);

// Runs a whole part between buffers that hold the whole tensors.
void run_part(const PlanPart& part, const std::byte* src, std::byte* dst, size_t element_size);

}  // namespace msdump
