// Parts of an IR protobuf (ir/protobuf/ir_protobuf.h): the fields of a message, its graph, types and values. Types and
// values are spelled as in IR text of MindSpore 2.3 and later, so that both become one model:
//
//   types   <Tensor[Float32], (2, 3)>, <Bool, NoShape>, <Tuple[Int64,Tensor[Float16]], TupleShape(NoShape, (4))>
//   values  Bool(1), I64(-1), U8(3), F32(0.5), "text", (I64(1), I64(2)), [x, y] (texts in a list have no quotes),
//           {k: v}, None, F16 (a type), Tensor(shape=[2, 3], dtype=Float32)
// Tensors in a tuple have no shape: <Tuple[Tensor[Float32]], TupleShape(NoShape)>; IR text has (2, 3). A tensor value is its
// shape and dtype: elements are not read, and writers of 1.6 and later leave them out. Both schemas have the same numbers
// of data types up to 42. From 43 on they differ (save_graphs: 43 complex64, 46 bfloat16, 49 UMonad; beside a dump:
// 43 UMonad, 44 IOMonad, 46 bfloat16).
// Source: the writers of MindSpore and its files of 1.2 to 2.10.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace msdump {

// A field of a message, read without a schema: for messages that are cut, and for a few bytes of a large one. Groups, which
// no IR has, are damage.
struct ProtobufField {
  uint32_t number = 0;
  bool is_bytes = false;   // length-delimited: bytes, strings, messages
  bool cut = false;        // it extends past the end of the message
  std::string_view bytes;  // a view of the message
  uint64_t value = 0;      // of a number
  size_t offset = 0;       // of its tag in the message
};

class ProtobufFields {
 public:
  enum class State : uint8_t { kGood, kCut, kDamaged };

  explicit ProtobufFields(std::string_view message) : message_(message) {}

  // The next field; nothing at the end, and once fields can no longer be recognised: see state().
  std::optional<ProtobufField> next();

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] size_t offset() const { return offset_; }  // of the last field that was begun

 private:
  std::optional<uint64_t> varint();
  bool fixed(size_t size, ProtobufField& field);

  std::string_view message_;
  size_t at_ = 0, offset_ = 0;
  State state_ = State::kGood;
};

// The bytes of the last field of this number, the one that protobuf uses; nothing if there is none.
[[nodiscard]] std::optional<std::string_view> find_field(std::string_view message, uint32_t number);

// The schema of the messages.
enum class IrSchema : uint8_t {
  kAnfIr,       // save_graphs: proto/anf_ir.proto
  kDebugGraph,  // beside a dump: proto/debug_graph.proto
};

// `message` is a serialised TypeProto. Nothing if it is damaged; empty for the unknown type.
[[nodiscard]] std::optional<std::string> protobuf_type_text(IrSchema schema, std::string_view message);

struct ProtobufValue {
  std::string text;
  std::string type;  // as above; empty if it does not follow from the value
};

// `message` is a serialised ValueProto. Nothing if it is damaged.
[[nodiscard]] std::optional<ProtobufValue> protobuf_value(IrSchema schema, std::string_view message);

// The graph in an IR protobuf, and which of the two schemas it has.
struct IrProtobufGraph {
  std::string_view bytes;  // the GraphProto
  size_t offset = 0;       // in the file
  bool bare = false;       // the file is nothing else
  bool cut = false;        // it extends past the end of the file
  IrSchema schema = IrSchema::kDebugGraph;
};

// bad_protobuf if it is not IR protobuf, truncated if it ends too early to decide.
Result<IrProtobufGraph> find_ir_graph(std::string_view file);

}  // namespace msdump
