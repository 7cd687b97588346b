#include "ir/text/file_head.h"

#include <algorithm>

#include "base/text.h"
#include "ir/model/scan.h"

namespace msdump {
namespace {

constexpr size_t npos = std::string_view::npos;

std::optional<uint64_t> count_after(std::string_view text, std::string_view title) {
  const std::string_view rest = trim_front(text.substr(title.size()));
  if (!rest.starts_with(':')) return std::nullopt;
  return parse_u64(trim(rest.substr(1)));
}

// "para12_conv1.weight" -> 12, "conv1.weight".
void split_name(ParameterLine& parameter) {
  constexpr std::string_view kPara = "para";
  std::string_view rest = parameter.text;
  if (rest.starts_with(kPara)) rest.remove_prefix(kPara.size());
  size_t digits = 0;
  while (digits < rest.size() && digits < 9 && is_digit(rest[digits])) {
    parameter.number = parameter.number * 10 + static_cast<uint32_t>(rest[digits++] - '0');
  }
  if (!parameter.name.empty()) return;
  rest.remove_prefix(digits);
  parameter.name = rest.starts_with('_') ? rest.substr(1) : rest;
}

// Removes the bracket that `text` begins with, up to its end, and returns it.
std::string_view take_bracketed(std::string_view& text) {
  const size_t close = closing_bracket(text, 0);
  const std::string_view taken = text.substr(0, close == npos ? npos : close + 1);
  text.remove_prefix(taken.size());
  return taken;
}

// " : [2, 3]  :  has_default  :  <..>  :  IsWeight: true"
void parse_remarks(std::string_view text, ParameterLine& parameter) {
  constexpr std::string_view kDefault = "has_default", kWeight = "IsWeight:";
  for (text = trim(text); text.starts_with(':'); text = trim_front(text)) {
    text = trim_front(text.substr(1));
    if (text.starts_with('<')) {
      parameter.device = take_bracketed(text);
    } else if (text.starts_with('[')) {
      (void)take_bracketed(text);  // a symbolic shape
    } else if (text.starts_with(kDefault)) {
      parameter.has_default = true;
      text.remove_prefix(kDefault.size());
    } else if (text.starts_with(kWeight)) {
      text.remove_prefix(kWeight.size());
      parameter.is_weight = trim_front(text).starts_with("true");
      return;
    } else {
      return;
    }
  }
}

}  // namespace

HeadLine parse_head_line(std::string_view text) {
  HeadLine line;
  text = trim(text);
  const bool sharp = text.starts_with('#');
  if (sharp) text.remove_prefix(1);
  const bool blank_after_sharp = text.starts_with(' ');
  text = trim_front(text);
  constexpr std::string_view kEntry = "IR entry", kGraphs = "Total subgraphs", kGraph = "Total subgraph",
                             kNodes = "Total number of cnodes";
  if (sharp && text.starts_with(kEntry)) {
    const size_t at = text.find('@');
    if (at == npos) return line;
    line.kind = HeadLine::Kind::kEntry;
    line.name = trim(text.substr(at + 1));
    line.is_2 = blank_after_sharp;
  } else if (sharp && text.starts_with(kGraph)) {
    const auto count = count_after(text, text.starts_with(kGraphs) ? kGraphs : kGraph);
    if (!count) return line;
    line.kind = HeadLine::Kind::kGraphs;
    line.count = *count;
    line.is_1 = text.substr(kGraph.size()).starts_with(' ');
    line.is_2 = !line.is_1;
  } else if (text.starts_with(kNodes)) {
    const auto count = count_after(text, kNodes);
    if (!count) return line;
    line.kind = HeadLine::Kind::kNodes;
    line.count = *count;
    line.is_2 = true;
  }
  return line;
}

bool parse_parameter(std::string_view text, ParameterLine& parameter) {
  parameter = ParameterLine();
  text = trim(text);
  if (!text.starts_with('%')) return false;
  text.remove_prefix(1);
  const size_t type = text.find(": <");
  parameter.text = trim(text.substr(0, type));
  if (const size_t equals = parameter.text.find(" = "); equals != npos) {
    parameter.name = trim(parameter.text.substr(equals + 3));
    parameter.text = trim(parameter.text.substr(0, equals));
  }
  split_name(parameter);
  if (type == npos) return !parameter.text.empty();
  std::string_view rest = text.substr(type + 2);
  parameter.host = take_bracketed(rest);
  parse_remarks(rest, parameter);
  return !parameter.text.empty();
}

GraphLine parse_graph_line(std::string_view text) {
  constexpr std::string_view kSubgraph = "subgraph @", kParent = " parent: [subgraph @";
  GraphLine graph;
  text = trim(text);
  if (text.starts_with(kSubgraph)) text.remove_prefix(kSubgraph.size());
  size_t open = text.find('(');
  const size_t parent = text.find(kParent);
  if (parent != npos && parent < open) {
    const size_t begin = parent + kParent.size();
    size_t end = text.find("](", begin);
    if (end == npos) end = text.size();
    graph.parent = text.substr(begin, end - begin);
    open = end == text.size() ? npos : end + 1;
  }
  graph.name = trim(text.substr(0, std::min(parent, open)));
  if (open == npos) return graph;
  const size_t close = closing_bracket(text, open);
  split_at_commas(text.substr(open + 1, close == npos ? npos : close - open - 1), Brackets::kTypes, graph.parameters);
  return graph;
}

}  // namespace msdump
