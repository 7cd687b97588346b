// The rows of msdump diff and its summary, as machine output has them; and of a pair of tensors single elements, and where on
// its axes the error lies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compare/pair/element_errors.h"
#include "diff/diff_options.h"
#include "divergence/dump_diff.h"
#include "report/json.h"
#include "report/row_type.h"

namespace msdump::cli {

[[nodiscard]] report::List elements_value(const std::vector<WorstElement>& elements);
[[nodiscard]] report::List axes_value(const ErrorAxes& axes);

// True if a scale of the loss was divided out of the row's judgement: its metrics are those of what was dumped.
[[nodiscard]] bool is_scaled(const report::Row& row);
[[nodiscard]] std::vector<report::Column> diff_columns(const DiffResult& run);
// The row of a pair of tensors, or of an argument, whose `io` is "argument".
struct DiffRow {
  TensorId tensor;        // kNoId: an argument
  size_t argument = 0;    // in DiffResult::arguments
  bool of_cause = false;  // in a table, `explained` says so
};
// In the order of reports: the arguments of an operator precede its tensors.
[[nodiscard]] std::vector<DiffRow> all_rows(const DiffResult& run);
[[nodiscard]] bool counts_as_difference(const DiffResult& run, const DiffRow& row);
[[nodiscard]] OperatorId operator_of(const DiffResult& run, const DiffRow& row);
[[nodiscard]] Verdict verdict_of(const DiffResult& run, const DiffRow& row);
[[nodiscard]] report::Object diff_row(const DiffResult& run, const DiffRow& row, const DiffOptions& options);
void add_diff_row(const DiffResult& run, const DiffRow& row, const DiffOptions& options, report::JsonObject& into);
[[nodiscard]] report::List relations_value(const DiffResult& run);
// The place of an operator pair in the data flow, or in msprobe's order; null if only names are known.
[[nodiscard]] report::Value order_value(const DiffResult& run, OperatorId pair);

// The keys of the above (diff_types.cpp).
[[nodiscard]] std::vector<report::DocumentType> diff_documents();

// same, close or differ.
[[nodiscard]] Verdict verdict_over_all(const DiffResult& run);
// True if values differ, and not only what the sides hold.
[[nodiscard]] bool any_value_differs(const DiffResult& run);
// compared, a count per verdict and per explanation, and the verdict over all.
[[nodiscard]] report::Object diff_summary(const DiffResult& run, size_t failed);
// "273 tensors compared: 112 same, 2 close, 159 differ; of these 1 of the cause, 158 follow from it"
[[nodiscard]] std::string summary_text(const DiffResult& run);
// Why tensors do not agree: {"downstream", "follow from it", 158}; keys are cause, unexplained, and the names of Explanation.
struct ReasonCount {
  std::string_view key, text;
  uint64_t count = 0;
  std::string note = {};  // " (237 without a partner)"
};
// In the order of the summary, those that occur; none where nothing is judged: of checkpoints, of single files.
[[nodiscard]] std::vector<ReasonCount> reason_counts(const DiffResult& run);
// The key of a tensor, by rows_of_causes(); empty for one that agrees or that a baseline accepts.
[[nodiscard]] std::string_view reason_key(const DiffResult& run, TensorId tensor, const std::vector<bool>& of_cause);

}  // namespace msdump::cli
