// Why a tensor of one dump has no partner in the other, in words:
//
//   1. the other side's file of it cannot be read: the pair is skipped, not unmatched
//   2. the other side has no such rank, or no such step
//   3. a compiler for the device made something else of the operators: skipped, with what it did (Alone)
//   4. the operator has no partner: what the operator of its name there is paired with, else the nearest name there
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "compare/match/pairing.h"
#include "compare/pair/tensor_diff.h"
#include "io/worker_pool.h"

namespace msdump {

class NoPartner {
 public:
  // `failures`: of each side's list of tensors. The arguments must outlive this.
  NoPartner(const CompareSide& a, const std::vector<Error>& failures_a, const CompareSide& b,
            const std::vector<Error>& failures_b, const Pairing& pairing, WorkerPool& pool);

  // Of a pair with one tensor. Thread-safe.
  [[nodiscard]] TensorDiff explain(const TensorPair& pair) const;

 private:
  using Number = std::optional<int64_t>;
  // Rank, step, op type, op name, io and slot, by the file's name; without io and slot it holds all of the operator.
  using FileKey = std::tuple<Number, Number, std::string, std::string, std::optional<Io>, std::string>;

  struct Other {
    std::string_view called;
    std::set<int64_t> ranks, steps;
    std::map<FileKey, std::string> unreadable;                     // with the message
    std::map<std::pair<Number, std::string>, uint32_t> operators;  // that have a partner, by rank and name
  };
  [[nodiscard]] Other other_side(std::string_view called, const CompareSide& side, const std::vector<Error>& failures,
                                 bool is_a) const;
  static const std::string* unreadable_in(const Other& there, const Identity& identity);
  [[nodiscard]] bool several_ranks() const { return candidate_.ranks.size() > 1 || reference_.ranks.size() > 1; }
  // Of a tensor that is alone for a known reason.
  [[nodiscard]] std::string known_reason(const TensorPair& pair) const;
  [[nodiscard]] std::string hint(const Other& there, uint32_t op, bool only_a) const;

  const CompareSide &a_, &b_;
  const Pairing& pairing_;
  std::vector<uint32_t> nearest_;  // by Pairing::operators: an operator of the other side, or kNoOperator
  Other candidate_, reference_;
};

}  // namespace msdump
