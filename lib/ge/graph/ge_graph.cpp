#include "ge/graph/ge_graph.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "ge/graph/ge_json.h"
#include "ge/graph/ge_onnx.h"
#include "ge/graph/ge_proto.h"
#include "ge/graph/proto_text.h"
#include "io/read_text.h"

namespace msdump {
namespace {

constexpr size_t kLooked = size_t{64} << 10;

// The first operator decides: in "op" it has a type, in "node" an op_type.
std::optional<GeForm> form_of_operator(ProtoText& text, std::string_view word) {
  const size_t outside = text.depth() - 1;
  const std::string_view wanted = word == "op" ? "type" : "op_type";
  while (text.depth() > outside) {
    const ProtoText::Item item = text.next();
    if (item.kind == ProtoText::Kind::kEnd || text.has_problems()) return std::nullopt;
    if (item.kind == ProtoText::Kind::kField && item.quoted && item.name == wanted)
      return wanted == "type" ? GeForm::kProto : GeForm::kOnnx;
    if (item.kind == ProtoText::Kind::kOpen) text.skip();
  }
  return std::nullopt;
}

std::optional<GeForm> form_of_text(std::string_view head) {
  ProtoText text(head);
  for (;;) {
    const ProtoText::Item item = text.next();
    if (item.kind == ProtoText::Kind::kEnd || text.has_problems()) return std::nullopt;
    if (item.kind != ProtoText::Kind::kOpen) continue;
    if (item.name == "op" || item.name == "node") return form_of_operator(text, item.name == "op" ? "op" : "node");
    if (item.name != "graph") text.skip();
  }
}

bool is_json_model(std::string_view head) {
  head.remove_prefix(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
  if (!head.starts_with('{')) return false;
  // Attributes stand before the operators or in the first one.
  const auto has = [&](std::string_view word) { return head.find(word) != std::string_view::npos; };
  return (has("\"graph\"") || has("\"op\"")) && has("\"attr\"") && has("\"key\"") && has("\"value\"");
}

}  // namespace

std::string_view name_of(GeForm form) {
  switch (form) {
    case GeForm::kProto: return "ge_proto";
    case GeForm::kOnnx: return "ge_onnx";
    case GeForm::kJson: return "ge_json";
  }
  return "";
}

std::optional<GeForm> ge_form(std::string_view first_bytes) {
  const std::string_view head = first_bytes.substr(0, kLooked);
  if (head.find('\0') != std::string_view::npos) return std::nullopt;
  if (is_json_model(head)) return GeForm::kJson;
  return form_of_text(head);
}

Result<IrGraph> read_ge_graph(const File& file) {
  const auto head = file.head();
  const auto form = ge_form({reinterpret_cast<const char*>(head.data()), head.size()});
  Result<IrGraph> graph = fail(ErrorCode::kBadIr, "this is not a graph of GE");
  if (form == GeForm::kJson) {
    auto text = read_large_text(file, kMostGeJson, "a GE graph as JSON");
    graph = text ? read_ge_json(text->view()) : Result<IrGraph>(fail(std::move(text).error()));
  } else if (form) {
    graph = form == GeForm::kProto ? read_ge_proto(ProtoText(file)) : read_ge_onnx(ProtoText(file));
  }
  if (!graph && graph.error().path.empty()) graph.error().path = file.path();
  return graph;
}

std::optional<GeFileName> ge_file_name(std::string_view name) {
  GeFileName found;
  for (const auto& [start, end, form] :
       {std::tuple<std::string_view, std::string_view, GeForm>{"ge_proto_", ".txt", GeForm::kProto},
        {"ge_onnx_", ".pbtxt", GeForm::kOnnx}}) {
    if (!name.starts_with(start) || !name.ends_with(end)) continue;
    found.form = form;
    name = name.substr(start.size(), name.size() - start.size() - end.size());
    const size_t digits = std::min(name.find('_'), name.size());
    const auto number = parse_u64(name.substr(0, digits));
    if (!number) return std::nullopt;
    found.number = *number;
    name.remove_prefix(std::min(digits + 1, name.size()));
    constexpr std::string_view kGraph = "graph_";
    if (name.starts_with(kGraph)) {
      name.remove_prefix(kGraph.size());
      const size_t end_of_id = std::min(name.find('_'), name.size());
      found.graph = parse_i64(name.substr(0, end_of_id));
      name.remove_prefix(std::min(end_of_id + 1, name.size()));
    }
    found.stage = name;
    return found;
  }
  return std::nullopt;
}

}  // namespace msdump
