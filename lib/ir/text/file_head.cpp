#include "ir/text/file_head.h"

#include <algorithm>

#include "base/text.h"
#include "ir/model/scan.h"
#include "ir/text/ir_text.h"
#include "ir/text/node_text.h"
#include "ir/text/text_blocks.h"

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

// Recognises IR text and files that resemble it; see ir/text/ir_text.h.

namespace {

constexpr IrKind kIr = {"ir_text", ""};
constexpr IrKind kDat = {"ir_dat",
                         "MindSpore's .dat text of a graph, which has no operator names; the .ir beside it has"};
constexpr IrKind kProtobuf = {"ir_protobuf", "a graph as protobuf, not as text"};
constexpr IrKind kBinary = {"other", "binary data"};
constexpr IrKind kActorSet = {"actor_set",
                              "MindSpore's list of actors, which says how kernels are launched; it is not IR"};
constexpr IrKind kSomas = {"somas", "MindSpore's plan of memory use; it is not IR"};
constexpr IrKind kGeProto = {"ge_proto", "a graph of GE as protobuf text, whose operators are those of CANN"};
constexpr IrKind kGeOnnx = {"ge_onnx", "a graph of GE as ONNX text, whose operators are those of CANN"};
constexpr IrKind kOther = {"other", "no operator and no graph of MindSpore is in its first 64 KiB"};

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool is_actor_set(std::string_view line) {
  constexpr std::string_view kStarts[] = {"[Device tensor stores]",
                                          "Base Block :", "# AID :", "# device address :", "# device context:"};
  for (const std::string_view start : kStarts) {
    if (line.starts_with(start)) return true;
  }
  if (line.starts_with('%')) return contains(line, " op control(") || contains(line, "Actor(");
  return line.starts_with('[') && (contains(line, " actor:") || line.starts_with("[continuous memory nodes:"));
}

bool is_somas(std::string_view line) {
  return line == "All Parameters:" || line == "All Tensors:" || line == "All Nodes:" || line == "Basic Info:";
}

// The kind of a binary file. Protobuf begins with field 1, and text holds no zero bytes.
const IrKind* binary_kind(std::string_view text) {
  if (text.starts_with("\x08\x01\x22") || text.starts_with("\x08\x01\x12")) return &kProtobuf;
  if (!contains(text, std::string_view("\0", 1))) return nullptr;
  return text.starts_with('\x0a') || text.starts_with("\x08\x01") ? &kProtobuf : &kBinary;
}

// GE's protobuf texts are blocks in braces; the first blocks that are operators show which kind it is.
const IrKind* ge_kind(std::string_view line) {
  if (line == "op {") return &kGeProto;
  return line == "node {" || line.starts_with("producer_name:") || line.starts_with("opset_import {") ? &kGeOnnx
                                                                                                      : nullptr;
}

}  // namespace

IrKind ir_kind(std::string_view first_bytes) {
  constexpr size_t kLooked = size_t{64} << 10;
  std::string_view rest = first_bytes.substr(0, kLooked);
  if (const IrKind* binary = binary_kind(rest)) return *binary;
  if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);
  bool operator_seen = false;
  while (!rest.empty()) {
    const size_t feed = rest.find('\n');
    const std::string_view whole = rest.substr(0, feed);
    rest.remove_prefix(feed == std::string_view::npos ? rest.size() : feed + 1);
    const std::string_view line = trim(whole.substr(gutter_length(whole)));
    if (line.starts_with("funcgraph fg_") || line.starts_with("# [No.")) return kDat;
    if (is_actor_set(line)) return kActorSet;
    if (is_somas(line)) return kSomas;
    if (const IrKind* ge = ge_kind(line)) return *ge;
    if (line.starts_with("subgraph @") || (line.starts_with('#') && contains(line, "IR entry"))) return kIr;
    NodeHead head_of_node;
    operator_seen =
        operator_seen || (line_kind(line) == LineKind::kNode && parse_node_head(line, head_of_node) == nullptr);
  }
  return operator_seen ? kIr : kOther;
}

}  // namespace msdump
