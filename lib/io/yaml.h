// YAML as people write it for mappings and settings: block and flow mappings and sequences of texts. libyaml reads it;
// the result is the tree of io/json.h, in which every scalar is a text ("3", "true" and "~" too; an empty plain one is
// null) and offsets count characters.
//
// Limits against hostile input: 16 MiB, nesting at most 100 deep, no aliases (they make small texts large), one
// document.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "io/json.h"

namespace msdump {

// kUsage with "line L, column C: .." when the text is not one document of that kind; no document at all is null.
Result<JsonValue> parse_yaml(std::string_view text);

Result<JsonValue> read_yaml_file(const std::string& path);

}  // namespace msdump
