#include "ir/model/types.h"

#include <fmt/format.h>

#include "ir/model/ir_builder.h"
#include "support/catch.h"

namespace msdump {
namespace {

// "DTYPE FORMAT SHAPE" and what else is true.
std::string reported(const IrType& type) {
  std::string text(type.dtype);
  if (!type.format.empty()) text.append(" ").append(type.format);
  text += type.shape ? fmt::format(" ({})", join_dims(*type.shape, ", ")) : "";
  if (type.is_tensor) text += " tensor";
  if (type.is_monad) text += " monad";
  if (!type.ref_key.empty()) text.append(" ref=").append(type.ref_key);
  return text;
}

std::string reported(std::string_view text) { return reported(parse_ir_type(text, 100).type); }

TEST_CASE("host types of every version are told apart") {
  CHECK(reported("<Tensor[Float32]x[const vector][32, 3]>") == "Float32 (32, 3) tensor");
  CHECK(reported("<Ref[Tensor(F32)]x[const vector][6]>") == "F32 (6) tensor");
  CHECK(reported("<Tensor[Float32]x()>") == "Float32 () tensor");
  CHECK(reported("<Tensor[Float32], (32, 3)>") == "Float32 (32, 3) tensor");
  CHECK(reported("<Ref[Tensor(F32)], (16), ref_key=:w2>") == "F32 (16) tensor ref=w2");
  CHECK(reported("<Ref[Tensor[Float32]], (5, 16), ref_key=fc3.weight, is_parameter, is_inplace>") ==
        "Float32 (5, 16) tensor ref=fc3.weight");
  CHECK(reported("<Tensor[Float32], (), value=...>") == "Float32 () tensor");
  CHECK(reported("<UMonad, NoShape>") == "UMonad monad");
  CHECK(reported("<Int64, NoShape>") == "Int64");
  CHECK(reported("<null>") == "");
  CHECK(reported("<kMetaTypeNone>") == "kMetaTypeNone");
}

TEST_CASE("dynamic shapes keep what is known") {
  CHECK(reported("<Tensor[Float32], (-1, 3)>") == "Float32 (-1, 3) tensor");
  CHECK(reported("<Tensor[Float32], (-2)>") == "Float32 tensor");
  CHECK(reported("<Tensor[Float32], {shape:(-1, 3)|min shape:(1, 3)|max shape:(9, 3)}>") == "Float32 (-1, 3) tensor");
}

TEST_CASE("device types of every version are told apart") {
  CHECK(reported("<Float16xNC1HWC0[const vector][32, 12, 13, 13, 16]>") ==
        "Float16 NC1HWC0 (32, 12, 13, 13, 16) tensor");
  CHECK(reported("<Float32xDefaultFormat[const vector]{2, 4}>") == "Float32 DefaultFormat (2, 4) tensor");
  CHECK(reported("<BoolxDefaultFormat[const vector]{}>") == "Bool DefaultFormat () tensor");
  CHECK(reported("<kTypeUnknownxDefaultFormat[const vector][5]>") == "kTypeUnknown DefaultFormat (5) tensor");
  CHECK(reported("<Complex64xDefaultFormat[const vector]{3}>") == "Complex64 DefaultFormat (3) tensor");
  CHECK(reported("<Int8xFRACTAL_NZ[const vector]{[0]:{32}, [1]:{16}, [2]:{-1}}>") ==
        "Int8 FRACTAL_NZ (32, 16, -1) tensor");
}

TEST_CASE("the flags of a reference are read") {
  const IrType type = parse_ir_type("<Ref[Tensor[Float32]], (5), ref_key=b, is_parameter, is_inplace>", 1).type;
  CHECK(type.is_inplace);
}

TEST_CASE("texts that are not types are kept as they are") {
  for (const char* text :
       {"", "<", "<>", "Tensor", "<Tensor[", "<Tensor[Float32], (1, 2", "<Float32xND[const vector]{1",
        "<Tensor[Float32], (99999999999999999999)>", "<[const vector]>", "<x[const vector]{}>"}) {
    const ParsedType parsed = parse_ir_type(text, 10);
    CHECK(parsed.type.text == text);
    CHECK(parsed.elements.empty());
  }
  CHECK(parse_ir_type("TupleUnfold", 1).type.dtype.empty());
}

TEST_CASE("tuples have elements with their shapes") {
  IrGraphBuilder builder;
  const auto elements = [&](std::string_view text) {
    std::string all;
    const IrType tuple = builder.graph().types[builder.type(text)];
    CHECK(tuple.is_tuple);
    for (const uint32_t element : tuple.elements) all += reported(builder.graph().types[element]) + "; ";
    return all;
  };
  CHECK(elements("<Tuple[Tensor[Float16],Tensor[Float32]*2]>") == "Float16 tensor; Float32 tensor; Float32 tensor; ");
  CHECK(elements(
            "<Tuple[Tensor[Float32],Int64], TupleShape((2, 3), NoShape), elements_use_flags={[const vector]{1, 1}}>") ==
        "Float32 (2, 3) tensor; Int64; ");
  CHECK(elements("<Tuple[Bool*3]>") == "Bool; Bool; Bool; ");
  CHECK(elements("<Tuple[Tuple[Tensor[Int8]],Bool], TupleShape(TupleShape((4)), NoShape)>") == "Tuple; Bool; ");
  CHECK(elements("<Tuple[]>") == "");
  CHECK(elements("<Dynamic Tuple[Int64]>") == "Int64; ");
  CHECK(elements("<List[Int64,Bool], ListShape(NoShape, NoShape)>") == "Int64; Bool; ");
}

TEST_CASE("a tuple that would unfold into more than it says is kept as its text") {
  const ParsedType parsed = parse_ir_type("<Tuple[Int64*65537]>", 65536);
  CHECK(parsed.elements_left_out);
  CHECK(parsed.elements.empty());
  std::string text = "<Tuple[" + std::string(60'000, 'x') + "*9], TupleShape(";
  for (int i = 0; i < 1000; ++i) text += "(),";
  CHECK(parse_ir_type(text + "())>", 65536).elements_left_out == false);
  std::string many = "<Tuple[" + std::string(60'000, 'x') + "*999], TupleShape(";
  for (int i = 0; i < 1000; ++i) many += "(),";
  CHECK(parse_ir_type(many + "())>", 65536).elements_left_out);
}

TEST_CASE("known dtypes are found in both spellings") {
  CHECK(parse_ir_type("<Tensor[BFloat16], ()>", 1).type.known_dtype() == DType::kBfloat16);
  CHECK(parse_ir_type("<Ref[Tensor(F32)], ()>", 1).type.known_dtype() == DType::kFloat32);
  CHECK(parse_ir_type("<Ref[Tensor(I64)], ()>", 1).type.known_dtype() == DType::kInt64);
  CHECK(parse_ir_type("<Ref[Tensor(U8)], ()>", 1).type.known_dtype() == DType::kUint8);
  CHECK_FALSE(parse_ir_type("<Func, NoShape>", 1).type.known_dtype());
  CHECK_FALSE(parse_ir_type("<null>", 1).type.known_dtype());
}

TEST_CASE("signatures are inputs and outputs") {
  std::vector<std::string_view> in, out;
  using Parts = std::vector<std::string_view>;
  CHECK(split_signature("(<A>, <B, (1, 2)>) -> (<C>)", in, out));
  CHECK(in == Parts{"<A>", "<B, (1, 2)>"});
  CHECK(out == Parts{"<C>"});
  CHECK(split_signature("(<A>)", in, out));
  CHECK(in == Parts{"<A>"});
  CHECK(out.empty());
  CHECK(split_signature("() -> (<C>)", in, out));
  CHECK(in.empty());
  CHECK(split_signature("(<A>) -> (<B>) -> (<C>)", in, out));
  CHECK(in == Parts{"<A>", "<B>"});
  CHECK(out == Parts{"<C>"});
  CHECK(split_signature("(`<null>`) -> (`<null>`)", in, out));
  CHECK(out == Parts{"<null>"});
  CHECK_FALSE(split_signature("(<A>) -> (<B>, <C", in, out));
}

}  // namespace
}  // namespace msdump
