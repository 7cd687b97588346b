// Files for CI beside what a command prints: --junit FILE.
#pragma once

#include <string>
#include <string_view>

#include "frame/options.h"

namespace msdump::cli {

// `what`: "the findings".
[[nodiscard]] Option junit_option(std::string& path, std::string_view what);

// Throws UsageError for "-".
void check_file_name(std::string_view option, std::string_view path);

}  // namespace msdump::cli
