#include "ge/operators/operator_properties.h"

#include <vector>

#include "support/catch.h"

namespace msdump::ge {
namespace {

std::vector<uint32_t> slots(std::string_view type, OperatorProperty property) {
  const auto found = property_slots(type, property);
  return {found.begin(), found.end()};
}

}  // namespace

TEST_CASE("every property holds for some type, and none for an unknown one") {
  using enum OperatorProperty;
  const std::vector<std::pair<OperatorProperty, std::string_view>> examples = {{kCopiesOrFills, "masked_fill_"},
                                                                               {kCopiesOrFills, "Concat"},
                                                                               {kCasts, "Cast"},
                                                                               {kMayDiverge, "RealDiv"},
                                                                               {kAdds, "BiasAdd"},
                                                                               {kMakesConstants, "zeros_like"},
                                                                               {kTakesPart, "StridedSlice"},
                                                                               {kCommunicates, "all_reduce"},
                                                                               {kCommutes, "Mul"},
                                                                               {kChangesShape, "Reshape"},
                                                                               {kOptimizer, "AdamWeightDecay"},
                                                                               {kUpdates, "BatchNorm"},
                                                                               {kIgnores, "BatchNormGrad"},
                                                                               {kDividesByGradient, "fusedadam"},
                                                                               {kRoundsDerivative, "leakyrelu"},
                                                                               {kOptimizerState, "moments.fc.weight"}};
  for (const auto& [property, type] : examples) {
    INFO(type);
    CHECK(has_property(type, property));
    CHECK_FALSE(has_property("Conv2D", property));
    CHECK_FALSE(has_property("", property));
  }
}

TEST_CASE("a row that denies a property comes before those that give it") {
  CHECK(has_property("log1p", OperatorProperty::kMayDiverge));
  CHECK_FALSE(has_property("LogicalAnd", OperatorProperty::kMayDiverge));
  CHECK_FALSE(has_property("log_softmax", OperatorProperty::kMayDiverge));
  CHECK(has_property("Broadcast", OperatorProperty::kCommunicates));
  CHECK_FALSE(has_property("BroadcastTo", OperatorProperty::kCommunicates));
}

TEST_CASE("words match as their row says: whole, at the begin, anywhere, or as spelled") {
  CHECK_FALSE(has_property("TensorAdd2", OperatorProperty::kAdds));
  CHECK(has_property("InnerCommAllGather", OperatorProperty::kCommunicates));
  CHECK_FALSE(has_property("mul", OperatorProperty::kCommutes));
  CHECK(has_property("CAST", OperatorProperty::kCasts));
}

TEST_CASE("input slots that an operator updates or ignores") {
  CHECK(slots("SGD", OperatorProperty::kUpdates) == std::vector<uint32_t>{0, 3, 5});
  CHECK(slots("BatchNormGrad", OperatorProperty::kIgnores) == std::vector<uint32_t>{5});
  CHECK(slots("Add", OperatorProperty::kUpdates).empty());
}

}  // namespace msdump::ge
