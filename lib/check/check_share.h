// A check that several processes share: which tensors stay together, and what is found out about some of them.
//
// A unit is the tensors of one operator name in all steps, since rules compare the steps of a weight; of one rank, but of
// all ranks for an operator that exchanges values between them. What depends on the whole (the data flow, what is missing, tables, overflow records) is
// left to the run that judges.
#pragma once

#include <cstdint>
#include <vector>

#include "check/check_run.h"
#include "io/run_context.h"

namespace msdump::check {

struct CheckUnits {
  std::vector<uint64_t> bytes;  // by unit
  std::vector<uint32_t> of;     // by tensor; kNone where nothing is read
};
[[nodiscard]] CheckUnits check_units(const CheckRun& run);

// Keeps in context.facts what the rules ask of the elements of these tensors. The run is of no further use.
[[nodiscard]] Status find_facts(CheckRun& run, const std::vector<bool>& tensors, const RunContext& context);

}  // namespace msdump::check
