// Types and values of IR protobuf as IR text of MindSpore 2.3 and later spells them, so that both become one model:
//
//   types   <Tensor[Float32], (2, 3)>, <Bool, NoShape>, <Tuple[Int64,Tensor[Float16]], TupleShape(NoShape, (4))>
//   values  Bool(1), I64(-1), U8(3), F32(0.5), "text", (I64(1), I64(2)), [x, y] (texts in a list have no quotes),
//           {k: v}, None, F16 (a type), Tensor(shape=[2, 3], dtype=Float32)
// Tensors in a tuple have no shape: <Tuple[Tensor[Float32]], TupleShape(NoShape)>, where IR text has (2, 3). A tensor
// value is its shape and dtype: elements are not read, and writers of 1.6 and later leave them out. The numbers of data
// types are equal in proto/anf_ir.proto and proto/debug_graph.proto up to 42, and differ from 43 on (save_graphs: 43
// complex64, 46 bfloat16, 49 UMonad; beside a dump: 43 UMonad, 44 IOMonad, 46 bfloat16).
// Source: reference/ir.md 3, and the files of MindSpore 1.2 to 2.10 in the conformance data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace msdump {

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

}  // namespace msdump
