// The sums inside an operator: of how many products an element of a result consists, and how much larger its terms are.
#pragma once

#include <string_view>

#include "divergence/model/expectation.h"

namespace msdump {

// A gain: at most 1e12, which says that the result is the remainder of terms that cancel.
[[nodiscard]] double gain_ratio(double numerator, double denominator);

// How many products an element of the output is the sum of. Of a convolution and its gradients: each element of the
// feature map on the far side takes one product with each weight of its channel.
[[nodiscard]] double terms_of(std::string_view family, const KnownInput& x, const KnownInput& w, const KnownOutput& y);

}  // namespace msdump
