// What readers show of the outputs of a run: an output that differs although every run that reads it got what it needed is
// not what was passed on.
#pragma once

#include <cstdint>
#include <vector>

#include "divergence/runs/run_facts.h"

namespace msdump {

struct PassedOn {
  std::vector<bool> right;   // by tensor: it differs, and what was passed on does not
  std::vector<bool> mended;  // by tensor: what reads it got much less of the error
  // By run: more than a few outputs from it on, of its step and pass, differ; of an update, those of the next step.
  std::vector<bool> differs_after;

  // Of runs that are cut differently: does every output of the run differ, and did no reader get what differs?
  [[nodiscard]] bool heals(const RunFacts& facts, uint32_t run) const;
  // Of such runs, where each rank may compute with parts in its own way: do all outputs agree, or what was passed on?
  [[nodiscard]] bool evens_out(const RunFacts& facts, uint32_t run) const;
};

// Forgets what differs in its layout alone, as its readers show. Linear in the runs and their tensors.
[[nodiscard]] PassedOn passed_on(RunFacts& facts);

}  // namespace msdump
