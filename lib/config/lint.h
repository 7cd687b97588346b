// Judges the configuration of a dump: whose it is, and what the framework would do with it.
//
// Text that is not JSON gives findings too: one for each slip that can be repaired (config/json_faults.h). The repaired
// text is then judged. At most kMostConfigBytes of a file are read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/finding.h"

namespace msdump {

inline constexpr uint64_t kMostConfigBytes = uint64_t{4} << 20;

struct LintReport {
  ConfigKind kind = ConfigKind::kUnknown;
  std::string version;  // what it was judged for: "2.10.0", "1.3 to 2.10", "PyTorch"; may be empty
  std::vector<Finding> findings;
  size_t errors = 0, warnings = 0;
};

[[nodiscard]] LintReport lint_config(std::string_view text, const LintTarget& target);

// The tool whose keys it has.
[[nodiscard]] ConfigKind kind_of_config(const JsonValue& root);

}  // namespace msdump
