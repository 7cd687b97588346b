#include "ge/graph/ge_json.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "ge/graph/ge_assembler.h"
#include "ge/graph/proto_messages.h"
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

constexpr std::array<std::string_view, 3> kNumberFields = {"i", "f", "b"};

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

  template <class Owner>
  static void attributes(const JsonValue& json, Owner& owner, bool (*is_kept)(std::string_view)) {
    for_each_value(json.find("attr"), [&](const JsonValue& one) {
      GeAttribute attribute;
      attribute.key = text_of(one.find("key"));
      const JsonValue* const value = one.find("value");
      if (!is_kept(attribute.key) || value == nullptr) return;
      for (const std::string_view field : kNumberFields) {
        if (const JsonValue* number = value->find(field)) attribute.add_value(field, text_of_value(*number));
      }
      if (const JsonValue* text = value->find("s")) attribute.text = text->text;
      if (const JsonValue* number = value->find("i")) attribute.number = number_of(number->text);
      if (const JsonValue* list = value->find("list")) {
        attribute.is_list = true;
        for (const std::string_view field : kNumberFields) {
          for_each_value(list->find(field),
                         [&](const JsonValue& item) { attribute.add_value(field, text_of_value(item)); });
        }
        for_each_value(list->find("s"), [&](const JsonValue& item) { attribute.texts.push_back(item.text); });
        for_each_value(list->find("i"),
                       [&](const JsonValue& item) { attribute.numbers.push_back(number_of(item.text)); });
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

}  // namespace msdump
