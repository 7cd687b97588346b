// Details of a pair of tensors that differ: the worst elements, the axes that carry the error, a picture of it.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "compare/pair/pair_reader.h"
#include "compare/pair/tensor_diff.h"
#include "dump/elements/host_tensor.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "io/run_context.h"
#include "kernels/pair/pair.h"
#include "report/value.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump {

// PairDistances: |a - b| of each pair of a block, for passes over single elements. It is the d of kernels/pair/pair.h.
//
//   finite pairs       |a - b|, exact for 64-bit integers before it is rounded; infinite beyond the range of a double
//   complex numbers    the modulus of the difference, within two bits of the metrics
//   other pairs        0 if both are NaN or the same infinity, else NaN: a mismatch

class PairDistances {
 public:
  // `dtype` is the common one. Elements of `a`, but for 64-bit integers, are divided by `scale` first, a power of two.
  explicit PairDistances(DType dtype, double scale = 1);

  // The distances of at most kernels::kPairBlock pairs, valid until the next call.
  std::span<const double> of(const std::byte* a, const std::byte* b, int64_t count);

 private:
  struct Block {
    double a[2 * kernels::kPairBlock], b[2 * kernels::kPairBlock];  // complex numbers have two parts
    double distances[kernels::kPairBlock];
  };

  void take_real(size_t count);
  void take_complex(size_t count);

  DType dtype_;
  bool complex_;
  double scale_;
  std::unique_ptr<Block> block_;
};

// WorstElements: the elements that differ most, with both values.
//
// First come pairs with NaN or an infinity on one side only, then the largest |a - b|; ties go by index. Equal elements are
// not listed. Values are as stored: integers exact to the last digit, floats with the digits of their dtype, complex numbers
// as a list of two.

struct WorstElement {
  std::vector<int64_t> index;
  report::Value a, b;
  std::optional<double> distance;  // |a - b|; no value for NaN or an infinity on one side
};

// Takes the pairs of two tensors in order.
class WorstElements {
 public:
  WorstElements(size_t number, DType stored_a, DType stored_b);

  // The pairs of a slab from `from` on, with their distances.
  void add(const PairSlab& slab, int64_t from, std::span<const double> distances);

  // Returns the elements, the worst first.
  [[nodiscard]] std::vector<WorstElement> finish(const Shape& shape) &&;

 private:
  using Stored = std::array<std::byte, sizeof(std::complex<double>)>;
  struct Candidate {
    double distance = 0;  // NaN: a mismatch
    uint64_t at = 0;
    Stored a, b;
  };

  static bool is_worse(const Candidate& x, const Candidate& y);
  void keep(const PairSlab& slab, int64_t in_slab, double distance);

  size_t number_;
  DType dtype_a_, dtype_b_;
  std::vector<Candidate> heap_;  // the least bad one on top
};

// Reads a pair of elements of two tensors with equally many: the metrics know the worst pair by its index only.
Result<WorstElement> read_pair_at(HostTensor& a, HostTensor& b, uint64_t at);

// An element for a report; `at` holds it as HostTensor::read gives it.
[[nodiscard]] report::Value element_value(DType dtype, const std::byte* at);

// AxisErrors: for each axis of a tensor the few indices that carry the error, or "everywhere".
//
//   1. what is counted: mismatches (NaN or an infinity on one side), if there are any, else the squares of a - b
//   2. an axis of more than 4096 indices is cut into as many bins of equal width, the last one narrower
//   3. a bin stands out if it has 1.5 times the share of an even distribution. If these bins carry 90 % of the error and
//      form at most 8 ranges, they are the answer; else the same with 4 times and 50 %; else "everywhere"
//
// Single pass, in the order of the elements; memory is bounded by the number of bins.

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

// Takes the distances of all elements of a shape in C order.
class AxisErrors {
 public:
  // `max_abs` is that of the finite pairs, or near it. Distances are scaled by it, so that no square overflows.
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
    bool advance(int64_t count);  // true if it wraps around
  };

  Bin add_row(std::span<const double> distances);
  void next_row();
  [[nodiscard]] AxisError standing_out(const Axis& axis, double factor) const;

  double factor_;           // a power of two
  std::vector<Axis> axes_;  // those with more than one index; the innermost is the last
  Bin all_;
};

// look_again(): a second pass over two tensors that differ, for the worst elements and the axes that carry the error.

struct SecondLookOptions {
  size_t worst = 0;  // elements; at most kMostStated
  bool by_axis = false;
  double scale = 1;  // what elements of the candidate are divided by before they are compared
};

struct SecondLook {
  std::vector<WorstElement> worst;  // the worst first
  ErrorAxes axes;
};

// `diff` is that of the same two tensors. Nothing is read if it says that they are the same or cannot be compared.
Result<SecondLook> look_again(HostTensor& a, HostTensor& b, const TensorDiff& diff, const SecondLookOptions& options,
                              const CancelToken& cancel);

// ErrorPicture: a histogram of the error's sizes, and a map of the last two axes.
//
//   histogram   of |a - b| of the finite pairs that differ, four bins a decade
//   map         the largest |a - b| in each of at most 64 x 64 cells of the last two axes, over all other axes; an
//               infinity if one side only is NaN or infinite. A tensor of one axis is a row; of none, a cell
//
// Takes one pass over both tensors and a few MiB of memory.

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

// Elements of `a` are divided by `scale` first. kShapeMismatch if one of them has more elements.
Result<ErrorPicture> picture_error(HostTensor& a, HostTensor& b, double scale, const CancelToken& cancel);

// PairPicture: all details of a pair of tensors that differ. Both tensors are read twice, so this is for a few tensors.

inline constexpr size_t kPictureWorst = 20;  // elements

struct PairPicture {
  ErrorPicture error;
  SecondLook look;
};

struct PictureSide {
  const DumpIndex& index;
  const TensorRecord& tensor;
};

// `diff` is that of the two tensors. Elements of `a` are divided by `scale` first, but the values of the worst elements are
// as stored. No value if they were not compared element by element, or are the same.
Result<std::optional<PairPicture>> picture_pair(const PictureSide& a, const PictureSide& b, const TensorDiff& diff,
                                                double scale, const CancelToken& cancel);

}  // namespace msdump
