#include "graph/flow/communication.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"

namespace msdump {
namespace {

// In lower case and without '_'.
constexpr std::array<std::string_view, 6> kAnywhere = {"allreduce", "allgather",        "reducescatter",
                                                       "alltoall",  "neighborexchange", "collective"};
constexpr std::array<std::string_view, 9> kFirst = {"broadcast", "send",    "isend",     "recv",    "irecv",
                                                    "receive",   "barrier", "innercomm", "distcomm"};
constexpr std::array<std::string_view, 4> kOther = {"broadcastto", "broadcastgradientargs", "broadcasttensors",
                                                    "broadcastshapes"};

}  // namespace

bool is_communication(std::string_view op_type) {
  std::string plain = to_lower(op_type);
  std::erase(plain, '_');
  const auto begins = [&](std::string_view word) { return plain.starts_with(word); };
  const auto holds = [&](std::string_view word) { return plain.find(word) != std::string::npos; };
  if (std::any_of(kAnywhere.begin(), kAnywhere.end(), holds)) return true;
  return std::any_of(kFirst.begin(), kFirst.end(), begins) && std::none_of(kOther.begin(), kOther.end(), begins);
}

}  // namespace msdump
