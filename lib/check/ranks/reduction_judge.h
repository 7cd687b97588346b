// Did the ranks of AllReduce, Reduce and ReduceScatter get the reduction of what they put in (reduction_check.h), and those
// of AllReduce the same, bit by bit? From statistics: by sums of means and bounds of extremes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "check/checked_dump.h"
#include "check/ranks/exchange.h"
#include "check/ranks/exchange_verdict.h"
#include "check/values/facts_reader.h"
#include "io/cancel.h"

namespace msdump::check {

class ReductionJudge {
 public:
  // All arguments must outlive it.
  ReductionJudge(const CheckedDump& dump, const FactsReader& facts, const std::vector<CollectiveCall>& calls,
                 const CancelToken& cancel)
      : dump_(dump), facts_(facts), calls_(calls), cancel_(cancel) {}

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
  [[nodiscard]] ExchangeVerdict judge_reduction(const Exchange& exchange, const std::vector<uint32_t>& sources,
                                                const std::vector<size_t>& receivers,
                                                const std::vector<uint32_t>& results) const;
  [[nodiscard]] ExchangeVerdict judge_by_elements(const Exchange& exchange, const std::vector<uint32_t>& sources,
                                                  const std::vector<size_t>& receivers,
                                                  const std::vector<uint32_t>& results) const;
  [[nodiscard]] bool proves_group(const Exchange& exchange, const std::vector<uint32_t>& sources, size_t fitting) const;
  [[nodiscard]] bool got_like(const Exchange& exchange, size_t member, uint32_t result) const;
  [[nodiscard]] ExchangeVerdict judge_by_statistics(const Exchange& exchange, const std::vector<uint32_t>& sources,
                                                    uint32_t result, size_t receiver) const;
  [[nodiscard]] bool shares_memory(const Exchange& exchange, size_t part) const;

  const CheckedDump& dump_;
  const FactsReader& facts_;
  const std::vector<CollectiveCall>& calls_;
  const CancelToken& cancel_;
};

}  // namespace msdump::check
