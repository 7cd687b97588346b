// Rules that rename a part of the path in names of operators, one on each line of a file:
//
//   blocks=layers           the component "blocks", wherever it is: Module.layers.0.attn.Linear.forward.0
//   net.encoder=encoder     components that follow each other
//   stage*=layers.*         * is any text inside a component; on the right it is what the * on the left was
//   module=                 the component is left out
//
// Components end at '.', '/' and '-'. Rules apply in the order of the file, each to what the one before made of the name.
// Empty lines and lines that begin with # are ignored.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace msdump {

struct PathRule {
  std::vector<std::string> from;  // components
  std::string to;
};

// The first line with content has a '=', no comma, and is not YAML.
[[nodiscard]] bool looks_like_path_rules(std::string_view text);

// kUsage with the line for a line without '=', an empty left side, more stars on the right than on the left.
Result<std::vector<PathRule>> read_path_rules(std::string_view text);

[[nodiscard]] std::string renamed_by(const std::vector<PathRule>& rules, std::string_view name);

}  // namespace msdump
