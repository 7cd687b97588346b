// TensorFacts: the numbers of one tensor that rules use, from its elements or from a table.
//
//   elements        min, max, mean, norm of the finite elements; every count
//   statistic.csv   the numbers of its columns. One that is NaN or infinite is unknown, but proves such an element
//   dump.json       max, min, mean, norm in the same way
// Complex numbers: min, max and the rest are of their parts, and only `elements` counts numbers.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/compact.h"
#include "base/error.h"
#include "compare/statistics/statistic_tables.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "graph/flow/run_graph.h"
#include "io/run_context.h"
#include "recompute/tensor_reader.h"
#include "stats/compute.h"
#include "stats/tensor_numbers.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump::check {

struct TensorFacts {
  enum class From : uint8_t { kNothing, kElements, kStatistics };

  From from = From::kNothing;
  DType dtype = DType::kUndefined;  // of the framework's tensor
  uint8_t rank = 0;                 // number of dimensions
  // Something shows it.
  bool has_nan = false, has_positive_inf = false, has_negative_inf = false;
  bool digest_is_exact = false;  // tensors with different ones differ; else it is of rounded numbers
  const Shape* shape = nullptr;  // of what was read from a file, else null; with `bytes`
  uint64_t bytes = 0;
  CompactOptional<uint64_t> elements;
  CompactOptional<double> min, max, mean, l2norm, mean_abs;
  CompactOptional<uint64_t> nan, positive_inf, negative_inf, zero, subnormal;
  CompactOptional<uint64_t> positive_edge, negative_edge;  // elements that are the largest or smallest of the type
  // Content hash: of the elements, else of the checksum or the rounded statistics in the table. 0: unknown, or not
  // requested.
  uint64_t digest = 0;

  [[nodiscard]] bool known() const { return from != From::kNothing && elements != 0U; }
  [[nodiscard]] bool is_finite() const { return !has_nan && !has_positive_inf && !has_negative_inf; }
  // Over the finite elements.
  [[nodiscard]] std::optional<double> root_mean_square() const;
  [[nodiscard]] std::optional<double> deviation() const;
  [[nodiscard]] std::optional<uint64_t> finite() const;  // how many
  [[nodiscard]] std::optional<bool> all_zero() const;
  // True for at most one finite value; no value if that is unknown.
  [[nodiscard]] std::optional<bool> constant() const;
};

[[nodiscard]] TensorFacts facts_of(const TensorNumbers& numbers);

// True for types that can hold NaN and be trained: float, bfloat16, fp8, complex.
[[nodiscard]] bool is_floating(DType dtype);
[[nodiscard]] bool is_eight_bit_float(DType dtype);
// 65504 of float16; no value for types other than numpy's floats and floats of 8 bits.
[[nodiscard]] std::optional<double> largest_of(DType dtype);

// FactsReader: reads the facts of tensors once, on demand, from their elements or else from the row of a table. It
// reads all of them in one pass, or the few that a search needs.

// Numbers that cost more than a pass over the elements.
struct FactsWanted {
  bool mean_abs = false, digests = false;
};

class FactsReader : public recompute::ScanTaker {
 public:
  // The list and the index must outlive it.
  FactsReader(const DumpIndex& index, const std::vector<TensorRecord>& tensors, const FactsWanted& wanted);

  // Excludes all other tensors: the user requested a part of the dump.
  void limit_to(const std::vector<bool>& tensors);

  // Drops the facts of these tensors if the file says float16 (graph/join/dump_operators.h).
  void distrust_float16(std::vector<bool> tensors) { distrusted_ = std::move(tensors); }

  // Reads tensors that were not read yet. An error only when interrupted. A tensor that cannot be read is a failure,
  // and its facts stay unknown.
  Status read(std::span<const TensorId> tensors, const RunContext& context);
  Status read_all(const RunContext& context);

  // Takes the facts of tensors that are read for something else; read() leaves these out.
  [[nodiscard]] const stats::ComputeOptions& scan_options() const override { return options_; }
  [[nodiscard]] bool wants(TensorId tensor) override;
  void take(TensorId tensor, const TensorNumbers& numbers) override;
  // Around such work: shows how far it is. May be null.
  void begin_scans(ProgressSink* progress);
  void end_scans();

  [[nodiscard]] bool has_digests() const { return wanted_.digests; }
  [[nodiscard]] bool has_read(TensorId tensor) const { return read_[tensor]; }
  [[nodiscard]] const TensorFacts& operator[](TensorId tensor) const { return facts_[tensor]; }
  [[nodiscard]] size_t count_read() const { return count_read_; }
  // Tensors among them without values: a row of checksums, or an empty row.
  [[nodiscard]] size_t count_without_values() const { return count_blind_; }
  [[nodiscard]] size_t count_mislabelled() const { return count_mislabelled_; }  // whose facts were dropped
  // The failures since the last call: each is kept once.
  [[nodiscard]] std::vector<Error> take_failures() { return std::exchange(failures_, {}); }

 private:
  void keep(TensorId tensor, const TensorNumbers& numbers);
  void read_elements(const std::vector<TensorId>& tensors, const RunContext& context);
  // `once`: no row is read again, so that each table is freed after its last one.
  Status read(std::span<const TensorId> tensors, const RunContext& context, bool once);
  void read_tables(const std::vector<TensorId>& tensors, const RunContext& context, bool once);
  Status read_parts(TensorId tensor, const RunContext& context);
  void drop_mislabelled(std::span<const TensorId> tensors);
  void keep_failure(TensorId tensor, Error&& error);

  const DumpIndex* index_;
  const std::vector<TensorRecord>* tensors_;
  StatisticTables tables_;
  FactsWanted wanted_;
  stats::ComputeOptions options_;
  std::mutex mutex_;  // of wants() and take()
  ProgressSink* scans_ = nullptr;
  std::vector<TensorFacts> facts_;  // by tensor
  SharedShapes shapes_;
  std::vector<bool> read_, distrusted_;
  std::vector<Error> failures_;
  size_t count_read_ = 0, count_blind_ = 0, count_mislabelled_ = 0;
};

}  // namespace msdump::check
