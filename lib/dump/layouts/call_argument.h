// The arguments of calls that are not tensors, as a table of the dump (dump.json of msprobe) has them: factors, axes,
// flags, names. They belong to no tensor, so the catalogue lists them apart.
#pragma once

#include <cstdint>
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

}  // namespace msdump
