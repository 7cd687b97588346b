// What can be said of an exchange of values between ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "check/checked_dump.h"
#include "check/ranks/collective_call.h"
#include "check/rules/finding.h"
#include "check/values/tensor_facts.h"
#include "io/run_context.h"

namespace msdump::check {

struct ExchangeVerdict {
  enum class Kind : uint8_t {
    kUnknown,
    kFits,   // what came out is proven by what went in
    kApart,  // ranks got different results
    kWrong,  // what came out is not what went in
  };
  // What is in the way of a verdict, the least first.
  enum class Obstacle : uint8_t {
    kConstant,    // nothing: what came out fits, but many other values would, zeros for example
    kValues,      // they are not known, or tell nothing
    kEarly,       // it may not have ended when it was dumped
    kOtherAxis,   // parts are cut along a dimension other than the first
    kIncomplete,  // ranks of the group are not in the dump
    kShared,      // what went in shows what came out
    kUnsaid,      // which rank, or which reduction, is not said or not known
  };
  Kind kind = Kind::kUnknown;
  Obstacle obstacle = Obstacle::kValues;  // of kUnknown
  bool proven = false;                    // also if the group is a guess
  bool only_rounding = false;             // kApart
  std::vector<int64_t> odd;               // the ranks that it lies on; empty: nobody can tell
  uint32_t tensor = kNone;                // that shows it
  double value = 0;                       // the largest error
  std::string message;
};

[[nodiscard]] inline ExchangeVerdict unknown_verdict(ExchangeVerdict::Obstacle obstacle) {
  ExchangeVerdict verdict;
  verdict.obstacle = obstacle;
  return verdict;
}

// What came out is what went in; `telling`: and hardly anything else would be.
[[nodiscard]] inline ExchangeVerdict fitting_verdict(bool telling) {
  ExchangeVerdict verdict;
  verdict.kind = telling ? ExchangeVerdict::Kind::kFits : ExchangeVerdict::Kind::kUnknown;
  verdict.obstacle = ExchangeVerdict::Obstacle::kConstant;
  return verdict;
}

// Of the parts of an exchange the one that tells more, and the worse.
[[nodiscard]] inline ExchangeVerdict worse(ExchangeVerdict a, ExchangeVerdict b) {
  return std::pair(b.kind, b.obstacle) > std::pair(a.kind, a.obstacle) ? std::move(b) : std::move(a);
}

// Did the ranks of AllReduce, Reduce and ReduceScatter get the reduction of what they put in (reduction_check.h), and those
// of AllReduce the same, bit by bit? From statistics: by sums of means and bounds of extremes.

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
