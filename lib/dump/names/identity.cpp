#include "dump/names/identity.h"

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

}  // namespace msdump
