#include "graph/name_table.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "graph/op_name.h"

namespace msdump {
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
