// The calls that may be to blame in the place of a root where runs are cut differently: each way of cutting has calls of its
// own, with which nothing can be compared. Between the last values that agree and the first that does not lies a chain of
// them.
#pragma once

#include <vector>

#include "divergence/divergence.h"
#include "divergence/runs/run_view.h"

namespace msdump {

// Sets Divergence::chain, the nearest first, to the calls of the candidate alone
//
//   that made what a root reads, where one side alone has the root or nothing is known of what it reads; where an edge is
//   not known, those right before. Of what both sides wrote and is wrong since: those after the writer, too
//   that a module ends with, where it is a root although nothing inside it is
//   between a root and the run whose input shows what it has made; and what made those of its inputs that were not compared
void find_chains(const RunView& view, std::vector<Divergence>& roots);

}  // namespace msdump
