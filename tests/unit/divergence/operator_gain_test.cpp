#include "divergence/model/operator_gain.h"

#include "support/catch.h"

namespace msdump {
namespace {

GainRule rule_of(std::string_view type) { return gain_of(gain_family(type)).rule; }
NoiseClass class_of(std::string_view type) { return gain_of(gain_family(type)).noise; }

}  // namespace

TEST_CASE("the spellings of MindSpore, the device and PyTorch are one family") {
  const auto alike = [](std::initializer_list<std::string_view> types) {
    for (const std::string_view type : types) {
      INFO(type);
      CHECK(gain_family(type) == gain_family(*types.begin()));
    }
  };
  alike({"Conv2D", "Conv2d", "conv2d"});
  alike({"ReLU", "Relu", "relu"});
  alike({"MatMul", "MatMulV2", "matmul"});
  alike({"BatchMatMul", "BatchMatMulV2"});
  alike({"SoftmaxV2", "Softmax", "softmax"});
  alike({"LayerNorm", "layer_norm"});
  alike({"GeLU", "Gelu", "gelu"});
  alike({"index_select", "IndexSelect"});
  CHECK(gain_family("Conv2D") != gain_family("Conv2DBackpropInput"));
}

TEST_CASE("each rule holds for the types that it is of, whatever framework they are of") {
  using enum GainRule;
  const auto all = [](GainRule rule, std::initializer_list<std::string_view> types) {
    for (const std::string_view type : types) {
      INFO(type);
      CHECK(rule_of(type) == rule);
    }
  };
  all(kPart, {"Reshape", "Transpose", "TransData", "Cast", "StridedSlice", "Gather", "permute", "Split"});
  all(kJoin, {"Concat", "ConcatV2", "ConcatD", "cat", "stack", "UnsortedSegmentSum"});
  all(kAdd, {"Add", "AddN", "Sub", "BiasAdd", "add", "AssignAdd"});
  all(kUnit, {"Mul", "Div", "RealDiv", "mul", "Sqrt", "ReduceMax", "MaxPool", "GeLUGrad", "Adam"});
  all(kProject, {"LayerNormGrad", "BatchNormGrad"});
  all(kPowerOf, {"__rpow__"});
  all(kContraction, {"MatMul", "BatchMatMul", "MatMulV2", "Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter",
                     "Dense", "Linear", "linear", "bmm"});
  all(kSum, {"ReduceSum", "sum", "BiasAddGrad"});
  all(kMean, {"ReduceMean", "mean", "AvgPool"});
  all(kExponential, {"Exp", "Softmax", "SoftmaxV2", "softmax"});
  all(kLogarithm, {"Log", "log", "Log1p"});
  all(kLossOfLogits, {"LogSoftmax", "LogSoftmaxV2", "SparseSoftmaxCrossEntropyWithLogits", "cross_entropy"});
  all(kSlope, {"ReLU", "Relu", "relu", "GeLU", "Sigmoid", "Tanh", "SiLU"});
  all(kNormalise, {"LayerNorm", "BatchNorm", "layer_norm", "RmsNorm"});
  all(kFlip, {"ReluGrad", "ReLUGrad", "PReLUGrad", "MaxPoolGrad"});
  all(kChoose, {"Argmax", "TopK", "Greater", "OneHot", "argmax", "Sign"});
  all(kRandom, {"Dropout", "dropout", "StandardNormal", "Bernoulli"});
}

TEST_CASE("an unknown type passes its error on and may add any noise") {
  const OperatorGain gain = gain_of(gain_family("MyOwnKernel"));
  CHECK(gain.rule == GainRule::kUnit);
  CHECK(gain.noise == NoiseClass::kUnknown);
  CHECK(gain.spread > gain_of(gain_family("Mul")).spread);
}

TEST_CASE("operators that move values add no noise, products and transcendental functions are classes of their own") {
  CHECK(class_of("Transpose") == NoiseClass::kMoves);
  CHECK(class_of("Concat") == NoiseClass::kMoves);
  CHECK(class_of("Mul") == NoiseClass::kElementwise);
  CHECK(class_of("Conv2D") == NoiseClass::kProducts);
  CHECK(class_of("ReduceSum") == NoiseClass::kReduction);
  CHECK(class_of("Softmax") == NoiseClass::kTranscendental);
  CHECK(class_of("LayerNormGrad") == NoiseClass::kNormalisation);
  CHECK(class_of("AdamWeightDecay") == NoiseClass::kUpdate);
}

}  // namespace msdump
