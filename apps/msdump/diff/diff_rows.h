// The rows of msdump diff, its summary and its first_divergence, as machine output has them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diff/diff_options.h"
#include "divergence/dump_diff.h"
#include "report/row_sink.h"
#include "report/value.h"

namespace msdump::cli {

[[nodiscard]] std::vector<report::Column> diff_columns(const DiffResult& run);
[[nodiscard]] report::Object diff_row(const DiffResult& run, uint32_t tensor, const DiffOptions& options);
// Of DiffResult::arguments: `io` is "argument".
[[nodiscard]] report::Object argument_row(const DiffResult& run, size_t argument, const DiffOptions& options);
[[nodiscard]] report::List divergences_value(const DiffResult& run);

// same, close or differ.
[[nodiscard]] Verdict verdict_over_all(const DiffResult& run);
[[nodiscard]] uint64_t count_of(const DiffResult& run, Verdict verdict);
// compared, a count per verdict, and the verdict over all.
[[nodiscard]] report::Object diff_summary(const DiffResult& run, size_t failed);
// "273 tensors compared: 112 same, 2 close, 159 differ"
[[nodiscard]] std::string summary_text(const DiffResult& run);

}  // namespace msdump::cli
