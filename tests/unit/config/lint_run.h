// One configuration judged, and its findings as short lines: "error missing-key common_dump_settings.path".
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

}  // namespace msdump::test
