// What names a tensor, as values of reports.
#pragma once

#include <string_view>

#include "dump/names/identity.h"
#include "report/value.h"

namespace msdump {

// A slot is a number where it is one, else the text ("weight", "0.1"); null when it is not known.
[[nodiscard]] report::Value slot_value(std::string_view slot);

// rank, graph, step, op_name, op_type, io, slot, task_id, stream_id, timestamp; null where unknown.
[[nodiscard]] report::Object identity_value(const Identity& identity);

}  // namespace msdump
