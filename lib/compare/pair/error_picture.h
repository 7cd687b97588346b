// What the error of a tensor looks like: how large it is how often, and where on the last two axes it lies.
//
//   histogram   of |a - b| of the finite pairs that differ, four bins a decade
//   map         the largest |a - b| in each of at most 64 x 64 cells of the last two axes, over all other axes; an
//               infinity where one side only is NaN or infinite. A tensor of one axis is a row; of none, a cell
//
// One pass over both tensors, a few MiB of memory.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/error.h"
#include "dump/elements/host_tensor.h"
#include "io/cancel.h"

namespace msdump {

inline constexpr int64_t kMostMapCells = 64;  // along an axis
inline constexpr int kBinsPerDecade = 4;

struct ErrorPicture {
  std::map<int, uint64_t> bins;  // pairs with 10^(bin / kBinsPerDecade) <= |a - b| < that of the next bin
  uint64_t equal = 0, mismatches = 0;
  int64_t rows = 1, columns = 1;            // the extents of the last two axes
  int64_t cell_height = 1, cell_width = 1;  // indices in a cell; the last of a row and column may have fewer
  int64_t cells_down = 1, cells_across = 1;
  std::vector<double> cells;  // row by row
};

// Elements of `a` are divided by `scale` first. shape_mismatch when one of them has more elements.
Result<ErrorPicture> picture_error(HostTensor& a, HostTensor& b, double scale, const CancelToken& cancel);

}  // namespace msdump
