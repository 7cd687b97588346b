// Why is a run bad (check/values/health.h)? It made NaN or an infinity itself, or got it from somewhere.
//
//   its inputs are good                it made the value itself
//   an input is bad, its producer too  the question goes on to the producer
//   an input is bad                    the value came in: from a parameter, an input of the network, or something that
//                                      was not dumped or not requested
// Outputs that were not dumped, or cannot be read, are taken from what others read of them.
//
// An answer is uncertain if the dump contradicts itself (an input is bad although its producer's output is not: the IR
// is that of another run, or files were changed), if operators read each other in a circle, and if the order of the
// operators is unknown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "check/checked_dump.h"
#include "check/first/first_nonfinite.h"
#include "check/values/facts_reader.h"
#include "check/values/health.h"

namespace msdump::check {

struct Cause {
  FirstNonfinite found;
  bool certain = true;
};

class CauseFinder {
 public:
  // `asked`: by run. All arguments must outlive it.
  CauseFinder(const CheckedDump& dump, FactsReader& facts, const RunContext& context, const std::vector<bool>& asked)
      : dump_(dump), facts_(facts), context_(context), asked_(asked), health_(dump, facts) {}

  // The tensors that show the results of a run: its outputs; for missing or unreadable outputs what others read of
  // them; without either its inputs.
  [[nodiscard]] std::vector<uint32_t> judged_of(uint32_t run) const;
  // Errors only when interrupted.
  Result<bool> is_bad(uint32_t run);
  Result<Cause> explain(uint32_t run);
  // Are all its inputs known, and none of them bad?
  Result<bool> has_good_inputs(uint32_t run);
  // Is an input bad, whatever its outputs are?
  [[nodiscard]] const RunInput* bad_input(uint32_t run) const;
  Result<FirstNonfinite> entered(uint32_t run, const RunInput& bad);

 private:
  [[nodiscard]] const RunInput* infinite_input(uint32_t run) const;  // of the network, with -inf among its values
  [[nodiscard]] bool is_bad_input(const RunInput& input) const;
  [[nodiscard]] bool is_empty(uint32_t tensor) const;  // without elements
  [[nodiscard]] bool is_lost(uint32_t output) const { return facts_.has_read(output) && !facts_[output].known(); }
  [[nodiscard]] FirstNonfinite start(uint32_t run) const;
  [[nodiscard]] FirstNonfinite root(uint32_t run) const;
  [[nodiscard]] std::string hidden_before(uint32_t run) const;
  Result<uint32_t> module_parameter_like(uint32_t tensor);

  const CheckedDump& dump_;
  FactsReader& facts_;
  const RunContext& context_;
  const std::vector<bool>& asked_;
  const HealthJudge health_;
};

}  // namespace msdump::check
