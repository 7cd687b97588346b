#include "ge/graph/ge_graph.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "ge/graph/ge_assembler.h"
#include "ge/graph/proto_text.h"
#include "io/file.h"
#include "io/json.h"

namespace msdump {
namespace {

// In addition to what any tree may take: attributes are objects of objects of one short value.
constexpr size_t kTreePerByte = 10;

// Calls visit(value) for each item of a list, or for the single value in its place.
template <class Visit>
void for_each_value(const JsonValue* list, const Visit& visit) {
  if (list == nullptr || list->is(JsonKind::kNull)) return;
  if (!list->is(JsonKind::kArray)) return visit(*list);
  for (const JsonValue& item : list->items) visit(item);
}

std::string_view text_of_value(const JsonValue& value) {
  if (value.is(JsonKind::kBool)) return value.boolean ? "true" : "false";
  return value.text;
}

std::string text_of(const JsonValue* value) { return value == nullptr ? std::string() : value->text; }

class GeJsonReader {
 public:
  explicit GeJsonReader(std::string_view text) : positions_(text) {}

  Result<IrGraph> run(const JsonValue& root) {
    if (root.find("graph") == nullptr && root.find("op") != nullptr) {
      graph(root);
    } else {
      for_each_value(root.find("graph"), [&](const JsonValue& one) { graph(one); });
    }
    return out_.finish();
  }

 private:
  void graph(const JsonValue& json) {
    out_.begin_graph(text_of(json.find("name")), line_of(json));
    for_each_value(json.find("op"), [&](const JsonValue& one) { out_.add(op(one)); });
  }

  GeOperator op(const JsonValue& json) {
    GeOperator op;
    op.line = line_of(json);
    op.name = text_of(json.find("name"));
    op.type = text_of(json.find("type"));
    for_each_value(json.find("input"), [&](const JsonValue& one) { op.inputs.push_back(one.text); });
    for_each_value(json.find("subgraph_name"), [&](const JsonValue& one) { op.subgraphs.push_back(one.text); });
    attributes(json, op, is_kept_of_operator);
    for_each_value(json.find("input_desc"), [&](const JsonValue& one) { op.input_descs.push_back(tensor(one)); });
    for_each_value(json.find("output_desc"), [&](const JsonValue& one) { op.output_descs.push_back(tensor(one)); });
    return op;
  }

  static GeTensor tensor(const JsonValue& json) {
    GeTensor tensor;
    tensor.dtype = text_of(json.find("dtype"));
    tensor.layout = text_of(json.find("layout"));
    if (const JsonValue* shape = json.find("shape"))
      for_each_value(shape->find("dim"), [&](const JsonValue& one) { tensor.shape.push_back(number_of(one.text)); });
    attributes(json, tensor, is_kept_of_tensor);
    return tensor;
  }

  static void add_fields(const JsonValue& value, bool of_list, GeAttribute& attribute) {
    for (const std::string_view field : {"i", "f", "b", "s"}) {
      for_each_value(value.find(field),
                     [&](const JsonValue& one) { attribute.add(field, text_of_value(one), of_list); });
    }
  }

  template <class Owner>
  static void attributes(const JsonValue& json, Owner& owner, bool (*is_kept)(std::string_view)) {
    for_each_value(json.find("attr"), [&](const JsonValue& one) {
      GeAttribute attribute;
      attribute.key = text_of(one.find("key"));
      const JsonValue* const value = one.find("value");
      if (!is_kept(attribute.key) || value == nullptr) return;
      add_fields(*value, false, attribute);
      if (const JsonValue* list = value->find("list")) {
        attribute.is_list = true;
        add_fields(*list, true, attribute);
      }
      set_attribute(owner, std::move(attribute));
    });
  }

  uint64_t line_of(const JsonValue& json) { return positions_.at(json.offset).line; }

  TextPositions positions_;
  GeAssembler out_;
};

}  // namespace

Result<IrGraph> read_ge_json(std::string_view text) {
  MSDUMP_TRY(const JsonValue root, parse_json(text, kJsonSpareMemory + kTreePerByte * text.size()));
  return GeJsonReader(text).run(root);
}

namespace {

using Item = ProtoText::Item;

class GeProtoReader {
 public:
  explicit GeProtoReader(ProtoText text) : text_(std::move(text)) {}

  Result<IrGraph> run() {
    // Not a loop over one message, so that a bracket too many does not end the file.
    for (Item item = text_.next(); item.kind != ProtoText::Kind::kEnd; item = text_.next()) top(item);
    MSDUMP_CHECK_OK(text_.status());
    if (text_.depth() > 0) out_.set_truncated(text_.offset());
    out_.add_problems(text_.take_problems());
    return out_.finish();
  }

 private:
  void top(const Item& item) {
    if (item.kind == ProtoText::Kind::kField) {
      if (item.name == "name") name_ = item.value;
      return;
    }
    if (item.name == "graph") return graph();
    if (item.name == "op") {
      if (!bare_) out_.begin_graph(name_, text_.line());
      bare_ = true;
      return op();
    }
    return text_.skip();
  }

  void graph() {
    bare_ = false;
    out_.begin_graph("", text_.line());
    for_each_item(text_, [&](const Item& item) {
      if (item.kind == ProtoText::Kind::kOpen) return item.name == "op" ? op() : text_.skip();
      if (item.name == "name") out_.name_graph(item.value);
    });
  }

  void op() {
    op_ = {};
    op_.line = text_.line();
    const bool whole = for_each_item(text_, [&](const Item& item) { op_item(item); });
    out_.add_problems(text_.take_problems());
    if (whole) {
      out_.add(op_);
    } else {
      out_.lose_operator(op_.line, fmt::format("the file ends inside operator '{}'", excerpt(op_.name)));
    }
  }

  void op_item(const Item& item) {
    if (item.kind == ProtoText::Kind::kOpen) {
      if (item.name == "attr") return attribute(op_, is_kept_of_operator);
      if (item.name == "input_desc") return tensor(op_.input_descs.emplace_back());
      if (item.name == "output_desc") return tensor(op_.output_descs.emplace_back());
      return text_.skip();
    }
    if (item.too_long)
      out_.add_problem(text_.line(), fmt::format("a {} that is too long to be kept", excerpt(item.name)));
    if (item.name == "name") op_.name = item.value;
    if (item.name == "type") op_.type = item.value;
    if (item.name == "input") op_.inputs.emplace_back(item.value);
    if (item.name == "subgraph_name") op_.subgraphs.emplace_back(item.value);
  }

  void tensor(GeTensor& into) {
    for_each_item(text_, [&](const Item& item) {
      if (item.kind == ProtoText::Kind::kOpen) {
        if (item.name == "shape") return shape(into);
        return item.name == "attr" ? attribute(into, is_kept_of_tensor) : text_.skip();
      }
      if (item.name == "dtype") into.dtype = item.value;
      if (item.name == "layout") into.layout = item.value;
    });
  }

  void shape(GeTensor& into) {
    for_each_item(text_, [&](const Item& item) {
      if (item.kind == ProtoText::Kind::kOpen) return text_.skip();
      if (item.name == "dim") into.shape.push_back(number_of(item.value));
    });
  }

  // protobuf prints the key before the value. If they were exchanged, every value is read.
  template <class Owner>
  void attribute(Owner& owner, bool (*is_kept)(std::string_view)) {
    GeAttribute found;
    for (Item item = text_.next(); item.kind != ProtoText::Kind::kEnd && item.kind != ProtoText::Kind::kClose;
         item = text_.next()) {
      if (item.kind == ProtoText::Kind::kOpen) {
        item.name == "value" ? value(found) : text_.skip();
      } else if (item.name == "key") {
        if (!is_kept(item.value)) return text_.skip();
        found.key = item.value;
      }
    }
    if (is_kept(found.key)) set_attribute(owner, std::move(found));
  }

  void value(GeAttribute& into, bool of_list = false) {
    into.is_list = into.is_list || of_list;
    for_each_item(text_, [&](const Item& item) {
      if (item.kind != ProtoText::Kind::kOpen) return into.add(item.name, item.value, of_list);
      return item.name == "list" && !of_list ? value(into, true) : text_.skip();
    });
  }

  ProtoText text_;
  GeAssembler out_;
  GeOperator op_;
  std::string name_;   // of the top level
  bool bare_ = false;  // inside a graph without "graph {"
};

}  // namespace

Result<IrGraph> read_ge_proto(ProtoText text) { return GeProtoReader(std::move(text)).run(); }

namespace {

using Item = ProtoText::Item;

constexpr size_t kMostNested = 64;          // graphs in graphs
constexpr uint64_t kSpareTensors = 65'536;  // of a file, beyond those that it describes

struct OnnxGraph {
  std::string name;
  uint64_t line = 0;
  std::vector<GeOperator> operators;
};

// "input_desc_shape:1" as the description and its property; an empty word for any other name.
struct TensorKey {
  std::vector<GeTensor>* tensors = nullptr;
  uint64_t index = 0;
  std::string_view word;
};

TensorKey tensor_key(GeOperator& op, std::string_view name) {
  constexpr std::string_view kInput = "input_desc_", kOutput = "output_desc_";
  TensorKey key;
  if (name.starts_with(kInput)) key.tensors = &op.input_descs;
  if (name.starts_with(kOutput)) key.tensors = &op.output_descs;
  const size_t colon = name.rfind(':');
  if (key.tensors == nullptr || colon == std::string_view::npos) return {};
  const auto index = parse_u64(name.substr(colon + 1));
  if (!index) return {};
  key.index = *index;
  key.word = name.substr(0, colon).substr(name.starts_with(kInput) ? kInput.size() : kOutput.size());
  return key;
}

constexpr std::string_view kTensorAttribute = "attr_";

bool is_kept(const TensorKey& key, const GeAttribute& attribute) {
  if (key.word.starts_with(kTensorAttribute)) return is_kept_of_tensor(key.word.substr(kTensorAttribute.size()));
  // GE writes an empty shape here if there is none.
  if (key.word == "origin_shape") return !attribute.numbers.empty();
  return key.word == "dtype" || key.word == "layout" || key.word == "shape" || key.word == "origin_layout";
}

void set_tensor_attribute(const TensorKey& key, GeAttribute&& attribute) {
  GeTensor& tensor = (*key.tensors)[key.index];
  if (key.word == "dtype") {
    tensor.dtype = std::move(attribute.text).value_or("");
  } else if (key.word == "layout") {
    tensor.layout = std::move(attribute.text).value_or("");
  } else if (key.word == "shape") {
    tensor.shape.assign(attribute.numbers.begin(), attribute.numbers.end());
  } else {
    attribute.key = key.word.starts_with(kTensorAttribute) ? std::string(key.word.substr(kTensorAttribute.size()))
                    : key.word == "origin_layout"          ? std::string(kOriginFormat)
                                                           : std::string(kOriginShape);
    set_attribute(tensor, std::move(attribute));
  }
}

// Graphs are nested in nodes. Open messages are on a stack, so that no depth overflows that of the program.
class GeOnnxReader {
 public:
  explicit GeOnnxReader(ProtoText text) : text_(std::move(text)) {}

  Result<IrGraph> run() {
    for (;;) {
      const Item item = text_.next();
      if (item.kind == ProtoText::Kind::kEnd) break;
      if (item.kind == ProtoText::Kind::kClose) {
        close();
      } else {
        item.kind == ProtoText::Kind::kOpen ? open(item) : field(item);
      }
    }
    MSDUMP_CHECK_OK(text_.status());
    return finish();
  }

 private:
  // An open message, and what has been read of it.
  enum class In : uint8_t { kGraph, kNode, kAttribute };
  struct Level {
    In in;
    OnnxGraph graph;        // kGraph
    GeOperator op;          // kNode
    GeAttribute attribute;  // kAttribute
  };

  void open(const Item& item) {
    const bool top = levels_.empty();
    const bool in_graph = !top && levels_.back()->in == In::kGraph;
    const bool in_node = !top && levels_.back()->in == In::kNode;
    if ((top && item.name == "graph") || (!top && levels_.back()->in == In::kAttribute && item.name == "g")) {
      if (levels_.size() > 3 * kMostNested) {
        out_.add_problem(text_.line(), "graphs are nested too deep");
        return text_.skip();
      }
      push(In::kGraph).graph.line = text_.line();
    } else if (in_graph && item.name == "node") {
      push(In::kNode).op.line = text_.line();
    } else if (in_node && item.name == "attribute") {
      push(In::kAttribute);
    } else {
      return text_.skip();
    }
  }

  Level& push(In in) {
    levels_.push_back(std::make_unique<Level>());
    levels_.back()->in = in;
    return *levels_.back();
  }

  void field(const Item& item) {
    if (levels_.empty()) return;
    Level& level = *levels_.back();
    switch (level.in) {
      case In::kGraph:
        if (item.name == "name") level.graph.name = item.value;
        break;
      case In::kNode: node_field(level.op, item); break;
      case In::kAttribute: attribute_field(level.attribute, item); break;
    }
  }

  static void node_field(GeOperator& op, const Item& item) {
    if (item.name == "name") op.name = item.value;
    if (item.name == "op_type") op.type = item.value.starts_with("ge:") ? item.value.substr(3) : item.value;
    if (item.name == "input") op.inputs.emplace_back(item.value);
  }

  static void attribute_field(GeAttribute& attribute, const Item& item) {
    if (item.name == "name") attribute.key = item.value;
    attribute.add(item.name, item.value);
  }

  void close() {
    if (levels_.empty()) return;
    const std::unique_ptr<Level> done = std::move(levels_.back());
    levels_.pop_back();
    switch (done->in) {
      case In::kAttribute: close_attribute(levels_.back()->op, std::move(done->attribute)); break;
      case In::kNode: levels_.back()->graph.operators.push_back(std::move(done->op)); break;
      case In::kGraph: close_graph(std::move(done->graph)); break;
    }
  }

  void close_attribute(GeOperator& op, GeAttribute&& attribute) {
    const std::string name = attribute.key;  // `key` has a view of it
    const TensorKey key = tensor_key(op, name);
    if (key.word.empty()) {
      if (is_kept_of_operator(name)) set_attribute(op, std::move(attribute));
    } else if (is_kept(key, attribute)) {
      if (make_room(key)) return set_tensor_attribute(key, std::move(attribute));
      out_.add_problem(
          op.line, fmt::format("'{}' is numbered far beyond the inputs and outputs of its operator", excerpt(name)));
    }
  }

  // Each attribute pays for one tensor: a number alone may not ask for memory that the file has no size for.
  bool make_room(const TensorKey& key) {
    ++spare_tensors_;
    const size_t size = key.tensors->size();
    if (key.index < size) return true;
    if (key.index - size >= spare_tensors_) return false;
    spare_tensors_ -= key.index + 1 - size;
    key.tensors->resize(key.index + 1);
    return true;
  }

  void close_graph(OnnxGraph&& graph) {
    const bool root = levels_.empty();
    graphs_.insert(root ? graphs_.begin() : graphs_.end(), std::move(graph));
    if (root) flush();
  }

  void flush() {
    for (const OnnxGraph& graph : graphs_) {
      out_.begin_graph(graph.name, graph.line);
      for (const GeOperator& op : graph.operators) out_.add(op);
    }
    graphs_.clear();
  }

  // A file that ends inside graphs has those that are still open, but not their open operators.
  Result<IrGraph> finish() {
    if (text_.depth() > 0) out_.set_truncated(text_.offset());
    while (!levels_.empty()) {
      const std::unique_ptr<Level> cut = std::move(levels_.back());
      levels_.pop_back();
      if (cut->in == In::kNode)
        out_.lose_operator(cut->op.line, fmt::format("the file ends inside operator '{}'", excerpt(cut->op.name)));
      if (cut->in == In::kGraph) close_graph(std::move(cut->graph));
    }
    out_.add_problems(text_.take_problems());
    return out_.finish();
  }

  ProtoText text_;
  GeAssembler out_;
  std::vector<std::unique_ptr<Level>> levels_;
  std::vector<OnnxGraph> graphs_;  // of the root graph that is open, or its own first
  uint64_t spare_tensors_ = kSpareTensors;
};

}  // namespace

Result<IrGraph> read_ge_onnx(ProtoText text) { return GeOnnxReader(std::move(text)).run(); }

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
