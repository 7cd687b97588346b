// Edges of the data flow by the contents of tensors, where no IR has them: an input that equals an earlier output of its rank
// and step was made there.
#pragma once

#include <vector>

#include "graph/flow/run_graph.h"

namespace msdump {

// Enters what made an input into RunInput::made_by, made_as and also_made_by, for all but parameters; false if none was
// found. Costs a look-up for each tensor.
bool add_content_edges(const RunSource& source, std::vector<OpRun>& runs);

}  // namespace msdump
