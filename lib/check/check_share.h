// A check that several processes share: which tensors stay together, and what is found out about some of them.
//
// A unit is
//   * what the ranks put into one exchange, and got from it;
//   * the tensors of an operator in all steps, since rules compare the steps of a weight, and on all ranks, since the same
//     tensor of two ranks is compared; of one rank alone where there would be too few units to share them evenly.
// What depends on the whole (the data flow, what is missing, tables, overflow records) is left to the run that judges.
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
[[nodiscard]] CheckUnits check_units(const CheckRun& run, uint32_t shards);

// Keeps in context.facts what the rules ask of the elements of these tensors. The run is of no further use.
[[nodiscard]] Status find_facts(CheckRun& run, const std::vector<bool>& tensors, const RunContext& context);

}  // namespace msdump::check
