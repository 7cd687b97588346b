#include "graph/lines/nearest_operator.h"

#include <set>
#include <vector>

#include "base/text.h"

namespace msdump {

std::string nearest_operator(const OpGraph& graph, std::string_view typed, OperatorText text) {
  if (typed.find_first_of("*?") != std::string_view::npos) return {};
  if (text == OperatorText::kName) typed.remove_prefix(typed.rfind('/') + 1);
  std::set<std::string_view> distinct;
  for (OpId op = 0; op < graph.size(); ++op) {
    if (graph.has_kernel(op)) distinct.insert(text == OperatorText::kType ? graph.op_type(op) : graph.leaf(op));
  }
  distinct.erase("");
  const auto found = distinct.find(typed);
  if (found != distinct.end()) return text == OperatorText::kType ? std::string() : "*" + std::string(*found);
  return closest_match(typed, std::vector<std::string>(distinct.begin(), distinct.end())).value_or("");
}

}  // namespace msdump
