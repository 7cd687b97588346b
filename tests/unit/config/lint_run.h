// One configuration judged, and its findings as lines: short ones, "error missing-key common_dump_settings.path"; or all
// that a finding says, "LINE:COLUMN SEVERITY RULE KEY: MESSAGE -> HINT".
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "config/lint.h"

namespace msdump::test {

inline std::vector<std::string> short_lines(const LintReport& report) {
  std::vector<std::string> lines;
  for (const Finding& finding : report.findings)
    lines.push_back(fmt::format("{} {} {}", name_of(finding.severity), finding.rule, finding.key));
  return lines;
}

inline std::vector<std::string> lint_lines(const std::string& text, const LintTarget& target = {}) {
  return short_lines(lint_config(text, target));
}

inline std::string listing(const std::string& text, const LintTarget& target = {}) {
  std::string lines = "\n";
  for (const Finding& finding : lint_config(text, target).findings) {
    lines += fmt::format("{}:{} {} {} {}: {}", finding.line, finding.column, name_of(finding.severity), finding.rule,
                         finding.key.empty() ? "-" : finding.key, finding.message);
    lines += finding.hint.empty() ? "\n" : " -> " + finding.hint + "\n";
  }
  return lines;
}

}  // namespace msdump::test
