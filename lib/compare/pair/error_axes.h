// Where in a tensor the error lies: of each axis the few indices that carry it, or that it is everywhere.
//
//   1. what is shared out: mismatches (NaN or an infinity on one side), if there are any, else the squares of a - b
//   2. an axis of more than 4096 indices is cut into as many bins of equal width, the last one narrower
//   3. a bin stands out with 1.5 times the share it would have if all had the same. Where those that stand out carry 90 %
//      and lie in at most 8 ranges, they are the answer; else the same with 4 times and 50 %; else there is none
//
// Single pass, in the order of the elements; memory is bounded by the number of bins.
#pragma once

#include <cstdint>
#include <optional>
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
  std::vector<AxisRange> ranges;  // in order; empty: the error is all along this axis
  double carried = 0;             // share of all ranges together
};

struct ErrorAxes {
  bool of_mismatches = false;           // what the shares are of
  std::vector<AxisError> axes;          // those of more than one index
  [[nodiscard]] bool is_local() const;  // is there an axis with ranges?
};

// Takes the distances (pair_distance.h) of all elements of a shape in C order.
class AxisErrors {
 public:
  // `max_abs` of the finite pairs, or anything near it: squares are taken of what is about 1 then.
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
    int64_t index = 0, in_bin = 0;  // of the element that comes next
    size_t bin = 0;

    [[nodiscard]] int64_t run() const;
    bool advance(int64_t count);  // true when it has begun again
  };

  Bin add_row(std::span<const double> distances);
  void next_row();
  [[nodiscard]] AxisError standing_out(const Axis& axis, double factor) const;

  double factor_;           // a power of two
  std::vector<Axis> axes_;  // those of more than one index; the innermost is the last
  Bin all_;
};

}  // namespace msdump
