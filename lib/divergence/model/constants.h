// Thresholds and priors of the judgement.
#pragma once

namespace msdump {

// Beyond this relative error of an input the model, which is linear, does not hold.
inline constexpr double kMostError = 0.3;

// A value is passed on with the error that it was written with, or up to so many times that: a cast adds its rounding.
inline constexpr double kChangedOnTheWay = 4;

}  // namespace msdump
