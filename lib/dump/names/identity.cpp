#include "dump/names/identity.h"

#include "base/text.h"

namespace msdump {

std::string_view name_of(Io io) {
  switch (io) {
    case Io::kInput: return "input";
    case Io::kOutput: return "output";
    case Io::kBuffer: return "l1buffer";
    case Io::kSpace: return "space";
    case Io::kParameter: return "parameter";
    case Io::kDebug: return "debug";
    case Io::kArgument: return "argument";
  }
  return "output";
}

std::optional<uint64_t> time_of(const NameFacts& name) {
  constexpr size_t kDateDigits = 20;
  return parse_u64(name.timestamp.substr(name.timestamp.size() == kDateDigits ? 1 : 0));
}

}  // namespace msdump
