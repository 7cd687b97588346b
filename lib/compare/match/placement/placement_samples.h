// Samples of a global tensor that is sharded over ranks. A search for placements (placement_search.h) assembles the samples
// under each candidate placement and compares them with the other side. Large tensors are not read entirely.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "compare/match/placement/placement.h"
#include "compare/sample/read_failures.h"
#include "compare/sample/tensor_samples.h"
#include "compare/statistics/statistic_tables.h"
#include "dump/elements/host_tensor.h"
#include "dump/index/tensor_list.h"
#include "io/run_context.h"
#include "stats/tensor_numbers.h"

namespace msdump {

// The elements of the local tensors of several ranks. Small tensors are kept in memory. Of larger ones, fetch() reads the
// elements that are asked for, all of a tensor at once, and keeps them. Memory: kMostKept values in all.
class LocalValues {
 public:
  // ok() is false if a record is null or cannot be read, or its elements have no order. `failures` gets the files that
  // cannot be read; may be null.
  LocalValues(const DumpIndex& index, std::span<const TensorRecord* const> records, ReadFailures* failures = nullptr);

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] const std::vector<Shape>& shapes() const { return shapes_; }
  [[nodiscard]] DType dtype() const { return dtype_; }
  // True if all elements are in memory.
  [[nodiscard]] bool are_kept() const { return !kept_.empty(); }
  // Reads these elements of a local tensor, unless they are in memory.
  void fetch(size_t local, std::vector<int64_t> elements);
  // NaN if it cannot be read.
  [[nodiscard]] double at(size_t local, int64_t element);
  // A sample of kFirstPoints of a local tensor.
  [[nodiscard]] std::vector<double> first_look(size_t local);
  // The digest of each local tensor.
  Result<std::vector<uint64_t>> digests(const CancelToken& cancel);

 private:
  static constexpr size_t kMostKept = size_t{1} << 20;

  void forget(const Error& error);

  PieceTensors tensors_;
  ReadFailures* failures_;
  std::vector<std::vector<double>> kept_;                         // all elements; none if they are too many
  std::vector<std::vector<std::pair<int64_t, double>>> fetched_;  // by local tensor: elements, ascending
  size_t fetched_count_ = 0;
  std::vector<Shape> shapes_;
  DType dtype_ = DType::kUndefined;
  bool ok_ = true;
};

// The statistics of the local tensors of several ranks. For a tensor with elements they are computed, which reads it once.
class LocalStatistics {
 public:
  // ok() is false if a record is null or has neither statistics nor shape. `failures` gets the files that cannot be read;
  // may be null.
  LocalStatistics(StatisticTables& tables, std::span<const TensorRecord* const> records, const RunContext& context,
                  ReadFailures* failures = nullptr);

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] const std::vector<Shape>& shapes() const { return shapes_; }
  [[nodiscard]] DType dtype() const { return values_.front().dtype; }
  [[nodiscard]] std::span<const TensorRecord* const> records() const { return records_; }
  [[nodiscard]] const std::vector<TensorNumbers>& values() const { return values_; }
  // A hash of the statistics of each local tensor.
  [[nodiscard]] std::vector<uint64_t> digests() const;

 private:
  std::vector<const TensorRecord*> records_;
  std::vector<TensorNumbers> values_;
  std::vector<Shape> shapes_;
  bool ok_ = true;
};

// The similarity of two samples: the share that agrees within the tolerance, and the relative L2 error.
struct Similarity {
  double agreement = 0, error = 0;
};

// True if test(i, j) holds for any two neighbours in the mesh whose elements a collective reduces.
template <class Test>
bool any_reduced_pair(const Placement& placement, const Test& test) {
  int64_t stride = 1;
  for (const PlacementDim& dim : placement.dims) {
    const bool is_reduced = dim.traits().reduction != PieceOverlap::kNone;
    for (int64_t place = stride; is_reduced && place < placement.ranks(); ++place) {
      const bool has_neighbour = place / stride % dim.extent > 0;
      if (has_neighbour && test(static_cast<size_t>(place - stride), static_cast<size_t>(place))) return true;
    }
    stride *= dim.extent;
  }
  return false;
}

// Samples of tensors with elements.
struct ElementSamples {
  using Locals = LocalValues;
  using Places = std::vector<std::vector<int64_t>>;  // coordinates
  static constexpr bool kInOrder = true;             // samples show the order of elements

  // The places of a sample, or with `few` of one of kFirstPoints.
  [[nodiscard]] static Places places_of(const Shape& global, bool few);
  // The elements of one replica that the placement assembles.
  [[nodiscard]] static std::vector<double> values_of(LocalValues& locals, const Placement& placement, int64_t copy,
                                                     const Shape& global, const Places& places);
  // True if two local tensors that the placement would reduce are equal. Partial sums never are, so the ranks hold replicas
  // and the placement is wrong.
  [[nodiscard]] static bool reduces_replicas(LocalValues& locals, const Placement& placement);
  // True for a scalar that is equal on all ranks and differs from the other side's under every placement. It is then neither
  // a multiple nor an integer fraction of that one, as numbers of ranks would make it.
  [[nodiscard]] static bool is_other_scalar(LocalValues& a, LocalValues& b);
  // True if the reference's sample varies. A constant tensor fits every placement and proves none.
  [[nodiscard]] static bool is_informative(const std::vector<double>& a, const std::vector<double>& b);

  // The reference's sample. Elements agree within a part of its median deviation, so that a few large ones do not hide the
  // others, plus rounding. A scalar has no deviation, and may come from a coarser dtype than its own.
  class Target {
   public:
    Target(std::vector<double> values, double roundoff, const Shape& global);
    // The similarity to one replica of the candidate, or to several. With `hurry`, samples that are clearly unrelated are
    // compared in part.
    [[nodiscard]] Similarity similarity(const std::vector<double>& a, double factor, bool hurry = false) const;
    // The agreement with the factor that brings `a` nearest; 0 if none comes near.
    [[nodiscard]] double scaled_agreement(const std::vector<double>& a) const;

   private:
    std::vector<double> values_;
    double roundoff_, near_ = 0;
  };
};

// Samples of tensors with statistics alone: the statistics of the global tensor that a placement makes (statistic_tables.h),
// each as a range.
struct StatisticSamples {
  using Locals = LocalStatistics;
  struct Places {};
  static constexpr bool kInOrder = false;

  [[nodiscard]] static Places places_of(const Shape&, bool) { return {}; }
  // The lower and upper ends of max, min, mean and norm; NaN if unknown.
  [[nodiscard]] static std::vector<double> values_of(const LocalStatistics& locals, const Placement& placement,
                                                     int64_t copy, const Shape& global, Places);
  [[nodiscard]] static bool reduces_replicas(const LocalStatistics& locals, const Placement& placement);
  [[nodiscard]] static bool is_other_scalar(const LocalStatistics& /*a*/, const LocalStatistics& /*b*/) {
    return false;
  }
  // True if the tensor is not constant.
  [[nodiscard]] static bool is_informative(const std::vector<double>& a, const std::vector<double>& b);

  // The reference's statistics. Extremes and norms agree relative to their magnitude; a mean relative to the mean of as many
  // numbers of random sign. Integers must be equal: their `roundoff` is 0.
  class Target {
   public:
    Target(std::vector<double> values, double roundoff, const Shape& global);
    [[nodiscard]] Similarity similarity(const std::vector<double>& a, double factor, bool /*hurry*/ = false) const;
    // Always 0: a factor between four numbers proves nothing.
    [[nodiscard]] static double scaled_agreement(const std::vector<double>&) { return 0; }

   private:
    std::vector<double> values_, units_;
    double near_ = 0;
  };
};

}  // namespace msdump
