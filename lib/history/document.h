// read_document(): a document of --json, whose rows are parsed one at a time: those of a large dump take gigabytes as a tree.
#pragma once

#include <functional>
#include <string_view>

#include "base/error.h"
#include "io/json.h"

namespace msdump::history {

// `member` gets every member but "rows", `row` each item of those that is an object. kBadJson with the offset where the text is
// cut or no JSON.
Status read_document(std::string_view text, const std::function<void(std::string_view key, const JsonValue&)>& member,
                     const std::function<void(const JsonValue&)>& row);

}  // namespace msdump::history
