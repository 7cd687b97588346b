// A collective of one side alone: what it reads is what another call wrote, and its partner is the value of the other side
// that goes into it. Whatever it does to the pieces, the whole stays the same.
#pragma once

#include "compare/match/cut/cut_match.h"

namespace msdump {

// Adds these partners to the pairing. An error when interrupted or when a tensor cannot be read.
Status pair_collectives(CutMatch& match);

}  // namespace msdump
