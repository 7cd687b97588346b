// Identity: the rank, graph, step, operator, time stamp, io and slot of a tensor. They come from the names of its file and
// folders, and a name may lack some. The texts are views into the catalogue.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/compact.h"
#include "report/value.h"
#include "tensor/dtype.h"
#include "tensor/format.h"

namespace msdump {

// kArgument is for rows about an argument that is no tensor.
enum class Io : uint8_t { kInput, kOutput, kBuffer, kSpace, kParameter, kDebug, kArgument };

// "input", "output", "l1buffer", "space", "parameter", "debug", "argument"
[[nodiscard]] std::string_view name_of(Io io);
inline constexpr std::array kIos = {Io::kInput,     Io::kOutput, Io::kBuffer,  Io::kSpace,
                                    Io::kParameter, Io::kDebug,  Io::kArgument};
[[nodiscard]] std::optional<Io> io_named(std::string_view name);

// The facts in the name of one file.
struct NameFacts {
  std::string_view op_type, op_name;
  std::string_view timestamp;  // digits as written; up to 255 of them occur
  std::string_view slot;       // "0", "0.1", "weight"; empty when the file may hold several tensors
  CompactOptional<int64_t> task_id, stream_id;
  Io io = Io::kOutput;              // counts only with a slot
  DType dtype = DType::kUndefined;  // kUndefined: unknown
  std::optional<Format> format;
};

// A number that sorts like the time stamp; none if there is no time stamp or it is too long. A date with microseconds has
// 20 digits, more than 64 bits hold: its first digit, the millennium, is left out.
[[nodiscard]] std::optional<uint64_t> time_of(const NameFacts& name);

struct Identity {
  std::optional<int64_t> rank, graph, step;
  NameFacts name;
  uint32_t occurrence = 0;     // counts the executions of one operator in one step
  std::string_view dump = {};  // of several below one path (DumpIndex::dumps())
};

// For reports: the number of a slot, else its text ("weight", "0.1"); null if it is unknown.
[[nodiscard]] report::Value slot_value(std::string_view slot);

// rank, graph, step, op_name, op_type, io, slot, task_id, stream_id, timestamp; null where unknown.
[[nodiscard]] report::Object identity_value(const Identity& identity);

}  // namespace msdump
