// Which findings msdump check prints. Machine output has all of them in their order. The table has the worst first, at
// most forty, notes only on request, and no row that repeats another.
#pragma once

#include <cstddef>
#include <vector>

#include "check/check_run.h"

namespace msdump::cli {

struct ShownFindings {
  std::vector<const check::Finding*> rows;
  size_t more = 0, inputs = 0;  // left out: beyond the number, or because another row says the same
};
struct ShownKinds {
  bool table = true;
  bool all = false;         // the table has every finding
  bool with_notes = false;  // the table has notes
};
[[nodiscard]] ShownFindings shown_findings(const check::CheckRun& run, const ShownKinds& kinds);

}  // namespace msdump::cli
