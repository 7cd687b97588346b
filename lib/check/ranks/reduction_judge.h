// Verdicts on exchanges of values between ranks, and the judge of reductions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "check/checked_dump.h"
#include "check/ranks/collective_call.h"
#include "check/rules/rule_context.h"
#include "check/values/tensor_facts.h"
#include "io/run_context.h"

namespace msdump::check {

struct ExchangeVerdict {
  enum class Kind : uint8_t {
    kUnknown,
    kFits,      // the inputs prove the outputs
    kDiverged,  // ranks received different results
    kWrong,     // the outputs are not the result of the inputs
  };
  // The reason why there is no verdict, in ascending order of weight.
  enum class Obstacle : uint8_t {
    kInconclusive,  // consistent, but the values are too uniform to prove it
    kValues,        // values are not known, or prove nothing
    kEarly,         // may not have ended when it was dumped
    kOtherAxis,     // split along a dimension other than the first
    kIncomplete,    // ranks of the group are not in the dump
    kSharedMemory,  // the dumped input already has the values of the output
    kUnspecified,   // the root or the reduction is not known
  };
  Kind kind = Kind::kUnknown;
  Obstacle obstacle = Obstacle::kValues;  // of kUnknown
  bool proven = false;                    // holds even if the group is a guess
  bool only_rounding = false;             // of kDiverged
  std::vector<int64_t> faulty_ranks;      // empty: undetermined
  TensorId tensor;                        // a wrong output
  double value = 0;                       // the largest error
  std::string message;
};

[[nodiscard]] inline ExchangeVerdict unknown_verdict(ExchangeVerdict::Obstacle obstacle) {
  ExchangeVerdict verdict;
  verdict.obstacle = obstacle;
  return verdict;
}

// The outputs are the result of the inputs. `is_conclusive`: hardly any other inputs would have the same result.
[[nodiscard]] inline ExchangeVerdict fitting_verdict(bool is_conclusive) {
  ExchangeVerdict verdict;
  verdict.kind = is_conclusive ? ExchangeVerdict::Kind::kFits : ExchangeVerdict::Kind::kUnknown;
  verdict.obstacle = ExchangeVerdict::Obstacle::kInconclusive;
  return verdict;
}

// The worse verdict on two parts of an exchange; of equal ones the more conclusive.
[[nodiscard]] inline ExchangeVerdict worse(ExchangeVerdict a, ExchangeVerdict b) {
  return std::pair(b.kind, b.obstacle) > std::pair(a.kind, a.obstacle) ? std::move(b) : std::move(a);
}

// Judges AllReduce, Reduce and ReduceScatter: outputs must be the reduction of the inputs, and those of AllReduce equal bit
// by bit. From statistics, sums of means and bounds of extremes decide.
class ReductionJudge {
 public:
  // All arguments must outlive it.
  ReductionJudge(const RuleContext& context, const std::vector<CollectiveCall>& calls)
      : dump_(context.dump), facts_(context.facts), calls_(calls), cancel_(context.run.cancel) {}

  // Thread-safe, all of them.
  [[nodiscard]] ExchangeVerdict judge_all_reduce(const Exchange& exchange) const;
  // `root`: the member that gets the reduction; none: not known.
  [[nodiscard]] ExchangeVerdict judge_reduce(const Exchange& exchange, const std::optional<size_t>& root) const;
  [[nodiscard]] ExchangeVerdict judge_reduce_scatter(const Exchange& exchange) const;

 private:
  [[nodiscard]] const CollectiveCall& call(const Exchange& exchange, size_t member) const {
    return calls_[exchange.members[member]];
  }
  [[nodiscard]] ExchangeVerdict judge_equal_results(const Exchange& exchange, size_t part) const;
  [[nodiscard]] ExchangeVerdict judge_all_reduce(const Exchange& exchange, size_t part) const;
  [[nodiscard]] ExchangeVerdict judge_reduction(const Exchange& exchange, const std::vector<TensorId>& sources,
                                                const std::vector<size_t>& receivers,
                                                const std::vector<TensorId>& results) const;
  [[nodiscard]] ExchangeVerdict judge_by_elements(const Exchange& exchange, const std::vector<TensorId>& sources,
                                                  const std::vector<size_t>& receivers,
                                                  const std::vector<TensorId>& results) const;
  [[nodiscard]] bool proves_group(const Exchange& exchange, const std::vector<TensorId>& sources, size_t fitting) const;
  [[nodiscard]] bool got_like(const Exchange& exchange, size_t member, TensorId result) const;
  [[nodiscard]] ExchangeVerdict judge_by_statistics(const Exchange& exchange, const std::vector<TensorId>& sources,
                                                    TensorId result, size_t receiver) const;
  [[nodiscard]] bool shares_memory(const Exchange& exchange, size_t part) const;

  const CheckedDump& dump_;
  const FactsReader& facts_;
  const std::vector<CollectiveCall>& calls_;
  const CancelToken& cancel_;
};

}  // namespace msdump::check
