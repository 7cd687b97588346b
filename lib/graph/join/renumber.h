// The numbers that operators have in file names, where these are not those of the IR.
//
// MindSpore 2.7 and later writes graphs/*.ir and *.pb beside a dump before it renumbers the kernels of all graphs.
// The rule: graphs in ascending id, in each the nodes in the order of the IR, every node that has a name, virtual ones
// too; one counter for each text before "-op", for the whole process. All graphs of the process must be there.
// Source: reference/verified-on-real-mindspore.md 1.1, proved there by the bytes along the data flow.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/op_graph.h"

namespace msdump {

// By operator: the new number; kNoIndex where the name stays as it is (no number in it, or not OriginPlace::kDump).
// Processes are distinguished by their rank and by the folder of their IR: one for each of several dumps.
[[nodiscard]] std::vector<uint32_t> renumbered(const OpGraph& graph);

}  // namespace msdump
