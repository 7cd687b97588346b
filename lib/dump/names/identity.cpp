#include "dump/names/identity.h"

#include "base/enum_table.h"
#include "base/text.h"

namespace msdump {

std::string_view name_of(Io io) {
  static constexpr auto kNames =
      enum_table<Io, std::string_view>("input", "output", "l1buffer", "space", "parameter", "debug", "argument");
  return kNames[io];
}

std::optional<Io> io_named(std::string_view name) {
  for (const Io io : kIos) {
    if (name == name_of(io)) return io;
  }
  return std::nullopt;
}

std::optional<uint64_t> time_of(const NameFacts& name) {
  constexpr size_t kDateDigits = 20;
  return parse_u64(name.timestamp.substr(name.timestamp.size() == kDateDigits ? 1 : 0));
}

}  // namespace msdump
