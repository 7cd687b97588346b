// Thresholds and priors of the judgement.
#pragma once

#include <cstdint>

namespace msdump {

// Beyond this relative error of an input the model, which is linear, does not hold.
inline constexpr double kMostError = 0.3;

// A value is passed on with the error that it was written with, or up to so many times that: a cast adds its rounding.
inline constexpr double kChangedOnTheWay = 4;

// One comparison in so many without a fault has an alarm.
inline constexpr double kComparisonsPerFalseAlarm = 1000;
// Rounding that nothing can be below of, in units of the dtype's roundoff.
inline constexpr double kLeastNoise = 0.25;
inline constexpr double kPriorNoise = 1;
inline constexpr double kSpreadOfNoise = 0.7;
// Errors of the gains add to what looks like an operator's own noise and never take from it: a low quantile is it.
inline constexpr double kShareOfNoise = 0.2;
inline constexpr double kLeastSpread = 0.12;
// Of statistics that agree, where what is expected is no more than they hide.
inline constexpr double kMostHidden = 4;
// A few statistics show an error by chance more or less than it is.
inline constexpr double kSpreadOfStatistics = 0.6, kLeastShown = 0.1;
// Rounding to bfloat16 leaves 2e-3 of a value on average; half a unit is at most 3.5 times that.
inline constexpr double kMostRounding = 0.01, kLargestOverMean = 2.5;
inline constexpr double kFewElements = 4;
// No arithmetic is coarser than this: products of inputs that are rounded to 10 bits, approximations of transcendental
// functions, or so many times the rounding of the format that values are stored in.
inline constexpr double kMostNoise = 4e-3, kMostRoundings = 16;
// Nor does an operator raise a random error by more beyond its gain.
inline constexpr double kMostGrowth = 3;
inline constexpr uint32_t kSeveral = 3;

}  // namespace msdump
