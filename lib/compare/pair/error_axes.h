// Where in a tensor the error lies: for each axis the few indices that carry it, or "everywhere".
//
//   1. what is counted: mismatches (NaN or an infinity on one side), if there are any, else the squares of a - b
//   2. an axis of more than 4096 indices is cut into as many bins of equal width, the last one narrower
//   3. a bin stands out if it has 1.5 times the share of an even distribution. Where the bins that stand out carry 90 %
//      of the error and form at most 8 ranges, they are the answer; else the same with 4 times and 50 %; else "everywhere"
//
// Single pass, in the order of the elements; memory is bounded by the number of bins.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/shape.h"

namespace msdump {

inline constexpr int64_t kMostAxisBins = 4096;

struct AxisRange {
  int64_t first = 0, last = 0;  // indices, both included
  double share = 0;             // of all mismatches or squares, 0..1
  double max_abs = 0;           // of the finite pairs
  uint64_t mismatches = 0;
};

struct AxisError {
  size_t axis = 0;
  int64_t extent = 0;
  std::vector<AxisRange> ranges;  // in order; empty: the error is everywhere along this axis
  double carried = 0;             // share of all ranges together
};

struct ErrorAxes {
  bool of_mismatches = false;           // shares are of mismatches, else of squares
  std::vector<AxisError> axes;          // those with more than one index
  [[nodiscard]] bool is_local() const;  // an axis has ranges
};

// Takes the distances (pair_distance.h) of all elements of a shape in C order.
class AxisErrors {
 public:
  // `max_abs` of the finite pairs, or near it: distances are scaled by it, so that no square overflows.
  AxisErrors(const Shape& shape, double max_abs);

  void add(std::span<const double> distances);

  [[nodiscard]] ErrorAxes finish() const;

 private:
  struct Bin {
    double squares = 0, max_abs = 0;
    uint64_t mismatches = 0;

    void add(const Bin& other);
  };
  struct Axis {
    size_t number;  // in the shape
    int64_t extent, width;
    std::vector<Bin> bins;
    int64_t index = 0, in_bin = 0;  // of the next element
    size_t bin = 0;

    [[nodiscard]] int64_t run() const;
    bool advance(int64_t count);  // true when it wraps around
  };

  Bin add_row(std::span<const double> distances);
  void next_row();
  [[nodiscard]] AxisError standing_out(const Axis& axis, double factor) const;

  double factor_;           // a power of two
  std::vector<Axis> axes_;  // those with more than one index; the innermost is the last
  Bin all_;
};

}  // namespace msdump
