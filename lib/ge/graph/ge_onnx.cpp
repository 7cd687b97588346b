#include "ge/graph/ge_onnx.h"

#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "ge/graph/ge_assembler.h"
#include "ge/graph/proto_messages.h"

namespace msdump {
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
  // GE writes an empty shape here where there is none.
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
    attribute.add_value(item.name, item.value);
    if (item.name == "s") attribute.text = item.value;
    if (item.name == "i") attribute.number = number_of(item.value);
    if (item.name == "strings") attribute.texts.emplace_back(item.value);
    if (item.name == "ints") attribute.numbers.push_back(number_of(item.value));
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

}  // namespace msdump
