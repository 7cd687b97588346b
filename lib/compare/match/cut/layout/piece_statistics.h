// PieceStatistics: the statistics of the tensors of several ranks, and which of these tensors may be equal by them.
//
// Of a tensor that has elements they are computed, which reads it once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "compare/match/read_failures.h"
#include "compare/statistics/statistic_tables.h"
#include "compare/statistics/statistic_values.h"
#include "dump/index/tensor_list.h"
#include "io/run_context.h"

namespace msdump {

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

}  // namespace msdump
