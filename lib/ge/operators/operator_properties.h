// Properties of operators by their type, of MindSpore, of the device or of torch: properties.csv.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace msdump::ge {

// In the order of properties.csv, which explains them.
enum class OperatorProperty : uint8_t {
  kCopiesOrFills,
  kCasts,
  kMayDiverge,
  kAdds,
  kMakesConstants,
  kTakesPart,
  kCommunicates,
  kCommutes,
  kChangesShape,
  kSizesByValues,
  kOptimizer,
  kUpdates,
  kIgnores,
  kDividesByGradient,
  kRoundsDerivative,
  kOptimizerState,  // of a parameter, by its name
};

[[nodiscard]] bool has_property(std::string_view type, OperatorProperty property);
// Input slots of kUpdates and kIgnores; empty for a type without the property.
[[nodiscard]] std::span<const uint32_t> property_slots(std::string_view type, OperatorProperty property);

}  // namespace msdump::ge
