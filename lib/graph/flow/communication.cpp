#include "graph/flow/communication.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "ge/operators/operator_properties.h"
#include "ir/text/attributes.h"

namespace msdump {

bool is_communication(std::string_view op_type) {
  return ge::has_property(op_type, ge::OperatorProperty::kCommunicates);
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
