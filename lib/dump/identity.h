// Identity: what names a tensor everywhere in msdump (rank, graph, step, operator, time stamp, io, slot), as far as the
// file names and folders of a dump say it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace msdump {

enum class Io : uint8_t { kInput, kOutput, kBuffer, kSpace, kParameter, kDebug };

[[nodiscard]] std::string_view name_of(Io io);  // "input", "output", "l1buffer", "space", "parameter", "debug"

struct Identity {
  std::optional<int64_t> rank, graph, step;
  std::string op_type, op_name;
  std::optional<int64_t> task_id, stream_id;
  std::string timestamp;  // digits as written; up to 255 of them occur
};

}  // namespace msdump
