// NaN and infinities on their way between ranks: which rank put one into a collective, and which ranks got it from there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "check/checked_dump.h"
#include "check/ranks/exchange.h"
#include "check/values/facts_reader.h"
#include "io/run_context.h"

namespace msdump::check {

class NonfiniteSpread {
 public:
  // All arguments must outlive it. The calls are collected on first use.
  NonfiniteSpread(const CheckedDump& dump, FactsReader& facts, const RunContext& context)
      : dump_(dump), facts_(facts), context_(context) {}

  // The run of the same collective on the first rank of the group that put in what is not finite; kNone: none is known.
  Result<uint32_t> source_of(uint32_t run);
  // "Distributed.all_reduce.0.forward passes it on to ranks 0, 2": the first collective of the same rank and step after a
  // run that had such an input; empty: none.
  Result<std::string> passed_on(uint32_t run);

 private:
  const JoinedCalls& joined();
  [[nodiscard]] uint32_t run_of(const CollectiveCall& call) const;
  Result<bool> puts_nonfinite(const CollectiveCall& call);

  const CheckedDump& dump_;
  FactsReader& facts_;
  const RunContext& context_;
  std::optional<JoinedCalls> joined_;
};

}  // namespace msdump::check
