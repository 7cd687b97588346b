// A JSON text as a value of a report: nested at most as deep as parse_json allows.
#pragma once

#include <string_view>

#include "base/error.h"
#include "report/value.h"

namespace msdump {

[[nodiscard]] Result<report::Value> json_value(std::string_view text);

}  // namespace msdump
