// The rows, the summary and the first operator of msdump check, for machine output and tables.
#pragma once

#include <vector>

#include "check/check.h"
#include "check/trend.h"
#include "report/row_type.h"
#include "shared/opened_graph.h"

namespace msdump::cli {

[[nodiscard]] report::Row finding_row(const check::CheckRun& run, const check::Finding& finding);
[[nodiscard]] std::vector<report::Column> finding_columns(const check::CheckRun& run);
[[nodiscard]] report::Object check_summary(const check::CheckRun& run);
// null, or op_name, op_type, rank, graph, step, order, source, stack, kind, io, slot, path, inputs_finite, reason, inputs,
// outputs.
[[nodiscard]] report::Value first_value(const check::CheckRun& run);
// The first divergence between ranks, or null.
[[nodiscard]] report::Value first_divergence_value(const check::CheckRun& run);
// The outputs that are not what their operators' inputs lead to.
[[nodiscard]] report::List wrong_outputs_value(const check::CheckRun& run);
// The outputs of --golden and --standard.
[[nodiscard]] report::List golden_value(const check::CheckRun& run);
[[nodiscard]] std::vector<report::Object> check_failure_objects(const OpenedGraph& opened, const check::CheckRun& run);

// --trend: a row per tensor and step.
[[nodiscard]] report::Row trend_row(const check::CheckRun& run, TensorId tensor);
[[nodiscard]] std::vector<report::Column> trend_columns(const check::CheckRun& run);
// The same for a table: a row per tensor, with its first and last norm and a sparkline over the steps.
[[nodiscard]] report::Row trend_line(const check::CheckRun& run, const check::TrendSeries& series);
[[nodiscard]] std::vector<report::Column> trend_line_columns(const check::CheckRun& run);

// --list-rules.
struct RuleRow {
  const check::RuleInfo& rule;
  const check::RuleSet& rules;
};
[[nodiscard]] const report::RowType<RuleRow>& rule_rows();

// The keys of the above.
[[nodiscard]] const report::ObjectType& finding_type();
[[nodiscard]] const report::ObjectType& check_summary_type();
[[nodiscard]] const report::ObjectType& golden_type();
[[nodiscard]] const report::ObjectType& first_type();
[[nodiscard]] const report::ObjectType& first_apart_type();
[[nodiscard]] const report::ObjectType& trend_type();
[[nodiscard]] const report::ObjectType& trend_summary_type();

}  // namespace msdump::cli
