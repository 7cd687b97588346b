// FactsReader: the facts of the tensors of a dump, read once, on demand: all of them in one pass, or the few that a
// search needs. From the elements if there are any, else from the row of a table.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "check/values/tensor_facts.h"
#include "compare/statistics/statistic_tables.h"
#include "dump/index/dump_index.h"
#include "dump/index/shared_shapes.h"
#include "dump/index/tensor_list.h"
#include "io/cancel.h"
#include "io/run_context.h"

namespace msdump::check {

// What costs more than a pass over the elements.
struct FactsWanted {
  bool mean_abs = false, digests = false;
};

class FactsReader {
 public:
  // The list and the index must outlive it.
  FactsReader(const DumpIndex& index, const std::vector<TensorRecord>& tensors, const FactsWanted& wanted);

  // Other tensors are never read: the user asked for a part of the dump.
  void limit_to(const std::vector<bool>& tensors);

  // Drops the facts of these tensors if the file says float16 (graph/join/mislabelled.h).
  void distrust_float16(std::vector<bool> tensors) { distrusted_ = std::move(tensors); }

  // Reads those that were not read yet. An error only when interrupted; a tensor that cannot be read is a failure, and
  // its facts stay unknown.
  Status read(std::span<const uint32_t> tensors, const RunContext& context);
  Status read_all(const RunContext& context);

  [[nodiscard]] bool has_digests() const { return wanted_.digests; }
  [[nodiscard]] bool has_read(uint32_t tensor) const { return read_[tensor]; }
  [[nodiscard]] const TensorFacts& operator[](uint32_t tensor) const { return facts_[tensor]; }
  [[nodiscard]] size_t count_read() const { return count_read_; }
  // Those among them without values: a row of checksums, or an empty one.
  [[nodiscard]] size_t count_without_values() const { return count_blind_; }
  [[nodiscard]] size_t count_mislabelled() const { return count_mislabelled_; }  // whose facts were dropped
  // The failures since the last call: each is kept once.
  [[nodiscard]] std::vector<Error> take_failures() { return std::exchange(failures_, {}); }

 private:
  void read_elements(const std::vector<uint32_t>& tensors, const RunContext& context);
  void read_tables(const std::vector<uint32_t>& tensors, const RunContext& context);
  Status read_parts(uint32_t tensor, const RunContext& context);
  void drop_mislabelled(std::span<const uint32_t> tensors);
  void keep_failure(uint32_t tensor, Error&& error);

  const DumpIndex* index_;
  const std::vector<TensorRecord>* tensors_;
  StatisticTables tables_;
  FactsWanted wanted_;
  std::vector<TensorFacts> facts_;  // by tensor
  SharedShapes shapes_;
  std::vector<bool> read_, distrusted_;
  std::vector<Error> failures_;
  size_t count_read_ = 0, count_blind_ = 0, count_mislabelled_ = 0;
};

}  // namespace msdump::check
