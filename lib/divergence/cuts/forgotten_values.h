// Values of runs that are cut differently which were compared although they need not be equal.
#pragma once

#include "divergence/runs/run_facts.h"

namespace msdump {

// Numbers of rows, experts and positions, and truth values about them, are those of a rank's own part: where it reads one,
// or follows from such numbers, and wherever both sides have parts of their own. Not where nearly all of them agree: then
// the others are wrong.
void forget_local_numbers(RunFacts& facts);

// A call that the reference alone has is not the candidate's fault. One of the candidate alone was paired with what goes
// into it: where that is something else, so is what comes out.
void forget_made_up(RunFacts& facts);

}  // namespace msdump
