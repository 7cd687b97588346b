// The operator of a comparison that a user names.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "compare/match/pairing.h"

namespace msdump {

// The operators, in Pairing::operators, of the only name that a name or glob matches: a full name on either side, or the
// last part of one. kUsage, with the nearest name, if there is none or more than one.
[[nodiscard]] Result<std::vector<uint32_t>> operators_named(const Pairing& pairing, std::string_view wanted);

}  // namespace msdump
