// One entry of dump.json or debug.json, from its parsed value to its tensors; the form is in msprobe/dump_json.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "io/json.h"
#include "msprobe/dump_json.h"

namespace msdump {

struct DumpEntry {
  std::vector<MsprobeTensor> tensors;      // offsets count from the entry's value
  std::vector<MsprobeArgument> arguments;  // the first 256; no value of more than 256 bytes
  bool has_overflow = false;               // "is_nan", whose value is `overflow`
  std::optional<uint64_t> overflow;
  int64_t others = 0;
  // The first fault: its code, what it is (no position in the message), and the offset in the entry's value.
  std::optional<Error> problem;
};

[[nodiscard]] DumpEntry read_dump_entry(const std::string& name, const JsonValue& value);

}  // namespace msdump
