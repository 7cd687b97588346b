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
#include "check/values/facts_reader.h"

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

}  // namespace msdump::check
