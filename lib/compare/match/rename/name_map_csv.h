// The plain form of --map: two columns, candidate and reference (name_map_file.h). Internal to it.
#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "compare/match/rename/name_map_file.h"

namespace msdump {

// The first line with content has a comma and is not YAML.
[[nodiscard]] bool looks_like_name_csv(std::string_view text);

// kUsage with the line for an unclosed quote, a wrong number of columns, an empty name.
Result<std::vector<NamePair>> read_name_csv(std::string_view text);

}  // namespace msdump
