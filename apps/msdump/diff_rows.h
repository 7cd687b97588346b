// The rows of msdump diff, and its first_divergence, as machine output has them.
#pragma once

#include <vector>

#include "diff_run.h"
#include "report/row_sink.h"
#include "report/value.h"

namespace msdump::cli {

[[nodiscard]] std::vector<report::Column> diff_columns(const DiffRun& run);
[[nodiscard]] report::Object diff_row(const DiffRun& run, uint32_t tensor);
[[nodiscard]] report::Object metrics_object(const TensorDiff& diff);
[[nodiscard]] report::List divergences_value(const DiffRun& run);
// compared, a count per verdict, and the verdict over all.
[[nodiscard]] report::Object diff_summary(const DiffRun& run);
[[nodiscard]] Verdict verdict_over_all(const DiffRun& run);

}  // namespace msdump::cli
