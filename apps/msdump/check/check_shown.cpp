#include "check/check_shown.h"

#include <algorithm>

#include "check/values/value_rules.h"

namespace msdump::cli {
namespace {

constexpr size_t kRowsShown = 40;

// An input that is not finite, of which the table has the output that it was.
bool repeats_its_maker(const OpenedCheck& run, const check::Finding& finding) {
  const bool special =
      finding.kind == check::info(check::RuleId::kNan).name || finding.kind == check::info(check::RuleId::kInf).name;
  if (!special || finding.tensor == check::kNone || run.runs->role(finding.tensor) != check::Role::kInput) return false;
  const uint32_t of = run.runs->run_of(finding.tensor);
  if (of == check::kNone) return false;
  for (const check::RunInput& input : run.runs->runs()[of].inputs) {
    if (input.tensor == finding.tensor && input.made_as != check::kNone) return true;
  }
  // Without a flow: something before it was not finite already.
  return !run.runs->has_flow() && run.report.first && run.report.first->tensor != finding.tensor &&
         !run.runs->runs()[of].outputs.empty();
}

}  // namespace

ShownFindings shown_findings(const OpenedCheck& run, const ShownKinds& kinds) {
  const bool every = !kinds.table || kinds.all;
  ShownFindings shown;
  for (const check::Finding& finding : run.report.findings) {
    if (!every && !kinds.with_notes && finding.severity == check::Severity::kNote) continue;
    if (!every && repeats_its_maker(run, finding)) {
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
