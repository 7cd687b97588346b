// Which operators of a device dump are which of the network: match_device() through pair_sides().
#include "compare/match/device/device_match.h"
#include "compare/match/device/device_name.h"

#include <algorithm>

#include "support/catch.h"
#include "support/device_pair.h"

namespace msdump {
namespace {

bool all_have(const Pairing& pairing, PairedBy how) {
  return std::all_of(pairing.operators.begin(), pairing.operators.end(),
                     [&](const OpPair& pair) { return !pair.is_paired() || pair.how == how; });
}

PairTensor t(const char* text) { return text; }

}  // namespace

TEST_CASE("an operator of the device is paired with the one of its family in its scope, whatever its number") {
  const DevicePair pair(
      {{"Relu", "Default/a/ReLU-op7", {"x"}, {"y"}}, {"SoftmaxV2", "Default/b/Softmax-op1", {"y"}, {"z"}}},
      {{"ReLU", "Default/a/ReLU-op1", {"x"}, {"y"}}, {"Softmax", "Default/b/Softmax-op7", {"y"}, {"z"}}});
  CHECK(pair.operators() ==
        Texts{"Default_a_ReLU-op7=Default_a_ReLU-op1", "Default_b_Softmax-op1=Default_b_Softmax-op7"});
  CHECK(pair.tensors() ==
        Texts{"Relu.i0=ReLU.i0", "Relu.o0=ReLU.o0", "SoftmaxV2.i0=Softmax.i0", "SoftmaxV2.o0=Softmax.o0"});
  CHECK(all_have(pair.pairing(), PairedBy::kCompiler));
  CHECK(pair.pairing().operators[0].confidence == Approx(0.9));
}

TEST_CASE("reference and candidate may be exchanged") {
  const std::vector<PairOp> device = {{"Relu", "Default/a/ReLU-op7", {"x"}, {"y"}},
                                      {"Cast", "trans_Cast_3", {"y"}, {"y"}}};
  const std::vector<PairOp> host = {{"ReLU", "Default/a/ReLU-op1", {"x"}, {"y"}},
                                    {"Reshape", "Default/Reshape-op2", {"y"}, {"y"}}};
  const DevicePair pair(device, host), exchanged(device, host, {.device_is_a = false});
  Texts one = pair.tensors(), other = exchanged.tensors();
  std::sort(one.begin(), one.end());
  std::sort(other.begin(), other.end());
  CHECK(one == other);
  CHECK(pair.operators() == exchanged.operators());
  CHECK(pair.alone() == Texts{"Cast.i0=: inserted by the compiler: dtype only",
                              "Cast.o0=: inserted by the compiler: dtype only",
                              "=Reshape.i0: no kernel in the candidate: no element changes",
                              "=Reshape.o0: no kernel in the candidate: no element changes"});
  CHECK(exchanged.alone() == Texts{"=Reshape.i0: no kernel in the reference: no element changes",
                                   "=Reshape.o0: no kernel in the reference: no element changes",
                                   "Cast.i0=: inserted by the compiler: dtype only",
                                   "Cast.o0=: inserted by the compiler: dtype only"});
}

TEST_CASE("two dumps are paired by their files' names when neither, or both, are of a device") {
  const std::vector<PairOp> device = {{"Relu", "Default/a/ReLU-op7", {"x"}, {"y"}}};
  const DevicePair both(device, {{"Relu", "Default/a/ReLU-op7", {"x"}, {"y"}},
                                 {"TransData", "trans_TransData_1", {"inserted"}, {"inserted"}}});
  CHECK(all_have(both.pairing(), PairedBy::kName));
  const DevicePair neither(device, {{"ReLU", "Default/a/ReLU-op7", {"x"}, {"y"}}}, {.with_trans_data = false});
  CHECK_FALSE(all_have(neither.pairing(), PairedBy::kCompiler));
}

TEST_CASE("two device dumps are paired although their numbers differ") {
  const DevicePair both(
      {{"Relu", "Default/a/ReLU-op7", {"x"}, {"y"}}, {"SoftmaxV2", "Default/a/Softmax-op8", {"y"}, {"z"}}},
      {{"Relu", "Default/a/ReLU-op3", {"x"}, {"y"}},
       {"SoftmaxV2", "Default/a/Softmax-op4", {"y"}, {"z"}},
       {"TransData", "trans_TransData_2", {"inserted"}, {"inserted"}}});
  CHECK(both.tensors() ==
        Texts{"Relu.i0=Relu.i0", "Relu.o0=Relu.o0", "SoftmaxV2.i0=SoftmaxV2.i0", "SoftmaxV2.o0=SoftmaxV2.o0"});
  CHECK(both.alone().empty());  // the inserted one included
}

TEST_CASE("operators that are fused alike in two device dumps are paired") {
  const auto dump = [](const char* product, const char* activation) {
    return std::vector<PairOp>{{"MatMulV2", product, {"x", "w", t("b").sized(6)}, {"y"}},
                               {"Relu", activation, {"y"}, {"z"}},
                               {"Cast", "trans_Cast_" + std::string(1, product[19]), {"z"}, {"z"}},
                               {"TransData", "trans_TransData_2", {"inserted"}, {"inserted"}}};
  };
  const DevicePair both(dump("Default/a/MatMul-op5Default/a/BiasAdd-op6", "Default/a/ReLU-op7"),
                        dump("Default/a/MatMul-op3Default/a/BiasAdd-op4", "Default/a/ReLU-op9"),
                        {.with_trans_data = false});
  CHECK(both.alone().empty());
  CHECK(both.tensors().size() == 10);
}

TEST_CASE("a device dump is known by concatenated names, by TransData, or by three of its types") {
  const auto known = [](const std::vector<std::pair<std::string_view, std::string>>& operators) {
    std::vector<SequencedOp> sequence;
    for (const auto& [type, name] : operators) {
      SequencedOp one;
      one.type = type;
      one.name = name;
      if (name != "empty") one.tensors = {RecordId(0)};
      sequence.push_back(one);
    }
    return device_signs(sequence);
  };
  CHECK(known({{"MatMul", "Default/a/MatMul-op3Default/a/BiasAdd-op4"}}) == DeviceSigns::kCertain);
  CHECK(known({{"TransData", "x"}}) == DeviceSigns::kCertain);
  CHECK(known({{"Relu", "a"}, {"MatMulV2", "b"}, {"SoftmaxV2", "c"}}) == DeviceSigns::kTypes);
  CHECK(known({{"Relu", "a"}, {"MatMulV2", "b"}}) == DeviceSigns::kNone);
  CHECK(known({{"Relu", "a"}, {"Relu", "b"}, {"Relu", "c"}}) == DeviceSigns::kNone);
  CHECK(known({{"ReLU", "a"}, {"MatMul", "b"}, {"Softmax", "c"}}) == DeviceSigns::kNone);
  CHECK(known({{"TransData", "empty"}}) == DeviceSigns::kNone);
  CHECK(known({}) == DeviceSigns::kNone);
}

TEST_CASE("a host's dump may have types of a device: the other one's inserted operators say more") {
  std::vector<PairOp> host, device;
  for (const char* const type : {"Relu", "MatMulV2", "SoftmaxV2"}) {
    const std::string scope = std::string("Default/") + type + "/";
    host.push_back({type, scope + type + "-op1", {"x"}, {type}});
    device.push_back({type, scope + type + "-op7", {"x"}, {type}});
  }
  host.push_back({"Reshape", "Default/Reshape-op2", {"x"}, {"x"}});
  for (const bool device_is_a : {true, false}) {
    const DevicePair pair(device, host, {.device_is_a = device_is_a});
    CHECK(all_have(pair.pairing(), PairedBy::kCompiler));
    CHECK(pair.operators().size() == 3);
    CHECK(pair.alone().size() == 2);
  }
}

TEST_CASE("values distinguish the operators of one family in a scope, in whatever order they ran") {
  const DevicePair pair({{"Relu", "Default/a/ReLU-op1", {"x3"}, {"y3"}},
                         {"Relu", "Default/a/ReLU-op2", {"x1"}, {"y1"}},
                         {"Relu", "Default/a/ReLU-op3", {"x2"}, {"y2"}}},
                        {{"ReLU", "Default/a/ReLU-op1", {"x1"}, {"y1"}},
                         {"ReLU", "Default/a/ReLU-op2", {"x2"}, {"y2"}},
                         {"ReLU", "Default/a/ReLU-op3", {"x3"}, {"y3"}}});
  CHECK(pair.operators() == Texts{"Default_a_ReLU-op2=Default_a_ReLU-op1", "Default_a_ReLU-op3=Default_a_ReLU-op2",
                                  "Default_a_ReLU-op1=Default_a_ReLU-op3"});
}

TEST_CASE("values show which operator of a family one side lacks") {
  const DevicePair pair(
      {{"Relu", "Default/a/ReLU-op1", {"x2"}, {"y2"}}},
      {{"ReLU", "Default/a/ReLU-op1", {"x1"}, {"y1"}}, {"ReLU", "Default/a/ReLU-op2", {"x2"}, {"y2"}}});
  CHECK(pair.operators() == Texts{"Default_a_ReLU-op1=Default_a_ReLU-op2"});
}

TEST_CASE("an operator whose values are wrong takes the place that the others leave") {
  const DevicePair pair({{"Relu", "Default/a/ReLU-op1", {"x1"}, {"y1"}},
                         {"Relu", "Default/a/ReLU-op2", {"wrong in"}, {"wrong"}},
                         {"Relu", "Default/a/ReLU-op3", {"x3"}, {"y3"}}},
                        {{"ReLU", "Default/a/ReLU-op1", {"x1"}, {"y1"}},
                         {"ReLU", "Default/a/ReLU-op2", {"x2"}, {"y2"}},
                         {"ReLU", "Default/a/ReLU-op3", {"x3"}, {"y3"}}});
  CHECK(pair.operators() == Texts{"Default_a_ReLU-op1=Default_a_ReLU-op1", "Default_a_ReLU-op2=Default_a_ReLU-op2",
                                  "Default_a_ReLU-op3=Default_a_ReLU-op3"});
}

TEST_CASE("without values the shapes of outputs exclude operators") {
  const DevicePair pair({{"Relu", "Default/a/ReLU-op1", {"x2"}, {t("y2").sized(20)}},
                         {"Relu", "Default/a/ReLU-op3", {"x3"}, {t("y3").sized(30)}}},
                        {{"ReLU", "Default/a/ReLU-op1", {"x1"}, {t("y1").sized(10)}},
                         {"ReLU", "Default/a/ReLU-op2", {"x2"}, {t("y2").sized(20)}},
                         {"ReLU", "Default/a/ReLU-op3", {"x3"}, {t("y3").sized(30)}}},
                        {.statistics = true});
  CHECK(pair.operators() == Texts{"Default_a_ReLU-op1=Default_a_ReLU-op2", "Default_a_ReLU-op3=Default_a_ReLU-op3"});
}

TEST_CASE("the only operators of a family are paired although their scopes differ; several where values say so") {
  const DevicePair one({{"SoftmaxV2", "Default/other/Softmax-op7", {"x"}, {"y"}}},
                       {{"Softmax", "Default/a/Softmax-op1", {"x"}, {"y"}}});
  CHECK(one.operators() == Texts{"Default_other_Softmax-op7=Default_a_Softmax-op1"});
  const DevicePair two(
      {{"Relu", "Default/other/ReLU-op7", {"x2"}, {"y2"}}, {"Relu", "Default/other/ReLU-op8", {"none"}, {"else"}}},
      {{"ReLU", "Default/a/ReLU-op1", {"x1"}, {"y1"}}, {"ReLU", "Default/a/ReLU-op2", {"x2"}, {"y2"}}});
  CHECK(two.operators() == Texts{"Default_other_ReLU-op7=Default_a_ReLU-op2"});
  const DevicePair unlike({{"SoftmaxV2", "Default/other/Softmax-op7", {"bad in"}, {"bad"}}},
                          {{"Softmax", "Default/a/Softmax-op1", {"x"}, {"y"}}});
  CHECK(unlike.operators().empty());
}

TEST_CASE("operators that have only their values in common are paired by them") {
  const DevicePair pair({{"NobodyKnows", "something_5", {"x"}, {"y"}}}, {{"ReLU", "Default/a/ReLU-op1", {"x"}, {"y"}}});
  CHECK(pair.operators() == Texts{"something_5=Default_a_ReLU-op1"});
  CHECK(all_have(pair.pairing(), PairedBy::kValues));
  CHECK(pair.pairing().operators[0].confidence == Approx(0.6));
  CHECK(pair.tensors() == Texts{"NobodyKnows.i0=ReLU.i0", "NobodyKnows.o0=ReLU.o0"});
  const DevicePair few({{"NobodyKnows", "something_5", {t("x").sized(8)}, {t("y").sized(8)}}},
                       {{"ReLU", "Default/a/ReLU-op1", {t("x").sized(8)}, {t("y").sized(8)}}});
  CHECK(few.operators().empty());
}

TEST_CASE("several operators are paired by their values, each with the one that it resembles most") {
  const DevicePair pair(
      {{"NobodyKnows", "something_5", {"x2"}, {"y2"}}, {"NoOneKnows", "something_6", {"x1"}, {"y1"}}},
      {{"ReLU", "Default/a/ReLU-op1", {"x1"}, {"y1"}}, {"Tanh", "Default/a/Tanh-op1", {"x2"}, {"y2"}}});
  CHECK(pair.operators() == Texts{"something_6=Default_a_ReLU-op1", "something_5=Default_a_Tanh-op1"});
}

TEST_CASE("an operator is not paired with a parameter of its values") {
  const DevicePair pair({{"Muls", "Expand/Muls-op7", {"x"}, {"y"}}},
                        {{"Parameter", "moment1.net.w", {}, {"y"}}, {"ReLU", "Default/a/ReLU-op1", {"x"}, {"z"}}});
  CHECK(pair.operators().empty());
}

TEST_CASE("an inserted operator has no partner, even where it carries the values of one") {
  const DevicePair pair({{"Relu", "Default/a/ReLU-op7", {"x"}, {"y"}},
                         {"TransData", "Default/a/ReLU-op7_TransData", {"y"}, {"y"}},
                         {"MemSet", "Default/a/ReLU-op7_MemSet", {}, {"y"}}},
                        {{"ReLU", "Default/a/ReLU-op1", {"x"}, {"y"}}, {"Tanh", "Default/a/Tanh-op2", {"y"}, {"y"}}});
  CHECK(pair.operators() == Texts{"Default_a_ReLU-op7=Default_a_ReLU-op1"});
  CHECK(pair.alone() == Texts{"TransData.i0=: inserted by the compiler: layout only",
                              "TransData.o0=: inserted by the compiler: layout only",
                              "MemSet.o0=: inserted by the compiler: zero fill",
                              "?=Tanh.i0: not in the candidate; the nearest name there is Default_a_ReLU-op7",
                              "?=Tanh.o0: not in the candidate; the nearest name there is Default_a_ReLU-op7"});
}

TEST_CASE("what changes only a shape, or what a compiler leaves out, has no kernel") {
  const DevicePair pair({{"Relu", "Default/a/ReLU-op7", {"x"}, {"y"}}}, {{"ReLU", "Default/a/ReLU-op1", {"x"}, {"y"}},
                                                                         {"Flatten", "Default/Flatten-op1", {}, {"y"}},
                                                                         {"Cast", "Default/Cast-op1", {}, {"y"}},
                                                                         {"Tanh", "Default/Tanh-op1", {}, {"z"}}});
  CHECK(pair.alone() == Texts{"=Flatten.o0: no kernel in the candidate: no element changes",
                              "=Cast.o0: no kernel in the candidate: no element changes",
                              "?=Tanh.o0: not in the candidate"});
}

TEST_CASE("a Cast of the network is paired, one that the compiler inserted is not") {
  const DevicePair pair({{"Cast", "Default/a/Cast-op7", {"x"}, {"y"}}, {"Cast", "trans_Cast_4", {"y"}, {"y"}}},
                        {{"Cast", "Default/a/Cast-op1", {"x"}, {"y"}}});
  CHECK(pair.operators() == Texts{"Default_a_Cast-op7=Default_a_Cast-op1"});
}

TEST_CASE("ranks and steps are paired with their own") {
  std::vector<PairOp> device, host;
  for (const int rank : {0, 1}) {
    for (const int step : {0, 1}) {
      device.push_back({"Relu", "Default/a/ReLU-op7", {"x"}, {"y"}, rank, step});
      host.push_back({"ReLU", "Default/a/ReLU-op1", {"x"}, {"y"}, rank, step});
    }
  }
  host.push_back({"ReLU", "Default/a/ReLU-op1", {"x"}, {"y"}, 0, 2});
  host.push_back({"ReLU", "Default/a/ReLU-op1", {"x"}, {"y"}, 2, 0});
  const DevicePair pair(device, host);
  CHECK(pair.operators().size() == 2);
  const Texts tensors = pair.tensors();
  CHECK(std::count(tensors.begin(), tensors.end(), "Relu.o0=ReLU.o0") == 4);
  CHECK(pair.alone() == Texts{"?=ReLU.i0: the candidate has no step 2", "?=ReLU.o0: the candidate has no step 2",
                              "?=ReLU.i0: the candidate has no rank 2", "?=ReLU.o0: the candidate has no rank 2"});
}

TEST_CASE("a single rank and step on each side are paired whatever their numbers are") {
  const DevicePair pair(
      {{"Relu", "Default/a/ReLU-op7", {"x"}, {"y"}, 3, 5}, {"TransData", "trans_TransData_2", {"x"}, {"x"}, 3, 5}},
      {{"ReLU", "Default/a/ReLU-op1", {"x"}, {"y"}, 0, 1}}, {.with_trans_data = false});
  CHECK(pair.alone() == Texts{"TransData.i0=: inserted by the compiler: layout only",
                              "TransData.o0=: inserted by the compiler: layout only"});
}

}  // namespace msdump
