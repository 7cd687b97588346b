#include "graph/flow/dot.h"

#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "graph/flow/data_flow.h"
#include "graph/op_name.h"

namespace msdump {
namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const std::string_view line : split(text, '\n')) {
    if (result.size() > 1) result += "\\n";
    for (const char c : escape_for_terminal(line)) {
      if (c == '"' || c == '\\') result += '\\';
      result += c;
    }
  }
  return result + "\"";
}

using Edges = std::multimap<OpId, OpId>;

// All arrows of the origins that matter, in both directions.
struct Arrows {
  Edges forward, backward;

  Arrows(const OpGraph& graph, const std::set<uint32_t>& origins) {
    for (const uint32_t origin : origins) {
      const Origin& from = graph.origins()[origin];
      for (uint32_t i = 0; i < from.graph.nodes.size(); ++i) {
        const OpId op(from.first_operator + i);
        if (graph.has_kernel(op)) add(graph, op);
      }
    }
  }

 private:
  void add(const OpGraph& graph, OpId op) {
    for (const InputEdge& input : inputs_of(graph, op)) {
      if (input.from != InputEdge::From::kOperator) continue;
      forward.emplace(input.op, op);
      backward.emplace(op, input.op);
    }
  }
};

std::set<OpId> neighbourhood(const Arrows& arrows, const std::vector<OpId>& centre, uint32_t depth) {
  std::set<OpId> reached(centre.begin(), centre.end()), border = reached;
  for (uint32_t hop = 0; hop < depth && !border.empty(); ++hop) {
    std::set<OpId> next;
    for (const OpId op : border) {
      for (const Edges* edges : {&arrows.forward, &arrows.backward}) {
        const auto [first, last] = edges->equal_range(op);
        for (auto edge = first; edge != last; ++edge) {
          if (reached.insert(edge->second).second) next.insert(edge->second);
        }
      }
    }
    border = std::move(next);
  }
  return reached;
}

}  // namespace

std::vector<OpId> operators_named(const OpGraph& graph, std::string_view name) {
  std::vector<OpId> found;
  for (OpId op{0}; op < graph.size(); ++op) {
    if (graph.has_kernel(op) && matches_op_name({std::string(name)}, graph.full_name(op))) found.push_back(op);
  }
  return found;
}

std::string dot_text(const OpGraph& graph, const std::vector<OpId>& centre, uint32_t depth,
                     const std::function<std::string(OpId)>& label) {
  std::set<uint32_t> origins;
  for (const OpId op : centre) origins.insert(graph.origin_index(op));
  for (uint32_t i = 0; centre.empty() && i < graph.origins().size(); ++i) origins.insert(i);
  const Arrows arrows(graph, origins);
  std::set<OpId> shown = neighbourhood(arrows, centre, depth);
  if (centre.empty()) {
    for (OpId op{0}; op < graph.size(); ++op) {
      if (graph.has_kernel(op)) shown.insert(op);
    }
  }
  const std::set<OpId> bold(centre.begin(), centre.end());
  std::string text = "digraph operators {\n  node [shape=box, fontname=\"sans-serif\"];\n";
  for (const OpId op : shown)
    text += fmt::format("  n{} [label={}{}];\n", op, quoted(label(op)), bold.count(op) > 0 ? ", penwidth=3" : "");
  for (const OpId op : shown) {
    std::set<OpId> targets;
    const auto [first, last] = arrows.forward.equal_range(op);
    for (auto edge = first; edge != last; ++edge) targets.insert(edge->second);
    for (const OpId target : targets) {
      if (shown.count(target) > 0) text += fmt::format("  n{} -> n{};\n", op, target);
    }
  }
  return text + "}\n";
}

}  // namespace msdump
