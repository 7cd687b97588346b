#include "check/ranks/nonfinite_spread.h"

#include <algorithm>

#include <fmt/format.h>

#include "check/ranks/rank_values.h"

namespace msdump::check {

const JoinedCalls& NonfiniteSpread::joined() {
  if (!joined_) joined_.emplace(dump_);
  return *joined_;
}

uint32_t NonfiniteSpread::run_of(const CollectiveCall& call) const {
  for (const std::vector<uint32_t>* const tensors : {&call.put, &call.got}) {
    for (const uint32_t tensor : *tensors) {
      if (dump_.run_of(tensor) != kNone) return dump_.run_of(tensor);
    }
  }
  return kNone;
}

Result<bool> NonfiniteSpread::puts_nonfinite(const CollectiveCall& call) {
  MSDUMP_CHECK_OK(facts_.read(call.put, context_));
  return std::any_of(call.put.begin(), call.put.end(),
                     [&](uint32_t tensor) { return facts_[tensor].known() && !facts_[tensor].is_finite(); });
}

Result<uint32_t> NonfiniteSpread::source_of(uint32_t run) {
  const auto& [calls, exchanges] = joined();
  for (const Exchange& exchange : exchanges) {
    const bool here = std::any_of(exchange.members.begin(), exchange.members.end(),
                                  [&calls = calls, run, this](size_t member) { return run_of(calls[member]) == run; });
    if (!here) continue;
    for (const size_t member : exchange.members) {
      MSDUMP_TRY(const bool bad, puts_nonfinite(calls[member]));
      if (bad) return run_of(calls[member]);
    }
    return kNone;
  }
  return kNone;
}

Result<std::string> NonfiniteSpread::passed_on(uint32_t run) {
  const auto& [calls, exchanges] = joined();
  const RunPlace& place = dump_.runs()[run].place;
  const Exchange* first = nullptr;
  uint32_t first_run = kNone;
  for (const Exchange& exchange : exchanges) {
    for (const size_t member : exchange.members) {
      const CollectiveCall& call = calls[member];
      const uint32_t at = run_of(call);
      const bool later = at != kNone && at > run && at < first_run;
      if (!later || place.rank != call.rank || place.step != call.step) continue;
      MSDUMP_TRY(const bool bad, puts_nonfinite(call));
      if (!bad) continue;
      first = &exchange;
      first_run = at;
    }
  }
  if (first == nullptr) return std::string();
  std::vector<int64_t> others = first->ranks;
  std::erase(others, place.rank.value_or(-1));
  return fmt::format("{} passes it on to {}", dump_.operators()[dump_.runs()[first_run].op].name,
                     ranks_text(std::move(others)));
}

}  // namespace msdump::check
