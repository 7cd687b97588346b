// The search for the operator that was the first to make NaN or an infinity out of finite inputs, along the runs in
// their order (check/checked_dump.h): the first step that has one, and in it the first of each rank.
//
//   1. The outputs of runs are read in batches, up to the first bad one (check/values/health.h). The inputs of that run
//      decide whether it made the value or where the value came from (check/first/nonfinite_cause.h).
//   2. If all outputs of a step are good, its inputs are read, then the parameters: their files are written at the end
//      of the step.
// An operator that computes is named before a collective of another rank: a NaN of one rank reaches the others through
// an AllReduce. If only collectives have one, the answer is followed to the rank that put it in (check/ranks/
// nonfinite_spread.h), and the reason says which ranks got it from the operator that made it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "check/checked_dump.h"
#include "check/nonfinite/nonfinite.h"
#include "check/values/tensor_facts.h"

namespace msdump::check {

struct FirstNonfinite {
  enum class Kind : uint8_t { kNan, kInf, kOverflow, kInput, kParameter };
  Kind kind = Kind::kNan;
  uint32_t run = kNone;                   // kNone: a parameter that no run reads
  uint32_t op = kNone;                    // CheckedDump::operators()
  uint32_t tensor = kNone;                // the bad output; if the value came in, the bad input
  std::optional<bool> inputs_finite;      // no value: none was dumped, or one could not be read
  std::string parameter;                  // kInput, kParameter: its name, if known
  std::vector<uint32_t> inputs, outputs;  // of the run, if they were dumped
  std::string reason;
};
[[nodiscard]] std::string_view name_of(FirstNonfinite::Kind kind);  // "nan", ...

// Searches the runs of `chosen` tensors and reads what it needs. No value if nothing is bad; an error only when
// interrupted.
Result<std::optional<FirstNonfinite>> find_first_nonfinite(const CheckedDump& dump, const std::vector<bool>& chosen,
                                                           FactsReader& facts, const RunContext& context);

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
