#include "ir/protobuf/protobuf_value.h"

#include "support/catch.h"
#include "support/ir_pb_builder.h"

namespace msdump {
namespace {

using namespace test;

constexpr IrSchema kDump = IrSchema::kDebugGraph;

std::string type_text(const std::string& message) { return protobuf_type_text(kDump, message).value_or("damaged"); }

std::string value_text(const std::string& message, IrSchema schema = kDump) {
  const auto value = protobuf_value(schema, message);
  return value ? value->text : "damaged";
}

std::string number(int type, uint32_t field, uint64_t value) {
  return pb_number(1, static_cast<uint64_t>(type)) + pb_number(field, value);
}

TEST_CASE("types are spelled as IR text spells them") {
  CHECK(type_text(pb_tensor_type(11, {2, 3})) == "<Tensor[Float32], (2, 3)>");
  CHECK(type_text(pb_tensor_type(46, {-1})) == "<Tensor[BFloat16], (-1)>");
  CHECK(type_text(pb_tensor_type(1, {})) == "<Tensor[Bool], ()>");
  CHECK(type_text(pb_tensor_type(43, {2})) == "<Tensor[Complex64], (2)>");
  CHECK(type_text(pb_type(1)) == "<Bool, NoShape>");
  CHECK(type_text(pb_type(13)) == "<String, NoShape>");
  CHECK(type_text(pb_type(34)) == "<None, NoShape>");
  CHECK(type_text(pb_type(43)) == "<UMonad, NoShape>");
  CHECK(type_text(pb_tuple_type({pb_type(5), pb_tensor_type(10, {4}), pb_tuple_type({pb_type(1)})})) ==
        "<Tuple[Int64,Tensor[Float16],Tuple[Bool]], TupleShape(NoShape, (4), TupleShape(NoShape))>");
  CHECK(type_text(pb_tuple_type({})) == "<Tuple[], TupleShape()>");
  CHECK(type_text(pb_type(32) + pb_bytes(3, pb_bytes(1, pb_type(5)))) == "<List[Int64], ListShape(NoShape)>");
}

TEST_CASE("every number of a type has its name, in full and as a value") {
  std::string names, values, tensors;
  for (int number = 1; number <= 12; ++number) {
    const std::string text = type_text(pb_type(number));
    names += text.substr(1, text.find(',') - 1) + " ";
    values += value_text(pb_number(1, 39) + pb_bytes(20, pb_type(number))) + " ";
  }
  CHECK(names == "Bool Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 Float16 Float32 Float64 ");
  CHECK(values == "Bool I8 I16 I32 I64 U8 U16 U32 U64 F16 F32 F64 ");
  for (const int number : {43, 44, 46, 48}) tensors += type_text(pb_tensor_type(number, {}));
  CHECK(tensors == "<Tensor[Complex64], ()><Tensor[Complex128], ()><Tensor[BFloat16], ()><Tensor[Int4], ()>");
  CHECK(type_text(pb_type(15)) == "<Func, NoShape>");
  CHECK(type_text(pb_type(39)) == "<TypeType, NoShape>");
  CHECK(type_text(pb_type(44)) == "<IOMonad, NoShape>");
}

TEST_CASE("a tensor in a tuple is no scalar because it has no shape") {
  CHECK(type_text(pb_tuple_type({pb_tensor_type(11, {}), pb_tensor_type(4, {2})})) ==
        "<Tuple[Tensor[Float32],Tensor[Int32]], TupleShape(NoShape, (2))>");
}

TEST_CASE("tuples in tuples are reported to a depth that no graph has") {
  std::string type = pb_type(5), value = pb_int_value(1);
  for (int i = 0; i < 16; ++i) {
    type = pb_tuple_type({type});
    value = pb_list_value(31, {value});
  }
  CHECK(type_text(type).find("Int64") != std::string::npos);
  CHECK(value_text(value).find("I64(1)") != std::string::npos);
  CHECK(type_text(pb_tuple_type({type})).find("Int64") == std::string::npos);
  CHECK(value_text(pb_list_value(31, {value})).find("...") != std::string::npos);
}

TEST_CASE("a type that says nothing, or has an unknown number, is empty") {
  CHECK(type_text("").empty());
  CHECK(type_text(pb_type(0)).empty());
  CHECK(type_text(pb_type(99)).empty());
  CHECK(type_text(pb_type(-1)).empty());
  CHECK(type_text(pb_tensor_type(99, {2})).empty());
  CHECK(type_text(pb_tuple_type({pb_type(99)})) == "<Tuple[null], TupleShape(NoShape)>");
  CHECK(type_text("\xff") == "damaged");
}

TEST_CASE("values are spelled as IR text spells them") {
  CHECK(value_text(number(1, 2, 1)) == "Bool(1)");
  CHECK(value_text(number(1, 2, 0)) == "Bool(0)");
  CHECK(value_text(pb_int_value(-1)) == "I64(-1)");
  CHECK(value_text(number(4, 3, 7)) == "I32(7)");
  CHECK(value_text(number(9, 4, UINT64_MAX)) == "U64(18446744073709551615)");
  CHECK(value_text(pb_number(1, 11) + pb_float(5, 0.5F)) == "F32(0.5)");
  CHECK(value_text(pb_text_value("same")) == "\"same\"");
  CHECK(value_text(pb_bytes(7, "U")) == "U");
  CHECK(value_text(pb_list_value(31, {pb_int_value(1), pb_list_value(31, {})})) == "(I64(1), ())");
  CHECK(value_text(pb_list_value(32, {pb_text_value("x"), pb_text_value("y")})) == "[x, y]");
  CHECK(value_text(pb_number(1, 34)) == "None");
  CHECK(value_text("").empty());
  CHECK(value_text(pb_number(1, 39) + pb_bytes(20, pb_type(10))) == "F16");
  CHECK(value_text(pb_number(1, 39) + pb_bytes(20, pb_tensor_type(11, {}))) == "Tensor[Float32]");
  CHECK(value_text(pb_number(1, 33) + pb_bytes(19, pb_bytes(1, "k") + pb_bytes(2, pb_int_value(2)))) == "{k: I64(2)}");
  CHECK(value_text(pb_number(1, 20) + pb_number(11, 3) + pb_number(11, 4)) == "[3, 4]");
  CHECK(value_text(pb_number(1, 28) + pb_bytes(15, "a") + pb_bytes(15, "b")) == "[a, b]");
  CHECK(value_text("\x0b") == "damaged");
}

TEST_CASE("a tensor has its shape and dtype, under the numbers of its schema") {
  const std::string dump = pb_number(1, 14) + pb_bytes(8, pb_bytes(3, "12345678") + pb_number(4, 2) + pb_number(5, 11));
  const std::string saved = pb_number(1, 14) + pb_bytes(8, pb_number(1, 2) + pb_number(1, 5) + pb_number(2, 10));
  CHECK(value_text(dump) == "Tensor(shape=[2], dtype=Float32)");
  CHECK(protobuf_value(kDump, dump)->type == "<Tensor[Float32], (2)>");
  CHECK(value_text(saved, IrSchema::kAnfIr) == "Tensor(shape=[2, 5], dtype=Float16)");
  CHECK(protobuf_value(IrSchema::kAnfIr, saved)->type == "<Tensor[Float16], (2, 5)>");
}

TEST_CASE("the type of a value follows from it") {
  CHECK(protobuf_value(kDump, pb_int_value(1))->type == "<Int64, NoShape>");
  CHECK(protobuf_value(kDump, pb_text_value("x"))->type == "<String, NoShape>");
  CHECK(protobuf_value(kDump, pb_list_value(31, {pb_int_value(1)}))->type == "<Tuple[Int64], TupleShape(NoShape)>");
  CHECK(protobuf_value(kDump, pb_bytes(7, "U"))->type.empty());
}

TEST_CASE("fields of a message are told apart without a schema") {
  const std::string message = pb_number(1, 300) + pb_bytes(2, "ab") + pb_float(5, 1.0F) + pb_bytes(2, "");
  ProtobufFields fields(message);
  auto field = fields.next();
  REQUIRE(field);
  CHECK((field->number == 1 && field->value == 300 && !field->is_bytes && field->offset == 0));
  field = fields.next();
  REQUIRE(field);
  CHECK((field->number == 2 && field->is_bytes && field->bytes == "ab" && field->offset == 3));
  field = fields.next();
  REQUIRE(field);
  CHECK((field->number == 5 && field->value == 0x3f800000));
  REQUIRE(fields.next());
  CHECK_FALSE(fields.next());
  CHECK(fields.state() == ProtobufFields::State::kGood);
  CHECK(find_field(message, 2) == "");
  CHECK_FALSE(find_field(message, 1));
  CHECK_FALSE(find_field(message, 7));
}

TEST_CASE("fields that are cut or damaged end the message") {
  const auto state_after_all = [](const std::string& message) {
    ProtobufFields fields(message);
    while (fields.next()) continue;
    return fields.state();
  };
  CHECK(state_after_all(pb_number(1, 300).substr(0, 2)) == ProtobufFields::State::kCut);
  CHECK(state_after_all(pb_float(5, 1.0F).substr(0, 3)) == ProtobufFields::State::kCut);
  CHECK(state_after_all(pb_bytes(2, "abc").substr(0, 4)) == ProtobufFields::State::kCut);
  CHECK(state_after_all(pb_varint(1 << 3) + std::string(10, '\xff')) == ProtobufFields::State::kDamaged);
  CHECK(state_after_all(pb_varint(0)) == ProtobufFields::State::kDamaged);
  CHECK(state_after_all(pb_varint(uint64_t{1} << 35 | 2) + pb_varint(0)) == ProtobufFields::State::kDamaged);
  for (const uint64_t wire_type : {3U, 4U, 6U, 7U})
    CHECK(state_after_all(pb_varint(8 | wire_type)) == ProtobufFields::State::kDamaged);
  CHECK_FALSE(find_field(pb_bytes(2, "abc").substr(0, 4), 2));
}

}  // namespace
}  // namespace msdump
