// Which findings msdump check prints. A machine gets all of them in their order; the table has the worst first, forty at
// most, notes only where they were asked for, and nothing that another of its rows tells.
#pragma once

#include <cstddef>
#include <vector>

#include "check/check_run.h"

namespace msdump::cli {

struct ShownFindings {
  std::vector<const check::Finding*> rows;
  size_t more = 0, inputs = 0;  // left out: for their number, and because they repeat what another row says
};
struct ShownKinds {
  bool table = true;
  bool all = false;         // the table has every finding, too
  bool with_notes = false;  // the table has notes, too
};
[[nodiscard]] ShownFindings shown_findings(const check::CheckRun& run, const ShownKinds& kinds);

}  // namespace msdump::cli
