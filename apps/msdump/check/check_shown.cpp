#include "check/check_shown.h"

#include <algorithm>

namespace msdump::cli {
namespace {

constexpr size_t kRowsShown = 40;

}  // namespace

ShownFindings shown_findings(const check::CheckRun& run, const ShownKinds& kinds) {
  const bool every = !kinds.table || kinds.all;
  ShownFindings shown;
  for (const check::Finding& finding : run.report.findings) {
    if (!every && !kinds.with_notes && finding.severity == check::Severity::kNote) continue;
    if (!every && run.repeats_its_maker(finding)) {
      ++shown.inputs;
    } else {
      shown.rows.push_back(&finding);
    }
  }
  if (!kinds.table) return shown;
  std::stable_sort(shown.rows.begin(), shown.rows.end(),
                   [](const check::Finding* a, const check::Finding* b) { return a->severity > b->severity; });
  if (every || shown.rows.size() <= kRowsShown) return shown;
  shown.more = shown.rows.size() - kRowsShown;
  shown.rows.resize(kRowsShown);
  return shown;
}

}  // namespace msdump::cli
