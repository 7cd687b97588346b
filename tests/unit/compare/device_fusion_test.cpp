// Operators that the device's compiler fused or split.
#include <algorithm>

#include "support/catch.h"
#include "support/device_pair.h"

namespace msdump {
namespace {

PairTensor of(const char* text) { return text; }

const std::vector<PairOp> kBiasedProduct = {{"MatMul", "Default/a/MatMul-op1", {"x", "w"}, {"p"}},
                                            {"BiasAdd", "Default/a/BiasAdd-op1", {"p", of("b").sized(6)}, {"y"}}};
const Texts kBiasedPairs = {"MatMulV2.i0=MatMul.i0", "MatMulV2.i1=MatMul.i1",  "=MatMul.o0",
                            "=BiasAdd.i0",           "MatMulV2.i2=BiasAdd.i1", "MatMulV2.o0=BiasAdd.o0"};

Texts biased(const PairTensor& output, const std::string& name, const DevicePairOptions& options = {}) {
  return DevicePair({{"MatMulV2", name, {"x", "w", of("b").sized(6)}, {output}}}, kBiasedProduct, options).tensors();
}

}  // namespace

TEST_CASE("the output of concatenated names is that of the last operator; inner tensors are fused") {
  for (const bool ir : {false, true}) {
    for (const char* const name : {"Default/a/MatMul-op5Default/a/BiasAdd-op6", "Default/a/FusionOp_MatMul_BiasAdd-op9",
                                   "FusedX_0_Default/a/MatMul-op5_Default/a/BiasAdd-op6_1"})
      CHECK(biased("y", name, {.ir = ir}) == kBiasedPairs);
  }
}

TEST_CASE("an input that its own operator passes on is not made inside a fusion") {
  for (const bool ir : {false, true}) {
    const DevicePair pair(
        {{"FusedMulAdd", "Default/a/FusionOp_Mul_Add-op9", {"x", of("one").sized(1).all(1), "b"}, {"y"}}},
        {{"Mul", "Default/a/Mul-op1", {"x", of("one").sized(1).all(1)}, {"x"}},
         {"Add", "Default/a/Add-op1", {"x", "b"}, {"y"}}},
        {.ir = ir});
    CHECK(pair.tensors() == Texts{"FusedMulAdd.i0=Mul.i0", "FusedMulAdd.i1=Mul.i1", "=Mul.o0", "=Add.i0",
                                  "FusedMulAdd.i2=Add.i1", "FusedMulAdd.o0=Add.o0"});
  }
}

TEST_CASE("the inner tensors of a fusion have the fused operator as their reason") {
  const DevicePair pair({{"MatMulV2", "Default/a/FusionOp_MatMul_BiasAdd-op9", {"x", "w", of("b").sized(6)}, {"y"}}},
                        kBiasedProduct, {.ir = true});
  CHECK(pair.alone() == Texts{"=MatMul.o0: fused into Default_a_FusionOp_MatMul_BiasAdd-op9",
                              "=BiasAdd.i0: fused into Default_a_FusionOp_MatMul_BiasAdd-op9"});
}

TEST_CASE("the file of an output may say which operator it was") {
  const DevicePair pair(
      {{"MatMulV2", "Default/a/MatMul-op5", {"x", "w", of("b").sized(6)}, {of("y").once("Default/a/BiasAdd-op6")}}},
      kBiasedProduct, {.ir = true});
  CHECK(pair.tensors() == kBiasedPairs);
}

TEST_CASE("an operator takes in those after it if its values say so") {
  CHECK(biased("y", "Default/a/MatMul-op5", {.ir = true}) == kBiasedPairs);
}

TEST_CASE("an additional input is a bias where values cannot say so") {
  const PairTensor zeros = of("b").sized(6).all(0);
  const std::vector<PairOp> host = {{"MatMul", "Default/a/MatMul-op1", {"x", "w"}, {"y"}},
                                    {"BiasAdd", "Default/a/BiasAdd-op1", {"y", zeros}, {"y"}},
                                    {"Tanh", "Default/b/Tanh-op1", {"y"}, {"z"}}};
  const std::vector<PairOp> device = {{"MatMulV2", "Default/a/MatMul-op5", {"x", "w", zeros}, {"y"}},
                                      {"Tanh", "Default/b/Tanh-op9", {"y"}, {"z"}}};
  for (const bool statistics : {false, true}) {
    const DevicePair pair(device, host, {.ir = true, .statistics = statistics});
    CHECK(pair.tensors() == Texts{"MatMulV2.i0=MatMul.i0", "MatMulV2.i1=MatMul.i1", "=MatMul.o0", "=BiasAdd.i0",
                                  "MatMulV2.i2=BiasAdd.i1", "MatMulV2.o0=BiasAdd.o0", "Tanh.i0=Tanh.i0",
                                  "Tanh.o0=Tanh.o0"});
  }
}

TEST_CASE("an operator that two others read takes in neither") {
  const DevicePair pair({{"MatMulV2", "Default/a/MatMul-op5", {"x", "w"}, {"y"}}},
                        {{"Foo", "Default/b/Foo-op1", {"x"}, {"y"}},
                         {"MatMul", "Default/a/MatMul-op1", {"x", "w"}, {"p"}},
                         {"Exp", "Default/c/Exp-op1", {"p"}, {"y"}},
                         {"Neg", "Default/c/Neg-op1", {"p"}, {"z"}}},
                        {.ir = true});
  CHECK(pair.operators() == Texts{"Default_a_MatMul-op5=Default_a_MatMul-op1"});
}

TEST_CASE("without an additional input an addition of zeros stays an operator of its own") {
  const std::vector<PairOp> host = {{"MatMul", "Default/a/MatMul-op1", {"x", "w"}, {"y"}},
                                    {"Add", "Default/a/Add-op1", {"y", of("b").sized(6).all(0)}, {"y"}}};
  const DevicePair pair({{"MatMulV2", "Default/a/MatMul-op5", {"x", "w"}, {"y"}}}, host, {.ir = true});
  CHECK(pair.tensors() == Texts{"MatMulV2.i0=MatMul.i0", "MatMulV2.i1=MatMul.i1", "MatMulV2.o0=MatMul.o0", "=Add.i0",
                                "=Add.i1", "=Add.o0"});
}

namespace {

const auto kMean = of("mean").sized(4), kVariance = of("var").sized(4), kScale = of("scale").sized(4),
           kOffset = of("offset").sized(4);

}  // namespace

TEST_CASE("BatchNorm is split into a reduction and an update") {
  const std::vector<PairOp> host = {{"BatchNorm",
                                     "Default/bn/BatchNorm-op1",
                                     {"x", kScale, kOffset, kMean, kVariance},
                                     {"y", of("m").sized(4), of("v").sized(4)}}};
  for (const auto& [reduce, update] :
       {std::pair{"Default/bn/BNTrainingReduce-op5", "Default/bn/BNTrainingUpdate-op6"},
        {"Default/bn/BatchNorm-op5_Reduce", "Default/bn/BatchNorm-op5_Update"},
        {"Default/bn/BatchNorm-op5/BNTrainingReduce", "Default/bn/BatchNorm-op5/BNTrainingUpdate"}}) {
    const DevicePair pair({{"BNTrainingReduce", reduce, {"x"}, {of("sum").sized(4), of("square").sized(4)}},
                           {"BNTrainingUpdate",
                            update,
                            {"x", of("sum").sized(4), of("square").sized(4), kScale, kOffset, kMean, kVariance},
                            {"y", of("m").sized(4), of("v").sized(4), of("m2").sized(4), of("v2").sized(4)}}},
                          host);
    INFO(reduce);
    CHECK(pair.tensors() == Texts{"BNTrainingReduce.o0=", "BNTrainingReduce.o1=", "BNTrainingReduce.i0=BatchNorm.i0",
                                  "BNTrainingUpdate.i0=", "BNTrainingUpdate.i3=BatchNorm.i1",
                                  "BNTrainingUpdate.i1=", "BNTrainingUpdate.i4=BatchNorm.i2", "BNTrainingUpdate.i2=",
                                  "BNTrainingUpdate.i5=BatchNorm.i3", "BNTrainingUpdate.i6=BatchNorm.i4",
                                  "BNTrainingUpdate.o0=BatchNorm.o0", "BNTrainingUpdate.o1=BatchNorm.o1",
                                  "BNTrainingUpdate.o2=BatchNorm.o2", "BNTrainingUpdate.o3=", "BNTrainingUpdate.o4="});
    for (const std::string& text : pair.alone())
      CHECK(text.find(": inside an operator that the compiler split") != std::string::npos);
  }
}

TEST_CASE("BatchNormGrad is split into two gradients") {
  const DevicePair pair({{"BNTrainingUpdateGrad",
                          "Default/bn/BNTrainingUpdateGrad-op5",
                          {"dy", "x", kMean, kVariance},
                          {of("dscale").sized(4), of("doffset").sized(4)}},
                         {"BNTrainingReduceGrad",
                          "Default/bn/BNTrainingReduceGrad-op6",
                          {"dy", "x", of("dscale").sized(4), of("doffset").sized(4), kScale, kMean, kVariance},
                          {"dx"}}},
                        {{"BatchNormGrad",
                          "Default/bn/BatchNormGrad-op1",
                          {"dy", "x", kScale, kMean, kVariance},
                          {"dx", of("dscale").sized(4), of("doffset").sized(4)}}});
  CHECK(pair.tensors() ==
        Texts{"BNTrainingUpdateGrad.i0=BatchNormGrad.i0",
              "BNTrainingReduceGrad.i0=", "BNTrainingUpdateGrad.i1=BatchNormGrad.i1",
              "BNTrainingReduceGrad.i1=", "BNTrainingReduceGrad.i4=BatchNormGrad.i2",
              "BNTrainingReduceGrad.i2=", "BNTrainingUpdateGrad.i2=BatchNormGrad.i3",
              "BNTrainingReduceGrad.i3=", "BNTrainingUpdateGrad.i3=BatchNormGrad.i4",
              "BNTrainingReduceGrad.i5=", "BNTrainingReduceGrad.i6=", "BNTrainingReduceGrad.o0=BatchNormGrad.o0",
              "BNTrainingUpdateGrad.o0=BatchNormGrad.o1", "BNTrainingUpdateGrad.o1=BatchNormGrad.o2"});
}

TEST_CASE("a part of a split is paired where the files of the other part are missing") {
  const DevicePair pair({{"LayerNormBetaGammaBackprop",
                          "Default/ln/LayerNormGrad-op5_BetaGamma",
                          {"dy", "x"},
                          {of("dgamma").sized(4), of("dbeta").sized(4)}}},
                        {{"LayerNormGrad",
                          "Default/ln/LayerNormGrad-op1",
                          {"x", "dy"},
                          {"dx", of("dgamma").sized(4), of("dbeta").sized(4)}}});
  CHECK(pair.tensors() == Texts{"LayerNormBetaGammaBackprop.i1=LayerNormGrad.i0",
                                "LayerNormBetaGammaBackprop.i0=LayerNormGrad.i1", "=LayerNormGrad.o0",
                                "LayerNormBetaGammaBackprop.o0=LayerNormGrad.o1",
                                "LayerNormBetaGammaBackprop.o1=LayerNormGrad.o2"});
  const DevicePair reduced(
      {{"BNTrainingReduce", "Default/bn/BNTrainingReduce-op5", {"x"}, {of("sum").sized(4), of("square").sized(4)}}},
      {{"BatchNorm", "Default/bn/BatchNorm-op1", {"x", kScale, kOffset, kMean, kVariance}, {"y"}}});
  CHECK(reduced.tensors()[0] == "BNTrainingReduce.i0=BatchNorm.i0");
  const Texts alone = reduced.alone();
  CHECK(std::count(alone.begin(), alone.end(), "BNTrainingReduce.o0=: inside an operator that the compiler split") ==
        1);
  CHECK(std::count(alone.begin(), alone.end(), "BNTrainingReduce.o1=: inside an operator that the compiler split") ==
        1);
}

TEST_CASE("operators of other families do not join a fusion") {
  const DevicePair pair({{"SoftmaxV2", "Default/a/Softmax-op8", {"x"}, {"s"}},
                         {"SoftmaxGrad", "Default/a/SoftmaxGrad-op9", {"s", "ds"}, {"dx"}}},
                        {{"Softmax", "Default/a/Softmax-op1", {"x"}, {"s"}},
                         {"Mul", "Default/a/Mul-op1", {"ds", "s"}, {"p"}},
                         {"ReduceSum", "Default/a/ReduceSum-op1", {"p"}, {of("sum").sized(6)}},
                         {"Sub", "Default/a/Sub-op1", {"ds", of("sum").sized(6)}, {"d"}},
                         {"Mul", "Default/a/Mul-op2", {"d", "s"}, {"dx"}}},
                        {.ir = true});
  const Texts tensors = pair.tensors();
  for (const char* const right : {"SoftmaxV2.o0=Softmax.o0", "SoftmaxV2.i0=Softmax.i0", "SoftmaxGrad.o0=Mul.o0",
                                  "SoftmaxGrad.i1=Sub.i0", "SoftmaxGrad.i0=Mul.i1"})
    CHECK(std::count(tensors.begin(), tensors.end(), right) == 1);
  for (const std::string& text : pair.alone()) CHECK(text.ends_with(": fused into Default_a_SoftmaxGrad-op9"));
}

TEST_CASE("the update of a BatchNorm may include the activation after it") {
  const DevicePair pair(
      {{"BNTrainingReduce", "Default/bn/BNTrainingReduce-op5", {"x"}, {of("sum").sized(4), of("square").sized(4)}},
       {"BNTrainingUpdate",
        "Default/bn/BatchNorm-op5Default/ReLU-op6",
        {"x", of("sum").sized(4), of("square").sized(4), kScale, kOffset, kMean, kVariance},
        {"z", of("m").sized(4), of("v").sized(4), of("m2").sized(4), of("v2").sized(4)}}},
      {{"BatchNorm",
        "Default/bn/BatchNorm-op1",
        {"x", kScale, kOffset, kMean, kVariance},
        {"y", of("m").sized(4), of("v").sized(4)}},
       {"ReLU", "Default/ReLU-op1", {"y"}, {"z"}}},
      {.ir = true});
  CHECK(pair.tensors() == Texts{"BNTrainingReduce.o0=", "BNTrainingReduce.o1=", "BNTrainingReduce.i0=BatchNorm.i0",
                                "BNTrainingUpdate.i3=BatchNorm.i1", "BNTrainingUpdate.i4=BatchNorm.i2",
                                "BNTrainingUpdate.i5=BatchNorm.i3", "BNTrainingUpdate.i6=BatchNorm.i4", "=BatchNorm.o0",
                                "BNTrainingUpdate.o1=BatchNorm.o1", "BNTrainingUpdate.o2=BatchNorm.o2",
                                "BNTrainingUpdate.i0=", "=ReLU.i0", "BNTrainingUpdate.i1=", "BNTrainingUpdate.i2=",
                                "BNTrainingUpdate.o0=ReLU.o0", "BNTrainingUpdate.o3=", "BNTrainingUpdate.o4="});
}

TEST_CASE("an update with an activation in it is a part also where the files of the reduction are missing") {
  const auto sum = of("sum").sized(4), square = of("square").sized(4), m = of("m").sized(4), v = of("v").sized(4);
  for (const char* const fed : {"y", "other"}) {  // without a graph, values show whether BatchNorm feeds ReLU
    const DevicePair pair(
        {{"BNTrainingUpdate",
          "Default/bn/BatchNorm-op5_UpdateDefault/ReLU-op6",
          {"x", sum, square, kScale, kOffset, kMean, kVariance},
          {"z", m, v}}},
        {{"BatchNorm", "Default/bn/BatchNorm-op1", {"x", kScale, kOffset, kMean, kVariance}, {"y", m, v}},
         {"ReLU", "Default/ReLU-op1", {fed}, {"z"}}});
    const Texts tensors = pair.tensors(), alone = pair.alone();
    for (const char* const right : {"BNTrainingUpdate.o0=ReLU.o0", "BNTrainingUpdate.o1=BatchNorm.o1"})
      CHECK(std::count(tensors.begin(), tensors.end(), right) == 1);
    for (const std::string slot : {"i1", "i2"}) {
      const std::string split = ": inside an operator that the compiler split";
      CHECK(std::count(alone.begin(), alone.end(), "BNTrainingUpdate." + slot + "=" + split) == 1);
    }
  }
}

TEST_CASE("four operators of a softmax's gradient are one on the device") {
  const std::vector<PairOp> device = {{"SoftmaxGrad", "Default/a/SoftmaxGrad-op9", {"s", "ds"}, {"dx"}}};
  const std::vector<PairOp> host = {
      {"Mul", "Default/a/Mul-op1", {"s", "ds"}, {"p"}},
      {"ReduceSum", "Default/a/ReduceSum-op1", {"p", of("axis").ints(1)}, {of("sum").sized(6)}},
      {"Sub", "Default/a/Sub-op1", {"ds", of("sum").sized(6)}, {"d"}},
      {"Mul", "Default/a/Mul-op2", {"s", "d"}, {"dx"}}};
  const DevicePair pair(device, host, {.ir = true});
  CHECK(pair.tensors() == Texts{"SoftmaxGrad.i0=Mul.i0", "SoftmaxGrad.i1=Mul.i1", "=Mul.o0", "=ReduceSum.i0",
                                "=ReduceSum.i1", "=ReduceSum.o0", "=Sub.i0", "=Sub.i1", "=Sub.o0", "=Mul.i0", "=Mul.i1",
                                "SoftmaxGrad.o0=Mul.o0"});
  CHECK(DevicePair(device, host).tensors() == pair.tensors());
  for (const std::string& text : pair.alone()) {
    const char* const reason = text.starts_with("=ReduceSum.i1") ? ": an attribute in the candidate"
                                                                 : ": fused into Default_a_SoftmaxGrad-op9";
    CHECK(text.ends_with(reason));
  }
}

TEST_CASE("an operator between the two that a fusion names belongs to it") {
  const DevicePair pair({{"MatMulV2", "Default/a/FusionOp_MatMul_ReLU-op9", {"x", "w", of("b").sized(6)}, {"z"}}},
                        {{"MatMul", "Default/a/MatMul-op1", {"x", "w"}, {"p"}},
                         {"BiasAdd", "Default/a/BiasAdd-op1", {"p", of("b").sized(6)}, {"y"}},
                         {"ReLU", "Default/a/ReLU-op1", {"y"}, {"z"}}},
                        {.ir = true});
  CHECK(pair.tensors() == Texts{"MatMulV2.i0=MatMul.i0", "MatMulV2.i1=MatMul.i1", "=MatMul.o0", "=BiasAdd.i0",
                                "MatMulV2.i2=BiasAdd.i1", "=BiasAdd.o0", "=ReLU.i0", "MatMulV2.o0=ReLU.o0"});
}

TEST_CASE("a device operator may have outputs of its own") {
  const DevicePair pair({{"SoftmaxV2", "Default/a/Softmax-op9", {"x"}, {"y", "workspace"}}},
                        {{"Softmax", "Default/a/Softmax-op1", {"x"}, {"y"}}});
  CHECK(pair.alone() == Texts{"SoftmaxV2.o1=: not an output of Default_a_Softmax-op1"});
}

TEST_CASE("parameters are paired by their names; a device may have written none") {
  const std::vector<PairOp> host = {{"Parameter", "net.w", {}, {"w"}}, {"ReLU", "Default/a/ReLU-op1", {"w"}, {"y"}}};
  const DevicePair without({{"Relu", "Default/a/ReLU-op7", {"w"}, {"y"}}}, host);
  CHECK(without.alone() == Texts{"=Parameter.o0: the candidate has no files of parameters"});
  const DevicePair with({{"Parameter", "net.w", {}, {"w"}}, {"Relu", "Default/a/ReLU-op7", {"w"}, {"y"}}}, host);
  CHECK(with.tensors() == Texts{"Parameter.o0=Parameter.o0", "Relu.i0=ReLU.i0", "Relu.o0=ReLU.o0"});
  const DevicePair other({{"Parameter", "net.v", {}, {"v"}}, {"Relu", "Default/a/ReLU-op7", {"w"}, {"y"}}}, host);
  CHECK(other.alone() == Texts{"?Parameter.o0=: not in the reference; the nearest name there is net_w",
                               "?=Parameter.o0: not in the candidate; the nearest name there is net_v"});
}

}  // namespace msdump
