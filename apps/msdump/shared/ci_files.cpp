#include "shared/ci_files.h"

#include <fmt/format.h>

#include "frame/usage.h"

namespace msdump::cli {

Option junit_option(std::string& path, std::string_view what) {
  return {.names = "--junit",
          .other_names = "xml junit-xml",
          .is_common = true,
          .value = OptionValue::text(path, "FILE"),
          .group = kOutputGroup,
          .help = fmt::format("Also write {} as JUnit XML, for CI", what),
          .use = OptionUse::kOutput};
}

void check_file_name(std::string_view option, std::string_view path) {
  if (path == "-") throw UsageError(fmt::format("{} needs the name of a file; /dev/stdout is standard output", option));
}

}  // namespace msdump::cli
