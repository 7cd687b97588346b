// Format conversion, part 2: carrying a plan out, piece by piece.
//
// A window is a box of host indices of one part. It touches a set of equally long runs of elements on either side; a
// caller reads the source runs into one buffer, lets `run_window` move the elements into another, and writes the runs of
// that one. So a tensor of any size is converted in buffers of a fixed size, and nothing here knows about files.
//
// All counts and offsets are in elements. Source elements are those after unpacking (one per byte for sub-byte types).
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

// The runs of one side of a window, in buffer order: for each combination of the loops (first is outermost), `run`
// elements from base + sum(index * stride).
struct Region {
  int64_t base = 0;
  int64_t run = 0;
  std::vector<RunLoop> loops;

  [[nodiscard]] int64_t run_count() const;
  [[nodiscard]] int64_t elements() const { return run_count() * run; }  // the size of the buffer
};

// Calls visit(first element in the tensor) for every run, in buffer order; stops at the first false.
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

// One axis as a window sees it: the indices [begin, end) of PlanPart::axes[i], and how they move in the two buffers.
struct WindowAxis {
  int64_t begin = 0, end = 0;
  int64_t outer_begin = 0, inner_begin = 0;  // the smallest block and place of (index + phase) in the window
  int64_t buffer_outer = 0, buffer_inner = 0, buffer_dst = 0;  // strides in the buffers
};

struct Window {
  Region src, dst;
  std::vector<WindowAxis> axes;
};

// How a part is cut: `tile` indices of each axis at a time. A tile of a blocked axis is whole blocks, or a piece of one
// block and then cut at its ends; one that is the whole axis is never cut.
struct Tiling {
  std::vector<int64_t> tile;
  int64_t windows = 0;
};

// A tiling whose windows need at most `max_elements` (1 or more) on either side, cut where it costs the fewest separate
// runs.
// `gap` is how many elements in between are cheaper to read than to skip.
[[nodiscard]] Tiling choose_tiling(const PlanPart& part, int64_t max_elements, int64_t gap);
[[nodiscard]] Window make_window(const PlanPart& part, const Tiling& tiling, int64_t window_index, int64_t gap);

// Moves the elements of a window from a buffer with the source runs to one with the destination runs.
void run_window(const PlanPart& part, const Window& window, const std::byte* src, std::byte* dst, size_t element_size);

// The whole part between buffers that hold the whole tensors.
void run_part(const PlanPart& part, const std::byte* src, std::byte* dst, size_t element_size);

}  // namespace msdump
