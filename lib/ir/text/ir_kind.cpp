// Recognises IR text and files that resemble it; see ir/text/ir_text.h.
#include "ir/model/scan.h"
#include "ir/text/ir_text.h"
#include "ir/text/line_kind.h"
#include "ir/text/node_head.h"

namespace msdump {
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

// Of a binary file: protobuf begins with field 1, and text holds no zero bytes.
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
