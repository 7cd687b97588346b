// PieceValues: single elements of the tensors of several ranks, and which of these tensors are equal to the bit.
//
// Small tensors are kept whole. Of others, elements are kept as they are read: fetch() reads those of a piece at once, so that
// a piece is not opened for each of them. Memory: kMostKept values in all.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "compare/match/placement/placement.h"
#include "compare/match/read_failures.h"
#include "compare/statistics/statistic_tables.h"
#include "compare/statistics/statistic_values.h"
#include "dump/elements/host_tensor.h"
#include "dump/index/tensor_list.h"
#include "io/run_context.h"

namespace msdump {

class PieceValues {
 public:
  // Null records are missing pieces. ok() is false where one is missing or cannot be read, or has no order. `failures`: is
  // told of files that cannot be read; may be null.
  PieceValues(const DumpIndex& index, std::span<const TensorRecord* const> records, ReadFailures* failures = nullptr);

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] const std::vector<Shape>& shapes() const { return shapes_; }
  [[nodiscard]] DType dtype() const { return dtype_; }
  // True if all elements are in memory.
  [[nodiscard]] bool are_kept() const { return !kept_.empty(); }
  // Reads these elements of a piece, if they are not in memory.
  void fetch(size_t piece, std::vector<int64_t> elements);
  // NaN where it cannot be read.
  [[nodiscard]] double at(size_t piece, int64_t element);
  // A number for the contents of each piece.
  Result<std::vector<uint64_t>> digests(const CancelToken& cancel);

 private:
  static constexpr size_t kMostKept = size_t{1} << 20;

  void forget(const Error& error);

  PieceTensors tensors_;
  ReadFailures* failures_;
  std::vector<std::vector<double>> kept_;                         // all elements; none if they are too many
  std::vector<std::vector<std::pair<int64_t, double>>> fetched_;  // by piece: elements, ascending
  size_t fetched_count_ = 0;
  std::vector<Shape> shapes_;
  DType dtype_ = DType::kUndefined;
  bool ok_ = true;
};

// PieceStatistics: the statistics of the tensors of several ranks, and which of these tensors may be equal by them.
//
// Of a tensor that has elements they are computed, which reads it once.

class PieceStatistics {
 public:
  // Null records are missing pieces. ok() is false where one is missing or has no statistics or no shape. `failures`: is told
  // of files that cannot be read; may be null.
  PieceStatistics(StatisticTables& tables, std::span<const TensorRecord* const> records, const RunContext& context,
                  ReadFailures* failures = nullptr);

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] const std::vector<Shape>& shapes() const { return shapes_; }
  [[nodiscard]] DType dtype() const { return values_.front().dtype; }
  [[nodiscard]] std::span<const TensorRecord* const> records() const { return records_; }
  [[nodiscard]] const std::vector<StatisticValues>& values() const { return values_; }
  // A number for the statistics of each piece.
  [[nodiscard]] std::vector<uint64_t> digests() const;

 private:
  std::vector<const TensorRecord*> records_;
  std::vector<StatisticValues> values_;
  std::vector<Shape> shapes_;
  bool ok_ = true;
};

// What a search for layouts (layout_search.h) looks at where tensors have elements: some of the elements of the wholes that
// the layouts make.

// Of two wholes: the share of what was looked at that agrees, and how far it is apart, relative to the reference.
struct Nearness {
  double agreement = 0, error = 0;
};

// Is anything true of two neighbouring terms of a sum, or of two neighbours that have maxima? By their places in the mesh.
template <class Test>
bool any_terms(const CutLayout& layout, const Test& test) {
  int64_t stride = 1;
  for (const CutDim& dim : layout.dims) {
    for (int64_t place = stride; is_reduced(dim.role) && place < layout.ranks(); ++place) {
      const bool has_neighbour = place / stride % dim.extent > 0;
      if (has_neighbour && test(static_cast<size_t>(place - stride), static_cast<size_t>(place))) return true;
    }
    stride *= dim.extent;
  }
  return false;
}

struct ElementSamples {
  using Pieces = PieceValues;
  using Places = std::vector<std::vector<int64_t>>;  // coordinates
  static constexpr bool kInOrder = true;             // tell where an element is
  static constexpr double kSameNumber = 1e-3;        // relative, of a single number, as the loss

  // Spread over a tensor, and so are the first of them; not at equal distances, which may be those of rows.
  [[nodiscard]] static Places places_of(const Shape& shape, bool few);
  // Of the whole, as a layout puts one of its copies together.
  [[nodiscard]] static std::vector<double> values_of(PieceValues& pieces, const CutLayout& layout, int64_t copy,
                                                     const Shape& whole, const Places& places);
  // Terms of a sum are not equal, nor are maxima of several parts: where two are, all are copies of something that a factor
  // or a fault sets apart from the other side.
  [[nodiscard]] static bool reduces_equals(PieceValues& pieces, const CutLayout& layout);
  // Is it one number, equal on all ranks, and neither a multiple of the other side's nor a whole part of it, as numbers of
  // ranks make? It then differs, however it is cut.
  [[nodiscard]] static bool is_other_number(PieceValues& a, PieceValues& b);
  // Not one value everywhere, which every layout fits.
  [[nodiscard]] static bool tell(const std::vector<double>& a, const std::vector<double>& b);

  // The elements of the reference, and how near is near: a part of their median deviation, so that a few large ones do not
  // hide the others, and what the dtype rounds. A single number deviates from nothing, and what it was computed from may be
  // coarser than its own dtype.
  class Target {
   public:
    Target(std::vector<double> values, double roundoff, const Shape& whole);
    // Of one copy of the candidate or of several. `hurry`: of values that have nothing to do with each other, of which a
    // tenth agrees, only some are looked at.
    [[nodiscard]] Nearness nearness(const std::vector<double>& a, double factor, bool hurry = false) const;
    // With the factor, whatever it is, that brings `a` nearest; 0 where none does by far.
    [[nodiscard]] double scaled_agreement(const std::vector<double>& a) const;

   private:
    std::vector<double> values_;
    double roundoff_, near_ = 0;
  };
};

// What a search for layouts (layout_search.h) looks at where tensors have statistics alone: those of the wholes that the
// layouts make (merged_statistics.h), each as the range in which it lies.

struct StatisticSamples {
  using Pieces = PieceStatistics;
  struct Places {};
  static constexpr bool kInOrder = false;

  [[nodiscard]] static Places places_of(const Shape&, bool) { return {}; }
  // Of each of max, min, mean and norm the lower and the upper end; NaN: not known.
  [[nodiscard]] static std::vector<double> values_of(const PieceStatistics& pieces, const CutLayout& layout,
                                                     int64_t copy, const Shape& whole, Places);
  // As of elements, by the statistics.
  [[nodiscard]] static bool reduces_equals(const PieceStatistics& pieces, const CutLayout& layout);
  [[nodiscard]] static bool is_other_number(const PieceStatistics& /*a*/, const PieceStatistics& /*b*/) {
    return false;
  }
  // Not one value everywhere, and extremes that are known on both sides: those of a sum are a range, which many others fit.
  [[nodiscard]] static bool tell(const std::vector<double>& a, const std::vector<double>& b);

  // How near is near: a part of the magnitude of an extreme and of a norm. Of a mean, of what the mean of so many numbers
  // of this magnitude and of any sign is. Whole numbers are not near each other, but equal: `roundoff` is 0.
  class Target {
   public:
    Target(std::vector<double> values, double roundoff, const Shape& whole);
    [[nodiscard]] Nearness nearness(const std::vector<double>& a, double factor, bool /*hurry*/ = false) const;
    // A factor of four numbers tells nothing.
    [[nodiscard]] static double scaled_agreement(const std::vector<double>&) { return 0; }

   private:
    std::vector<double> values_, units_;
    double near_ = 0;
  };
};

}  // namespace msdump
