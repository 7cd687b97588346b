// Samples of a global tensor that is sharded over ranks. A search for placements (placement_search.h) assembles the samples
// under each candidate placement and compares them with the other side. Large tensors are not read entirely.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
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

// The similarity of two samples: the share that agrees within the tolerance, and the relative L2 error.
struct Similarity {
  double agreement = 0, error = 0;
};

// The elements of the local tensors of several ranks. Small tensors are kept in memory. Of larger ones, fetch() reads the
// elements that are asked for, all of a tensor at once, and keeps them. Memory: kMostKept values in all.
class LocalValues {
 public:
  using Places = std::vector<std::vector<int64_t>>;  // coordinates
  class Target;
  static constexpr bool kInOrder = true;  // samples show the order of elements

  // ok() is false if a record is null or cannot be read, or its elements have no order. `failures` gets the files that
  // cannot be read; may be null.
  LocalValues(const DumpIndex& index, std::span<const TensorRecord* const> records, ReadFailures* failures = nullptr);

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] const std::vector<Shape>& shapes() const { return shapes_; }
  [[nodiscard]] DType dtype() const { return dtype_; }
  // True if all elements are in memory.
  [[nodiscard]] bool are_kept() const { return !kept_.empty(); }
  // NaN if it cannot be read.
  [[nodiscard]] double at(size_t local, int64_t element);
  // The places of a sample, or with `few` of one of kFirstPoints.
  [[nodiscard]] static Places places_of(const Shape& global, bool few);
  // The elements of one replica that the placement assembles.
  [[nodiscard]] std::vector<double> sample(const Placement& placement, int64_t copy, const Shape& global,
                                           const Places& places);
  // A sample of kFirstPoints of a local tensor.
  [[nodiscard]] std::vector<double> first_look(size_t local);
  // True if two local tensors are equal and not constant.
  [[nodiscard]] bool are_replicas(size_t one, size_t other);
  // The value of a scalar that all ranks have alike.
  [[nodiscard]] std::optional<double> scalar();
  // The digest of each local tensor.
  Result<std::vector<uint64_t>> digests(const CancelToken& cancel);

 private:
  static constexpr size_t kMostKept = size_t{1} << 20;

  void forget(const Error& error);
  // Reads these elements of a local tensor, unless they are in memory.
  void fetch(size_t local, std::vector<int64_t> elements);

  PieceTensors tensors_;
  ReadFailures* failures_;
  std::vector<std::vector<double>> kept_;                     // all elements; none if they are too many
  std::vector<std::unordered_map<int64_t, double>> fetched_;  // by local tensor and element
  size_t fetched_count_ = 0;
  std::vector<Shape> shapes_;
  DType dtype_ = DType::kUndefined;
  bool ok_ = true;
};

// The reference's sample. Elements agree within a part of its median deviation, so that a few large ones do not hide the
// others, plus rounding. A scalar has no deviation, and may come from a coarser dtype than its own.
class LocalValues::Target {
 public:
  Target(std::vector<double> values, double roundoff, const Shape& global);
  // False if the sample is constant: it then fits every placement and proves none.
  [[nodiscard]] bool is_informative() const;
  // The similarity to one replica of the candidate, or to several. With `hurry`, samples that are clearly unrelated are
  // compared in part.
  [[nodiscard]] Similarity similarity(const std::vector<double>& a, double factor, bool hurry = false) const;
  // The agreement with the factor that brings `a` nearest; 0 if none comes near.
  [[nodiscard]] double scaled_agreement(const std::vector<double>& a) const;

 private:
  std::vector<double> values_;
  double roundoff_, near_ = 0;
};

// The statistics of the local tensors of several ranks. For a tensor with elements they are computed, which reads it once. A
// sample is the statistics of the global tensor that a placement makes (statistic_tables.h), each as a range.
class LocalStatistics {
 public:
  struct Places {};
  class Target;
  static constexpr bool kInOrder = false;

  // ok() is false if a record is null or has neither statistics nor shape. `failures` gets the files that cannot be read;
  // may be null.
  LocalStatistics(StatisticTables& tables, std::span<const TensorRecord* const> records, const RunContext& context,
                  ReadFailures* failures = nullptr);

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] const std::vector<Shape>& shapes() const { return shapes_; }
  [[nodiscard]] DType dtype() const { return values_.front().dtype; }
  [[nodiscard]] const std::vector<TensorNumbers>& values() const { return values_; }
  [[nodiscard]] static Places places_of(const Shape&, bool) { return {}; }
  // The lower and upper ends of max, min, mean and norm; NaN if unknown.
  [[nodiscard]] std::vector<double> sample(const Placement& placement, int64_t copy, const Shape& global, Places) const;
  [[nodiscard]] bool are_replicas(size_t one, size_t other) const;
  [[nodiscard]] static std::optional<double> scalar() { return std::nullopt; }
  // A hash of the statistics of each local tensor.
  [[nodiscard]] std::vector<uint64_t> digests() const;

 private:
  std::vector<const TensorRecord*> records_;
  std::vector<TensorNumbers> values_;
  std::vector<Shape> shapes_;
  bool ok_ = true;
};

// The reference's statistics. Extremes and norms agree relative to their magnitude; a mean relative to the mean of as many
// numbers of random sign. Integers must be equal: their `roundoff` is 0.
class LocalStatistics::Target {
 public:
  Target(std::vector<double> values, double roundoff, const Shape& global);
  [[nodiscard]] bool is_informative() const;
  [[nodiscard]] Similarity similarity(const std::vector<double>& a, double factor, bool /*hurry*/ = false) const;
  // Always 0: a factor between four numbers proves nothing.
  [[nodiscard]] static double scaled_agreement(const std::vector<double>&) { return 0; }

 private:
  std::vector<double> values_, units_;
  double near_ = 0;
};

}  // namespace msdump
