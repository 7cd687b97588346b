// The tensors of both sides as wholes, put together from their pieces by the layouts that were found. Of copies that are not
// equal, the one that is furthest from the reference is compared.
#pragma once

#include "compare/match/cut/cut_match.h"

namespace msdump {

// Writes the pieces into the sides, and PairedCuts::notes. An error when interrupted.
Status put_together(CutMatch& match);

}  // namespace msdump
