#include "graph/renumber.h"

#include <string>
#include <unordered_map>

#include "graph/op_name.h"

namespace msdump {
namespace {

// One counter for each text.
class Counters {
 public:
  uint32_t next(std::string_view scope, std::string_view prefix) {
    key_.assign(scope);
    key_ += '/';
    key_ += prefix;
    return counters_[key_]++;
  }

 private:
  std::string key_;
  std::unordered_map<std::string, uint32_t> counters_;
};

}  // namespace

std::vector<uint32_t> renumbered(const OpGraph& graph) {
  std::vector<uint32_t> numbers(graph.size(), kNoIndex);
  Counters counters;
  const Origin* previous = nullptr;
  for (const Origin& origin : graph.origins()) {
    if (origin.place != OriginPlace::kDump) continue;
    if (previous != nullptr && previous->rank != origin.rank) counters = {};
    previous = &origin;
    const IrGraph& ir = origin.graph;
    for (size_t i = 0; i < ir.nodes.size(); ++i) {
      const IrNode& node = ir.nodes[i];
      if (node.leaf == Text::kEmpty) continue;
      const auto name = split_number(ir.text(node.leaf));
      if (name) numbers[origin.first_operator + i] = counters.next(ir.scope(node), name->prefix);
    }
  }
  return numbers;
}

}  // namespace msdump
