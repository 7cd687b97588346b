// Objects of outputs that were computed again, in the documents of check and diff.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frame/options.h"
#include "recompute/recompute.h"
#include "report/page/page.h"
#include "report/row_type.h"

namespace msdump::cli {

// --recompute[=all|sample].
[[nodiscard]] Option recompute_option(recompute::Extent& extent, std::string_view group, std::string help,
                                      std::vector<OptionRule> excludes);

// How many operators were computed again, and why the others were not; null if none was asked.
[[nodiscard]] const report::ObjectType& recompute_summary_type();
[[nodiscard]] report::Value recompute_summary(const recompute::RecomputeCounts& counts);

// The judgement of an output, after the keys that say which it is.
[[nodiscard]] const report::ObjectType& recomputed_output_type();
// `place`: op_name, op_type, rank, step and slot.
[[nodiscard]] report::Object recomputed_output(report::Object place, const recompute::OutputJudgement& output,
                                               const std::vector<recompute::AskedArgument>& asked);

// Adds facts of a wrong output to a cause of the page: the worst element, the mistake that explains it, the arguments, the region.
void add_wrong_output(const recompute::OutputJudgement& output, const std::vector<recompute::AskedArgument>& asked,
                      report::PageCause& cause);

}  // namespace msdump::cli
