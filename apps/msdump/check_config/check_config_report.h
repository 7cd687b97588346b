// The report of check-config: findings as rows, or for people as a compiler prints them, and then the estimate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/tree/dump_estimate.h"
#include "config/keys.h"
#include "config/lint.h"
#include "report/row_type.h"

namespace msdump::cli {

struct CheckedFile {
  std::string path, text;
  LintReport report;
  std::optional<DumpEstimate> estimate;
  std::string
      refused_by;  // the run that the estimate is for, "MindSpore 2.10 on Ascend", if it is refused or writes nothing
};

struct ConfigFinding {
  const CheckedFile& file;
  const Finding& finding;
};
[[nodiscard]] const report::RowType<ConfigFinding>& config_finding_rows();

// FILE:LINE:COLUMN: error: MESSAGE [RULE], the line, and what to do.
[[nodiscard]] std::string finding_text(const CheckedFile& file, const Finding& finding);

// errors, warnings, files, kind, version; the last two null when the files differ.
[[nodiscard]] const report::RowType<std::vector<CheckedFile>>& lint_summary();
// "1 error, 2 warnings in 1 file: MindSpore's data_dump.json, for 1.3 to 2.10"
[[nodiscard]] std::string lint_summary_text(const std::vector<CheckedFile>& files);

[[nodiscard]] const report::ObjectType& config_estimate_type();
[[nodiscard]] report::Value estimate_value(const CheckedFile& file);
[[nodiscard]] std::string estimate_text(const CheckedFile& file);

// The keys of data_dump.json, of msprobe's config.json and of acl.json, each once.
[[nodiscard]] std::vector<std::string> key_names();

// --explain: every key that the word matches, as rows or as paragraphs. Throws UsageError if there is none.
// May throw UsageError with did-you-mean.
[[nodiscard]] std::vector<const ConfigKey*> find_keys(const std::string& wanted);
[[nodiscard]] const report::RowType<ConfigKey>& key_rows();
[[nodiscard]] std::string key_text(const std::string& wanted, size_t width);

}  // namespace msdump::cli
