#include "ir/protobuf/protobuf_value.h"

#include <limits>

#include <fmt/format.h>

#include "anf_ir.pb.h"
#include "debug_graph.pb.h"

namespace msdump {
namespace {

constexpr uint64_t kMaxTag = UINT32_MAX;

}  // namespace

std::optional<uint64_t> ProtobufFields::varint() {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at_ == message_.size()) {
      state_ = State::kCut;
      return std::nullopt;
    }
    const auto byte = static_cast<uint8_t>(message_[at_++]);
    value |= uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return value;
  }
  state_ = State::kDamaged;
  return std::nullopt;
}

bool ProtobufFields::fixed(size_t size, ProtobufField& field) {
  if (message_.size() - at_ < size) {
    state_ = State::kCut;
    return false;
  }
  for (size_t i = 0; i < size; ++i) field.value |= uint64_t{static_cast<uint8_t>(message_[at_ + i])} << (8 * i);
  at_ += size;
  return true;
}

std::optional<ProtobufField> ProtobufFields::next() {
  if (at_ == message_.size() || state_ != State::kGood) return std::nullopt;
  ProtobufField field;
  field.offset = offset_ = at_;
  const auto tag = varint();
  if (!tag) return std::nullopt;
  field.number = static_cast<uint32_t>((*tag & kMaxTag) >> 3);
  const auto wire_type = *tag & 7;
  if (*tag > kMaxTag || field.number == 0) {
    state_ = State::kDamaged;
    return std::nullopt;
  }
  if (wire_type == 1 || wire_type == 5) {
    if (!fixed(wire_type == 1 ? 8 : 4, field)) return std::nullopt;
    return field;
  }
  if (wire_type != 0 && wire_type != 2) {
    state_ = State::kDamaged;
    return std::nullopt;
  }
  const auto number = varint();
  if (!number) return std::nullopt;
  if (wire_type == 0) {
    field.value = *number;
    return field;
  }
  field.is_bytes = true;
  field.cut = *number > message_.size() - at_;
  if (field.cut) state_ = State::kCut;
  field.bytes = message_.substr(at_, field.cut ? std::string_view::npos : static_cast<size_t>(*number));
  at_ += field.bytes.size();
  return field;
}

std::optional<std::string_view> find_field(std::string_view message, uint32_t number) {
  std::optional<std::string_view> found;
  ProtobufFields fields(message);
  while (const auto field = fields.next()) {
    if (field->number == number && field->is_bytes && !field->cut) found = field->bytes;
  }
  return found;
}

namespace {

// Numbers of DataType that mean the same in both schemas.
enum DataType : int {
  kBool = 1,
  kInt8 = 2,
  kUint8 = 6,
  kUint64 = 9,
  kFloat16 = 10,
  kFloat64 = 12,
  kString = 13,
  kTensor = 14,
  kTuple = 31,
  kList = 32,
  kDict = 33,
  kNone = 34,
  kType = 39,
};

struct TypeName {
  std::string_view name, short_name;
};

constexpr TypeName kNumberTypes[] = {{"", ""},          {"Bool", "Bool"},  {"Int8", "I8"},     {"Int16", "I16"},
                                     {"Int32", "I32"},  {"Int64", "I64"},  {"UInt8", "U8"},    {"UInt16", "U16"},
                                     {"UInt32", "U32"}, {"UInt64", "U64"}, {"Float16", "F16"}, {"Float32", "F32"},
                                     {"Float64", "F64"}};

// The types that an element of a tensor can have.
TypeName number_type(int number) {
  if (number > 0 && number <= kFloat64) return kNumberTypes[number];
  switch (number) {
    case 43: return {"Complex64", "C64"};
    case 44: return {"Complex128", "C128"};
    case 46: return {"BFloat16", "BF16"};
    case 48: return {"Int4", "I4"};
    default: return {};
  }
}

// The types of a value that is neither a tensor nor a sequence.
std::string_view scalar_type(IrSchema schema, int number) {
  const bool monads = schema == IrSchema::kDebugGraph;
  if (monads && number == 43) return "UMonad";
  if (monads && number == 44) return "IOMonad";
  if (!monads && number == 49) return "UMonad";
  switch (number) {
    case kString: return "String";
    case 15: return "Func";
    case kNone: return "None";
    case kType: return "TypeType";
    default: return number_type(number).name;
  }
}

template <class Dims>
std::string shape_text(const Dims& dims, std::string_view open, std::string_view close) {
  return fmt::format("{}{}{}", open, fmt::join(dims, ", "), close);
}

struct Anf {
  static constexpr IrSchema kSchema = IrSchema::kAnfIr;
  using Type = pb::irpb::TypeProto;
  using Value = pb::irpb::ValueProto;
};

struct Debug {
  static constexpr IrSchema kSchema = IrSchema::kDebugGraph;
  using Type = pb::debugger::TypeProto;
  using Value = pb::debugger::ValueProto;
};

constexpr const char* kNoShape = "NoShape";

// "Tensor[Float32]" and "(2, 3)": the two halves of <..>. A tuple joins the first halves of its elements, and the
// second.
struct TypeText {
  std::string type, shape = kNoShape;

  [[nodiscard]] std::string whole() const { return type.empty() ? "" : fmt::format("<{}, {}>", type, shape); }
};

TypeText tensor_type_text(int element, const std::vector<int64_t>& dims) {
  const std::string_view name = number_type(element).name;
  if (name.empty()) return {};
  return {fmt::format("Tensor[{}]", name), shape_text(dims, "(", ")")};
}

class SequenceText {
 public:
  explicit SequenceText(std::string_view word) : word_(word) {}

  void add(const TypeText& element) {
    types_.append(types_.empty() ? "" : ",").append(element.type.empty() ? "null" : element.type);
    shapes_.append(shapes_.empty() ? "" : ", ").append(element.shape);
  }
  [[nodiscard]] TypeText text() const {
    return {fmt::format("{}[{}]", word_, types_), fmt::format("{}Shape({})", word_, shapes_)};
  }

 private:
  std::string_view word_;
  std::string types_, shapes_;
};

// Types nested deeper have no text: texts are copied from level to level. (protobuf stops at 100.)
constexpr int kMaxDepth = 16;

// A tensor without a shape is a scalar, but in a tuple no tensor has one.
template <class Schema>
TypeText type_text(const typename Schema::Type& type, int depth = 0) {
  if (depth > kMaxDepth) return {};
  if (type.has_tensor_type()) {
    const auto& tensor = type.tensor_type();
    std::vector<int64_t> dims;
    for (const auto& dim : tensor.shape().dim()) dims.push_back(dim.size());
    TypeText text = tensor_type_text(tensor.elem_type(), dims);
    if (depth > 0 && !tensor.has_shape()) text.shape = kNoShape;
    return text;
  }
  if (type.has_sequence_type() || type.data_type() == kTuple || type.data_type() == kList) {
    SequenceText text(type.data_type() == kList ? "List" : "Tuple");
    for (const auto& element : type.sequence_type().elem_types()) text.add(type_text<Schema>(element, depth + 1));
    return text.text();
  }
  return {std::string(scalar_type(Schema::kSchema, type.data_type())), kNoShape};
}

template <class Schema>
class ValueReader {
 public:
  using Value = typename Schema::Value;

  // The text of a value; one in a list or dict has no quotes.
  static std::string text(const Value& value, bool quoted, int depth = 0) {
    if (depth > kMaxDepth) return "...";
    if (value.has_tensor_val()) return tensor(value);
    if (value.has_type_val()) return type_name(value.type_val());
    if (value.has_str_val()) {
      // A text without a dtype is the writer's text for a value of an unknown type: "U" for a monad.
      return quoted && value.dtype() == kString ? fmt::format("\"{}\"", value.str_val()) : value.str_val();
    }
    if (value.has_bool_val()) return fmt::format("Bool({})", value.bool_val() ? 1 : 0);
    if (value.has_int_val()) return number(value.dtype(), value.int_val());
    if (value.has_uint_val()) return number(value.dtype(), value.uint_val());
    if (value.has_float_val()) return number(value.dtype(), value.float_val());
    if (value.has_double_val()) return number(value.dtype(), value.double_val());
    return several(value, depth);
  }

  static TypeText type(const Value& value, int depth = 0) {
    if (depth > kMaxDepth) return {};
    if (value.has_tensor_val()) {
      const auto& dims = value.tensor_val().dims();
      return tensor_type_text(value.tensor_val().data_type(), {dims.begin(), dims.end()});
    }
    const int dtype = value.dtype();
    if (dtype != kTuple && dtype != kList) return {std::string(scalar_type(Schema::kSchema, dtype)), kNoShape};
    SequenceText text(dtype == kTuple ? "Tuple" : "List");
    for (const Value& item : value.values()) text.add(type(item, depth + 1));
    return text.text();
  }

 private:
  template <class Number>
  static std::string number(int dtype, Number value) {
    const std::string_view name = number_type(dtype).short_name;
    return name.empty() ? fmt::format("{}", value) : fmt::format("{}({})", name, value);
  }

  static std::string tensor(const Value& value) {
    const auto& tensor = value.tensor_val();
    return fmt::format("Tensor(shape={}, dtype={})", shape_text(tensor.dims(), "[", "]"),
                       number_type(tensor.data_type()).name);
  }

  static std::string type_name(const typename Schema::Type& type) {
    if (type.has_tensor_type() || type.has_sequence_type()) return type_text<Schema>(type).type;
    const std::string_view short_name = number_type(type.data_type()).short_name;
    return std::string(short_name.empty() ? scalar_type(Schema::kSchema, type.data_type()) : short_name);
  }

  static std::string several(const Value& value, int depth) {
    std::string inside;
    const auto add = [&](std::string_view part) { inside.append(inside.empty() ? "" : ", ").append(part); };
    for (const Value& item : value.values()) add(text(item, value.dtype() != kList, depth + 1));
    for (const auto& item : value.dict_val())
      add(fmt::format("{}: {}", item.key(), text(item.value(), true, depth + 1)));
    for (const bool item : value.bool_vals()) add(fmt::format("Bool({})", item ? 1 : 0));
    for (const int64_t item : value.int_vals()) add(fmt::format("{}", item));
    for (const uint64_t item : value.uint_vals()) add(fmt::format("{}", item));
    for (const float item : value.float_vals()) add(fmt::format("{}", item));
    for (const double item : value.double_vals()) add(fmt::format("{}", item));
    for (const auto& item : value.str_vals()) add(item);
    switch (value.dtype()) {
      case kTuple: return fmt::format("({})", inside);
      case kDict: return fmt::format("{{{}}}", inside);
      case kNone: return "None";
      default: return inside.empty() && value.dtype() != kList ? "" : fmt::format("[{}]", inside);
    }
  }
};

template <class Message>
bool parse(Message& message, std::string_view bytes) {
  return bytes.size() <= static_cast<size_t>(std::numeric_limits<int>::max()) &&
         message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

template <class Schema>
std::optional<std::string> type_of_message(std::string_view bytes) {
  typename Schema::Type type;
  if (!parse(type, bytes)) return std::nullopt;
  return type_text<Schema>(type).whole();
}

template <class Schema>
std::optional<ProtobufValue> value_of_message(std::string_view bytes) {
  typename Schema::Value value;
  if (!parse(value, bytes)) return std::nullopt;
  return ProtobufValue{ValueReader<Schema>::text(value, true), ValueReader<Schema>::type(value).whole()};
}

}  // namespace

std::optional<std::string> protobuf_type_text(IrSchema schema, std::string_view message) {
  return schema == IrSchema::kAnfIr ? type_of_message<Anf>(message) : type_of_message<Debug>(message);
}

std::optional<ProtobufValue> protobuf_value(IrSchema schema, std::string_view message) {
  return schema == IrSchema::kAnfIr ? value_of_message<Anf>(message) : value_of_message<Debug>(message);
}

namespace {

// Field numbers of ModelProto, GraphProto, NodeProto and NamedValueProto in proto/debug_graph.proto.
constexpr uint32_t kModelGraph = 4;
constexpr uint32_t kNodeTag = 1, kConstantTag = 5, kRootNameTag = 6;
constexpr uint32_t kNodeOutputIndex = 7, kNodeSourceAddress = 9, kLastNodeField = 10;
constexpr uint32_t kConstantFullName = 3;

Error not_ir(size_t offset, std::string_view what) {
  return make_error(ErrorCode::kBadProtobuf, "this is not an IR protobuf: {}", what).with_offset(offset);
}

bool looks_like_node(const ProtobufField& node) {
  ProtobufFields fields(node.bytes);
  while (const auto field = fields.next()) {
    if (field->number > kLastNodeField || field->is_bytes == (field->number == kNodeOutputIndex)) return false;
  }
  return fields.state() == ProtobufFields::State::kGood ||
         (node.cut && fields.state() != ProtobufFields::State::kDamaged);
}

Result<IrProtobufGraph> place_of_graph(std::string_view file) {
  ProtobufFields fields(file);
  for (bool first = true; const auto field = fields.next(); first = false) {
    if (first && field->number == 1 && field->is_bytes && looks_like_node(*field))
      return IrProtobufGraph{file, 0, true, false};
    if (first && (field->number != 1 || field->is_bytes)) return fail(not_ir(0, "it begins with no model and no node"));
    if (field->number == kModelGraph && field->is_bytes) {
      return IrProtobufGraph{field->bytes, static_cast<size_t>(field->bytes.data() - file.data()), false, field->cut};
    }
  }
  if (fields.state() == ProtobufFields::State::kDamaged) return fail(not_ir(fields.offset(), "a damaged field"));
  if (fields.state() == ProtobufFields::State::kGood) return fail(not_ir(file.size(), "there is no graph in it"));
  return fail(make_error(ErrorCode::kTruncated, "the file ends before its graph").with_offset(file.size()));
}

IrSchema schema_of(const IrProtobufGraph& graph) {
  if (graph.bare) return IrSchema::kDebugGraph;
  ProtobufFields fields(graph.bytes);
  while (const auto field = fields.next()) {
    if (!field->is_bytes) continue;
    if (field->number == kRootNameTag) return IrSchema::kDebugGraph;
    if (field->number == kNodeTag && find_field(field->bytes, kNodeSourceAddress)) return IrSchema::kDebugGraph;
    if (field->number == kConstantTag && find_field(field->bytes, kConstantFullName)) return IrSchema::kDebugGraph;
  }
  return IrSchema::kAnfIr;
}

}  // namespace

Result<IrProtobufGraph> find_ir_graph(std::string_view file) {
  MSDUMP_TRY(auto graph, place_of_graph(file));
  graph.schema = schema_of(graph);
  return graph;
}

}  // namespace msdump
