#include "findings/finding.h"

#include "base/containers.h"
#include "base/text.h"

namespace msdump {

std::string_view name_of(Severity severity) {
  static constexpr auto kNames = enum_table<Severity, std::string_view>("note", "warning", "error");
  return kNames[severity];
}

std::optional<Severity> parse_severity(std::string_view word) {
  for (const Severity severity : {Severity::kNote, Severity::kWarning, Severity::kError}) {
    if (equals_ignoring_case(word, name_of(severity))) return severity;
  }
  return std::nullopt;
}

}  // namespace msdump
