// The root where no operator stands out: the line of the script with most calls that only one side has.
#pragma once

#include "divergence/dump_diff.h"

namespace msdump {

// Adds it to the roots where there are none, unless a graph shows the data flow: a graph says better what lies between two
// values, and releases of a framework have other kernels.
void blame_one_sided_line(DiffResult& run);

}  // namespace msdump
