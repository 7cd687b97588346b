#include "graph/join/renumber.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "graph/name_table.h"
#include "graph/op_name.h"

namespace msdump {
namespace {

// One counter for each text before a number; the texts stay where they are.
class Counters {
 public:
  uint32_t next(std::string_view scope, std::string_view prefix) {
    if (scope != scope_) {  // neighbours often share one
      scope_ = scope;
      scope_hash_ = name_hash(scope);
    }
    const uint64_t hash = scope_hash_ ^ name_hash(prefix);
    const uint32_t counter = slots_.find_or_add(hash, static_cast<uint32_t>(counters_.size()), [&](uint32_t at) {
      return counters_[at].prefix == prefix && counters_[at].scope == scope;
    });
    if (counter == counters_.size()) counters_.push_back({scope, prefix, 0});
    return counters_[counter].next++;
  }

 private:
  struct Counter {
    std::string_view scope, prefix;
    uint32_t next;
  };
  std::vector<Counter> counters_;
  HashSlots slots_;
  std::string_view scope_;
  uint64_t scope_hash_ = name_hash({});
};

// The graphs of each process, in ascending id.
std::map<std::pair<std::optional<int64_t>, std::string>, std::vector<const Origin*>> processes(const OpGraph& graph) {
  std::map<std::pair<std::optional<int64_t>, std::string>, std::vector<const Origin*>> result;
  for (const Origin& origin : graph.origins()) {
    if (origin.place != OriginPlace::kDump) continue;
    result[{origin.rank, origin.path.substr(0, origin.path.rfind('/') + 1)}].push_back(&origin);
  }
  for (auto& [process, graphs] : result) {
    std::stable_sort(graphs.begin(), graphs.end(),
                     [](const Origin* a, const Origin* b) { return a->number < b->number; });
  }
  return result;
}

}  // namespace

std::vector<uint32_t> renumbered(const OpGraph& graph) {
  std::vector<uint32_t> numbers(graph.size(), kNoIndex);
  for (const auto& [process, graphs] : processes(graph)) {
    Counters counters;
    for (const Origin* origin : graphs) {
      const IrGraph& ir = origin->graph;
      for (size_t i = 0; i < ir.nodes.size(); ++i) {
        const IrNode& node = ir.nodes[i];
        if (node.leaf == Text::kEmpty) continue;
        const auto name = split_number(ir.text(node.leaf));
        if (name) numbers[origin->first_operator + i] = counters.next(ir.scope(node), name->prefix);
      }
    }
  }
  return numbers;
}

}  // namespace msdump
