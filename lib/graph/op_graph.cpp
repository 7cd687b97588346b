#include "graph/op_graph.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>

#include "base/containers.h"
#include "graph/flow/data_flow.h"
#include "graph/op_name.h"

namespace msdump {

OpGraph::OpGraph(std::vector<Origin> origins) : origins_(std::move(origins)) {
  const auto key = [](const Origin& origin) {
    return std::tuple(known_first(origin.rank), known_first(origin.graph_id), known_first(origin.number),
                      known_first(origin.step), std::string_view(origin.path));
  };
  std::sort(origins_.begin(), origins_.end(), [&](const Origin& a, const Origin& b) { return key(a) < key(b); });
  for (Origin& origin : origins_) {
    origin.wide_tuples = wide_tuples(origin.graph);
    origin.first_operator = OpId(size_);
    size_ += origin.graph.nodes.size();
  }
}

uint32_t OpGraph::origin_index(OpId op) const {
  const auto next = std::upper_bound(origins_.begin(), origins_.end(), op,
                                     [](OpId id, const Origin& origin) { return id < origin.first_operator; });
  return static_cast<uint32_t>(next - origins_.begin()) - 1;
}

const IrNode& OpGraph::node(OpId op) const {
  const Origin& from = origin(op);
  return from.graph.nodes[op - from.first_operator];
}

namespace {

// A loop without a branch for each byte, which compilers turn into vector code.
void append_normal(std::string& text, std::string_view name) {
  const size_t begin = text.size();
  text.resize(begin + name.size());
  char* const to = text.data() + begin;
  for (size_t i = 0; i < name.size(); ++i) to[i] = normal_char(name[i]);
}

void append_number(std::string& text, uint32_t number) {
  std::array<char, 16> digits;
  text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

}  // namespace

void NormalName::assign(std::string_view name) {
  text_.clear();
  leaf_begin_ = 0;
  append_normal(text_, name);
}

void NormalName::assign(const OpGraph& graph, OpId op, uint32_t number) {
  const Origin& origin = graph.origin(op);
  const IrNode& node = origin.graph.nodes[op - origin.first_operator];
  const std::string_view scope = origin.graph.scope(node), leaf = origin.graph.text(node.leaf);
  text_.clear();
  append_normal(text_, scope);
  if (!scope.empty()) text_ += '_';
  leaf_begin_ = text_.size();
  const auto numbered = number == kNoIndex ? std::nullopt : split_number(leaf);
  if (!numbered) return append_normal(text_, leaf);
  append_normal(text_, leaf.substr(0, numbered->prefix.size() + kNumberMark.size()));
  append_number(text_, number);
}

bool is_name(std::string_view name, std::string_view written) {
  if (name == written) return true;
  return std::equal(name.begin(), name.end(), written.begin(), written.end(),
                    [](char x, char y) { return x == normal_char(y); });
}

bool same_name(std::string_view a, std::string_view b) {
  if (a == b) return true;
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return normal_char(x) == normal_char(y); });
}

}  // namespace msdump
