// What one side computes in other calls than the other side: t, matmul and add against linear, mean of a masked loss against
// cross_entropy. Between two operators that have partners, the tensors of the candidate's calls without a partner are paired
// by their values with those of the reference's calls, whatever the calls are. The loss, which is one number, is paired
// also where it differs: it is what the last forward calls leave.
//
// Cost: a bounded number of trials for a call and for a run.
#pragma once

#include "compare/match/cut/cut_match.h"

namespace msdump {

// Adds these partners to the pairing. An error when interrupted.
Status pair_value_twins(CutMatch& match);

}  // namespace msdump
