// Did an exchange give each rank what the ranks of its group put in?
//
//   AllReduce, ReduceScatter, Reduce   the reduction (reduction_check.h); the ranks of an AllReduce got the same, bit by bit
//   AllGather, Gather, Scatter, Broadcast, AllToAll, Send and Receive   copies, bit by bit
// The dump cannot tell, and nothing is said: of an exchange that may not have been complete when it was dumped; where what
// went in shows what came out (the memory is shared); where ranks of the group were not dumped, but for a comparison of
// their results. From statistics: sums of means, bounds of extremes, equal numbers of copies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "check/checked_dump.h"
#include "check/ranks/exchange.h"
#include "check/values/facts_reader.h"
#include "io/cancel.h"

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

class ExchangeJudge {
 public:
  // All arguments must outlive it.
  ExchangeJudge(const CheckedDump& dump, const FactsReader& facts, const std::vector<CollectiveCall>& calls,
                const CancelToken& cancel)
      : dump_(dump), facts_(facts), calls_(calls), cancel_(cancel) {}

  // Thread-safe. A tensor that cannot be read leaves the exchange unknown.
  [[nodiscard]] ExchangeVerdict judge(const Exchange& exchange) const;

 private:
  struct Copy {  // of what one member put in, at another
    size_t from = 0, to = 0;
    uint32_t put = kNone, got = kNone;
  };

  [[nodiscard]] const CollectiveCall& call(const Exchange& exchange, size_t member) const {
    return calls_[exchange.members[member]];
  }
  [[nodiscard]] std::optional<ExchangeVerdict::Obstacle> obstacle_of(const Exchange& exchange) const;
  [[nodiscard]] std::optional<size_t> root_of(const Exchange& exchange) const;
  [[nodiscard]] std::optional<std::vector<Copy>> copies_of(const Exchange& exchange) const;
  [[nodiscard]] ExchangeVerdict judge_copies(const Exchange& exchange, const std::vector<Copy>& copies) const;
  [[nodiscard]] ExchangeVerdict judge_equal_results(const Exchange& exchange, size_t part) const;
  [[nodiscard]] ExchangeVerdict judge_all_reduce(const Exchange& exchange, size_t part) const;
  [[nodiscard]] ExchangeVerdict judge_reduction(const Exchange& exchange, const std::vector<uint32_t>& sources,
                                                const std::vector<size_t>& receivers,
                                                const std::vector<uint32_t>& results) const;
  [[nodiscard]] ExchangeVerdict judge_by_statistics(const Exchange& exchange, const std::vector<uint32_t>& sources,
                                                    uint32_t result, size_t receiver) const;
  [[nodiscard]] ExchangeVerdict judge_reduce_scatter(const Exchange& exchange) const;
  [[nodiscard]] ExchangeVerdict judge_parts(const Exchange& exchange) const;
  [[nodiscard]] bool shares_memory(const Exchange& exchange, size_t part) const;

  const CheckedDump& dump_;
  const FactsReader& facts_;
  const std::vector<CollectiveCall>& calls_;
  const CancelToken& cancel_;
};

}  // namespace msdump::check
