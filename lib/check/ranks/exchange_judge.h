// Judges whether an exchange gave each rank what the ranks of its group sent.
//
//   AllReduce, ReduceScatter, Reduce   the reduction (reduction_judge.h)
//   AllGather, Gather, Scatter, Broadcast, AllToAll, Send and Receive   copies, bit by bit
// Statistics give weaker proofs: sums of means, bounds of extremes, equal numbers of copies. ExchangeVerdict::Obstacle lists
// the reasons for no verdict. If ranks of a group were not dumped, the results of the others are still compared.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "check/checked_dump.h"
#include "check/ranks/collective_call.h"
#include "check/ranks/reduction_judge.h"
#include "check/values/tensor_facts.h"
#include "io/run_context.h"

namespace msdump::check {

class ExchangeJudge {
 public:
  // All arguments must outlive it.
  ExchangeJudge(const RuleContext& context, const std::vector<CollectiveCall>& calls)
      : dump_(context.dump),
        facts_(context.facts),
        calls_(calls),
        cancel_(context.run.cancel),
        reductions_(context, calls) {}

  // Thread-safe. A tensor that cannot be read leaves the exchange unknown.
  [[nodiscard]] ExchangeVerdict judge(const Exchange& exchange) const;

 private:
  struct Copy {  // of a tensor that one member sent, at another
    size_t from = 0, to = 0;
    TensorId sent, received;
  };

  [[nodiscard]] const CollectiveCall& call(const Exchange& exchange, size_t member) const {
    return calls_[exchange.members[member]];
  }
  [[nodiscard]] std::optional<ExchangeVerdict::Obstacle> obstacle_of(const Exchange& exchange) const;
  [[nodiscard]] std::optional<size_t> root_of(const Exchange& exchange) const;
  [[nodiscard]] std::optional<std::vector<Copy>> copies_of(const Exchange& exchange) const;
  [[nodiscard]] ExchangeVerdict judge_copies(const Exchange& exchange, const std::vector<Copy>& copies) const;
  [[nodiscard]] ExchangeVerdict judge_parts(const Exchange& exchange) const;

  const CheckedDump& dump_;
  const FactsReader& facts_;
  const std::vector<CollectiveCall>& calls_;
  const CancelToken& cancel_;
  const ReductionJudge reductions_;
};

}  // namespace msdump::check
