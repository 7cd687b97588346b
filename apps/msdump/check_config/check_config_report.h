// What msdump check-config prints: findings as rows, or for people as a compiler does, and then the estimate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/tree/dump_estimate.h"
#include "config/lint.h"
#include "report/row_sink.h"

namespace msdump::cli {

struct CheckedFile {
  std::string path, text;
  LintReport report;
  std::optional<DumpEstimate> estimate;
  std::string
      refused_by;  // the run that the estimate is for, "MindSpore 2.10 on Ascend", if it is refused or writes nothing
};

// file, line, column, key, severity, rule, message, hint.
[[nodiscard]] std::vector<report::Column> finding_columns();
[[nodiscard]] report::Row finding_row(const CheckedFile& file, const Finding& finding);

// FILE:LINE:COLUMN: error: MESSAGE [RULE], the line, and what to do.
[[nodiscard]] std::string finding_text(const CheckedFile& file, const Finding& finding);

// errors, warnings, files, kind, version; the last two null when the files differ.
[[nodiscard]] report::Object lint_summary(const std::vector<CheckedFile>& files);
// "1 error, 2 warnings in 1 file: MindSpore's data_dump.json, for 1.3 to 2.10"
[[nodiscard]] std::string lint_summary_text(const std::vector<CheckedFile>& files);

[[nodiscard]] report::Value estimate_value(const CheckedFile& file);
[[nodiscard]] std::string estimate_text(const CheckedFile& file);

// --explain: every key that the word matches, as rows or as paragraphs. Throws UsageError if there is none.
[[nodiscard]] std::vector<report::Column> key_columns();
[[nodiscard]] std::vector<report::Row> key_rows(const std::string& wanted);
[[nodiscard]] std::string key_text(const std::string& wanted, size_t width);

}  // namespace msdump::cli
