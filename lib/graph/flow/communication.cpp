#include "graph/flow/communication.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <vector>

#include "base/text.h"
#include "ir/text/attributes.h"

namespace msdump {
namespace {

// In lower case and without '_'.
constexpr std::array<std::string_view, 6> kAnywhere = {"allreduce", "allgather",        "reducescatter",
                                                       "alltoall",  "neighborexchange", "collective"};
constexpr std::array<std::string_view, 10> kFirst = {"batchisend", "broadcast", "send",    "isend",     "recv",
                                                     "irecv",      "receive",   "barrier", "innercomm", "distcomm"};
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

std::vector<int64_t> ranks_of_group(std::string_view group) {
  std::vector<int64_t> ranks;
  const char* const end = group.data() + group.size();
  for (const char* at = group.data(); at != end;) {
    int64_t rank = 0;
    const auto [next, error] = std::from_chars(at, end, rank);
    if (*at != '-' && error == std::errc()) {
      ranks.push_back(rank);
      at = next;
    } else if (std::string_view("(), []-").find(*at) != std::string_view::npos) {
      ++at;
    } else {
      return {};
    }
  }
  return ranks;
}

std::string group_of_ranks(std::string_view list, std::optional<int64_t> rank) {
  const std::vector<int64_t> ranks = ranks_of_group(list);
  if (rank && std::find(ranks.begin(), ranks.end(), *rank) == ranks.end()) return {};
  std::string text;
  for (const int64_t one : ranks) text += (text.empty() ? "" : " ") + std::to_string(one);
  return text;
}

std::string group_of(std::string_view attributes, std::optional<int64_t> rank) {
  for (const std::string_view key : kGroupAttributes) {
    const std::string_view value = attribute_value(attributes, key);
    // MindSpore names groups by a number and a hash: "4-6301172352641561019" are not ranks.
    if (key == kGroupAttributes.back()) return (ranks_of_group(value).empty() ? "" : "group ") + std::string(value);
    if (!ranks_of_group(value).empty()) return group_of_ranks(value, rank);
  }
  return {};
}

}  // namespace msdump
