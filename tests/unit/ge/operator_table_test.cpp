// The vocabulary of operator types, and the slots.
#include "support/catch.h"

#include "ge/operators/operator_table.h"

namespace msdump::ge {
namespace {

const OperatorTable& table() { return OperatorTable::get(); }
std::string family(std::string_view type) { return table().family(type); }

// The slots that some rule of the table gives, "-" for an attribute; "none" when no rule fits.
std::string slots(std::string_view mindspore, std::string_view device, uint32_t inputs, uint32_t device_inputs) {
  for (const InputRule& rule : table().input_rules(mindspore, device)) {
    const auto map = slot_map(rule, inputs, device_inputs);
    if (!map) continue;
    std::string text;
    for (const auto& slot : *map) text += (slot ? std::to_string(*slot) : "-") + " ";
    return text;
  }
  return "none";
}

TEST_CASE("types of MindSpore and of the device that are one operator are one family") {
  for (const auto& [mindspore, device] : {std::pair{"ReLU", "Relu"},
                                          {"MatMul", "MatMulV2"},
                                          {"Concat", "ConcatV2D"},
                                          {"Softmax", "SoftmaxV2"},
                                          {"Adam", "ApplyAdamD"},
                                          {"GeLU", "Gelu"},
                                          {"Gather", "GatherV2D"},
                                          {"ReduceMean", "ReduceMeanD"},
                                          {"HSwish", "HardSwish"},
                                          {"Conv2DBackpropInput", "Conv2DBackpropInputD"},
                                          {"Stack", "Pack"}})
    CHECK(family(mindspore) == family(device));
  for (const auto& [one, other] : {std::pair{"Conv2D", "Conv"},
                                   {"MatMul", "BatchMatMul"},
                                   {"Mul", "Square"},
                                   {"ReLU", "ReLU6"},
                                   {"Add", "AddN"},
                                   {"BatchNorm", "LayerNorm"}})
    CHECK(family(one) != family(other));
}

TEST_CASE("a type that no table has is known by its spelling") {
  CHECK(family("FooBarV3") == family("foobar"));
  CHECK(family("FooBarV2D") == family("FooBar"));
  CHECK(family("FooBarExtV2") == family("FooBar"));
  CHECK(family("FooBarExt") == family("aclnnFooBar"));
  CHECK(family("Foo2D") != family("Foo2"));
  CHECK(family("D") == "d");
  CHECK(family("").empty());
}

TEST_CASE("the table knows which types only the device has") {
  for (const char* const type : {"Relu", "MatMulV2", "SoftmaxV2", "TransData", "MemSet"})
    CHECK(table().is_of_device(type));
  for (const char* const type : {"ReLU", "MatMul", "Softmax", "Conv2D", "Cast", "Fill", "NobodyKnows"})
    CHECK_FALSE(table().is_of_device(type));
}

TEST_CASE("what a compiler inserts is named with its effect") {
  CHECK(table().inserted("TransData") == "layout only");
  CHECK(table().inserted("Cast") == "dtype only");
  CHECK(table().inserted("Conv2D").empty());
}

TEST_CASE("inputs that are attributes on the device have no slot and do not shift the others") {
  CHECK(slots("MatMul", "MatMulV2", 4, 2) == "0 1 - - ");
  CHECK(slots("LayerNorm", "LayerNorm", 6, 3) == "0 1 2 - - - ");
  CHECK(slots("OneHot", "OneHotD", 4, 3) == "0 - 1 2 ");
  CHECK(slots("LayerNormGrad", "LayerNormGrad", 5, 5) == "1 0 2 3 4 ");
  CHECK(slots("MatMul", "MatMulV2", 4, 7) == "none");
}

TEST_CASE("lists take one slot for each tensor") {
  CHECK(slots("Concat", "ConcatD", 4, 3) == "0 1 2 - ");
  CHECK(slots("Concat", "Concat", 4, 4) == "1 2 3 0 ");
  CHECK(slots("Concat", "ConcatD", 3, 3) == "0 1 2 ");
}

TEST_CASE("a rule may name the attributes alone: the others keep their order") {
  CHECK(slots("ArgMaxV2", "ArgMaxD", 2, 1) == "0 - ");
  CHECK(slots("EmbeddingLookup", "EmbeddingLookup", 4, 2) == "0 1 - - ");
  CHECK(slots("ArgMaxV2", "ArgMaxD", 3, 2) == "0 - 1 ");
  CHECK(slots("ArgMaxV2", "ArgMaxD", 3, 4) == "none");
}

TEST_CASE("nobody knows the sizes of two lists, nor operands that a rule skips") {
  InputRule rule;
  rule.slots.resize(2);
  rule.slots[1].operand = 1;
  rule.slots[1].slot = 1;
  CHECK(slot_map(rule, 2, 2) == SlotMap{0, 1});
  rule.slots[0].list = rule.slots[1].list = true;
  CHECK(slot_map(rule, 2, 2) == std::nullopt);
  rule.slots[0].list = rule.slots[1].list = false;
  rule.slots[1].operand = 2;
  CHECK(slot_map(rule, 2, 2) == std::nullopt);
}

TEST_CASE("an attribute of MindSpore may be a constant with a slot on the device") {
  CHECK(slots("ReduceMean", "ReduceMean", 1, 2) == "0 ");
  CHECK(slots("Conv2DBackpropInput", "Conv2DBackpropInput", 2, 3) == "2 1 ");
}

TEST_CASE("a type that changes only the shape, or that a compiler inserts, may have no kernel") {
  for (const char* const type : {"Reshape", "FlattenGrad", "View", "Cast"}) CHECK(table().may_have_no_kernel(type));
  CHECK_FALSE(table().may_have_no_kernel("ReLU"));
}

TEST_CASE("a part is one of the operators that stand for a single one") {
  CHECK(table().is_part_of(family("BNTrainingReduce"), family("BatchNorm")));
  CHECK_FALSE(table().is_part_of(family("BatchNorm"), family("BNTrainingReduce")));
  CHECK_FALSE(table().is_part_of(family("FusedMulAdd"), family("Mul")));  // made of two
}

TEST_CASE("rewrites are read whole") {
  const auto found = std::find_if(table().rewrites().begin(), table().rewrites().end(),
                                  [](const Rewrite& one) { return one.mindspore.front() == family("BatchNormGrad"); });
  REQUIRE(found != table().rewrites().end());
  CHECK(found->device == std::vector<std::string>{family("BNTrainingUpdateGrad"), family("BNTrainingReduceGrad")});
  CHECK(found->outputs.size() == 3);
  CHECK(found->outputs[2].device_op == 0);
  CHECK(found->outputs[2].device_output == 1);
  CHECK(found->outputs[2].op == 0);
  CHECK(found->outputs[2].output == 2);
}

}  // namespace
}  // namespace msdump::ge
