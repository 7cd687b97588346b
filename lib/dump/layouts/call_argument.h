// What a table of the dump (dump.json of msprobe) has of calls beside their tensors; the catalogue lists it apart.
//
// Arguments that are not tensors: factors, axes, flags, names. Overflows: the status register of the device after a call.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace msdump {

struct CallValue {
  // kGroup: the ranks of a process group, "[0,1]", which is not compared.
  enum class Kind : uint8_t { kAbsent, kNone, kBool, kNumber, kText, kList, kGroup };
  Kind kind = Kind::kAbsent;
  bool is_dtype = false;  // kText: the name of a dtype
  std::string_view text;  // as written: "1e-05", "true", "mean", "[1,null]"; of None empty
};

struct CallArgument {
  std::string_view op_name, slot;
  CallValue value;
  uint32_t table = 0;  // DumpIndex::files()
};

struct CallOverflow {
  std::string_view op_name;
  std::optional<uint64_t> status;  // 0: none; no value: it could not be read
  int64_t order = 0;               // of the call in its table
  uint32_t table = 0;              // DumpIndex::files()
};

}  // namespace msdump
