// How alike operators of the device and of the host are, by the shapes and the values of their tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "compare/match/device/match_evidence.h"
#include "compare/match/device/operators/claims.h"

namespace msdump {

inline constexpr double kAlike = 0.9, kUnlike = 0.7;  // correlations
inline constexpr double kHalfOfInputs = 0.45;         // share: one of two, of which the other may be wrong
// Limits of claims times operators that are compared by one tensor and by all inputs; more are met in order.
inline constexpr size_t kMostCompared = size_t{1} << 20, kMostComparedByInputs = size_t{1} << 14;
inline constexpr ReachedLimit kComparedLimit = {"device_operators", kMostCompared,
                                                "operators of the device were met in order, not by their values"};
inline constexpr ReachedLimit kComparedByInputsLimit = {
    "device_operators_by_inputs", kMostComparedByInputs,
    "operators of the device were met without comparing their inputs"};

struct Fit {
  bool shapes = true;            // false: they differ
  std::optional<double> values;  // similarity (value_probe.h)
};
// Of the outputs where the claim is the last of its operator, else of the inputs.
[[nodiscard]] Fit fit_of(const Claim& claim, uint32_t host, MatchEvidence& evidence);

// Of a tensor of the device and the largest output of an operator of the host.
[[nodiscard]] std::optional<double> likeness_of_output(uint32_t device_tensor, uint32_t host, MatchEvidence& evidence);

// How many of the inputs of the operator that has fewer are among those of the other, as a share; what is not alike
// counts a little. 0 where nothing is known.
[[nodiscard]] double likeness_of_inputs(uint32_t device, uint32_t host, MatchEvidence& evidence);

// False only where the two are known to have different numbers of elements.
[[nodiscard]] bool same_count(uint32_t device_tensor, uint32_t host_tensor, const MatchEvidence& evidence);

// A likeness with its sign reversed, a claim, an operator of the host. Sorted, the best come first.
using RatedPairs = std::vector<std::tuple<double, uint32_t, uint32_t>>;

}  // namespace msdump
