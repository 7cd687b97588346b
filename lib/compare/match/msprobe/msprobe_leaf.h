// One entry of dump.json or debug.json, from its parsed value to msprobe's items; the rules are in msprobe_items.h.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "compare/match/msprobe/msprobe_items.h"
#include "io/json.h"

namespace msdump {

// Items in the order of the result file, without key and entry. kTooLarge when the name of a leaf exceeds 4096 bytes.
Result<std::vector<MsprobeItem>> read_msprobe_leaves(const std::string& entry_name, const JsonValue& value);

// Whether msprobe would find checksums in this entry.
[[nodiscard]] bool has_msprobe_checksum(const JsonValue& entry, bool debug_json);

}  // namespace msdump
