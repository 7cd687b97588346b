// What operators compute with: the attributes that the readers of GE keep, and what they are called.
#include <string>
#include <vector>

#include "ge/graph/ge_graph.h"
#include "ge/operators/operator_table.h"
#include "support/catch.h"
#include "support/ge_builder.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::GeAttr;

// IrNode::arguments of one operator, as each form gives it.
std::vector<std::string> arguments_of(const std::vector<GeAttr>& attributes) {
  test::GeOp op;
  op.name = "norm";
  op.type = "LayerNorm";
  op.attributes = attributes;
  std::vector<std::string> texts;
  const std::vector<test::GeNet> net = {{"net", {op}}};
  for (const std::string& text : {test::ge_proto_text(net), test::ge_onnx_text(net), test::ge_json_text(net)}) {
    const test::ScratchDir scratch;
    const auto ir = read_ge_graph(*File::open(scratch.write("graph.txt", text)));
    REQUIRE(ir);
    REQUIRE(ir->nodes.size() == 1);
    texts.emplace_back(ir->text(ir->nodes.front().arguments));
  }
  return texts;
}

std::vector<std::string> thrice(const std::string& text) { return {text, text, text}; }

}  // namespace

TEST_CASE("attributes that say what an operator computes are kept in all forms of a graph") {
  CHECK(arguments_of({{"epsilon", 'f', {"1e-05"}}, {"transpose_x1", 'b', {"true"}}}) ==
        thrice("{epsilon: 1e-05, transpose_x1: true}"));
  CHECK(arguments_of({{"axes", 'i', {"0", "-1"}, true}}) == thrice("{axes: (0, -1)}"));
  CHECK(arguments_of({{"axes", 'i', {"2"}, true}, {"axis", 'i', {"2"}}}) == thrice("{axes: (2), axis: 2}"));
}

TEST_CASE("other attributes are not kept") {
  CHECK(arguments_of({{"kernel_name", 'i', {"1"}}, {"_op_slice_info", 'i', {"3"}}}) == thrice(""));
  CHECK(arguments_of({{"axes", 'i', {}, true}}) == thrice(""));
  std::vector<std::string> many(64, "1");
  CHECK(arguments_of({{"axes", 'i', many, true}}).front().size() == std::string("{axes: ()}").size() + 64 * 3 - 2);
  many.emplace_back("1");
  CHECK(arguments_of({{"axes", 'i', many, true}}) == thrice(""));
}

TEST_CASE("an attribute has one name for all its spellings") {
  const ge::OperatorTable& table = ge::OperatorTable::get();
  const auto name = [&](std::string_view key) {
    const ge::Argument* const found = table.argument(key);
    return found == nullptr ? std::string() : std::string(found->name);
  };
  for (const char* const key : {"axis", "axes", "dim", "dimension", "concat_dim", "split_dim"})
    CHECK(name(key) == "axis");
  CHECK(name("eps") == "epsilon");
  CHECK(name("adj_x2") == "transpose_b");
  CHECK(name("data_format").empty());
  CHECK(name("").empty());
  CHECK(table.argument("perm")->kind == ge::ArgumentKind::kOrder);
  CHECK(table.argument("keepdim")->kind == ge::ArgumentKind::kFlag);
  CHECK(table.argument("multiples")->kind == ge::ArgumentKind::kShape);
  CHECK(table.argument("depth")->kind == ge::ArgumentKind::kCount);
  CHECK(table.argument("eps")->kind == ge::ArgumentKind::kNumber);
  CHECK(table.argument("axes")->kind == ge::ArgumentKind::kAxis);
}

TEST_CASE("the input that is an attribute elsewhere, by the rules of a type") {
  const ge::OperatorTable& table = ge::OperatorTable::get();
  const auto at = [&](const char* type, uint32_t slot, uint32_t inputs) {
    const ge::Argument* const found = table.argument_at(type, slot, inputs);
    return found == nullptr ? std::string() : std::string(found->name);
  };
  CHECK(at("LayerNorm", 3, 6) == "begin_norm_axis");
  CHECK(at("LayerNorm", 5, 6) == "epsilon");
  CHECK(at("LayerNorm", 2, 6).empty());
  CHECK(at("ReduceMean", 1, 3) == "axis");
  CHECK(at("ReduceMean", 2, 3) == "keep_dims");
  CHECK(at("MatMul", 3, 4) == "transpose_b");
  // After a list.
  CHECK(at("ConcatV2", 3, 4) == "axis");
  CHECK(at("ConcatV2", 2, 4).empty());
  CHECK(at("ConcatV2", 2, 3) == "axis");
  // A rule that names an operand twice says nothing of it.
  CHECK(at("AddRmsNorm", 2, 4).empty());
  CHECK(at("NobodyKnows", 1, 2).empty());
}

TEST_CASE("the input of the device that is an attribute of MindSpore") {
  const ge::OperatorTable& table = ge::OperatorTable::get();
  const auto on_device = [&](const char* mindspore, const char* device, uint32_t slot) {
    const ge::Argument* const found = table.argument_on_device(mindspore, device, slot);
    return found == nullptr ? std::string() : std::string(found->name);
  };
  CHECK(on_device("Argmax", "ArgMaxV2", 1) == "axis");
  CHECK(on_device("ApplyAdagradV2", "ApplyAdagradV2", 3) == "epsilon");
  CHECK(on_device("Argmax", "ArgMaxV2", 0).empty());
  CHECK(on_device("Argmax", "SoftmaxV2", 1).empty());
}

}  // namespace msdump
