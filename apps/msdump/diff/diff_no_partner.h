// Why a tensor of one side has no partner on the other, in words:
//
//   1. the other side's file of it cannot be read: the pair is skipped, not unmatched
//   2. the other side has no such rank, or no such step
//   3. the operator has no partner: the nearest name there
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "diff/diff_result.h"

namespace msdump::cli {

class NoPartner {
 public:
  NoPartner(const DiffResult& run, WorkerPool& pool);

  // Of a pair with one tensor.
  [[nodiscard]] TensorDiff explain(const TensorPair& pair) const;

 private:
  using Number = std::optional<int64_t>;
  // Rank, step, op type, op name, io and slot, by the file's name; io and slot empty: it holds all of the operator.
  using FileKey = std::tuple<Number, Number, std::string, std::string, std::optional<Io>, std::string>;

  struct Other {
    std::string_view called;
    std::set<Number> ranks, steps;
    std::map<FileKey, std::string> unreadable;  // with the message
  };
  static Other other_side(std::string_view called, const DiffSide& side);
  static const std::string* unreadable_in(const Other& there, const Identity& identity);

  const DiffResult& run_;
  std::vector<uint32_t> nearest_;  // by operator: of the other side, or kNoOperator
  Other a_, b_;
};

}  // namespace msdump::cli
