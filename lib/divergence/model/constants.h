// The thresholds and priors of the search for roots, each with its reason.
//
// A value marked [derived] follows from the arithmetic in its comment. All others were chosen by hand and together, so
// that the right operator is named more often, and innocent ones less often, in
//   bench_blame --half fit       random nets of even seeds
//   scripts/e2e --msprobe        the first half
//   recorded pairs               corpus/device-pairs, corpus/trial, corpus/trial-msprobe, scripts/e2e --planted: all cases
// Most are round. docs/blame-measured.md has what gets worse without single ones, and their effect together, in cases that set none of them.
//
// Not here are bounds of time and memory, spreads of operators (operator_gain.cpp), and weights inside a formula.
#pragma once

#include <cstddef>
#include <cstdint>

namespace msdump {

// ---- limits of the model

// The relative error of an input beyond which the model, which is linear, does not hold.
inline constexpr double kMostError = 0.3;
// A value is passed on with up to so many times the error that it was written with: a cast adds its rounding. Likewise,
// statistics that agree say nothing if the expected error is at most so many times the one that they may hide.
inline constexpr double kChangedOnTheWay = 4;

// ---- gains (expectation.h)

// The share of an activation's elements that change sign for each unit of relative error: the density of a unit normal
// distribution at 0. Half of the elements pass. [derived]
inline constexpr double kFlipShare = 0.4;
// The number of further elements that may change sign by chance, in a tensor of any size.
inline constexpr double kFewFlips = 6;

// ---- what accepted algorithms of a type differ by (operator_gain.h)

// Factors rounded to 10 bits (HF32, TF32), as devices do by default in convolutions: half a unit is 2^-11. GELU by tanh, against
// erf: the largest difference of the two functions. [derived]
inline constexpr double kOtherAlgorithm = 5e-4;

// ---- the rounding that operators add

// The least rounding, in units of the dtype's roundoff, which is the largest one. The root mean square of all is 0.4 of
// it, and less if some elements are exact.
inline constexpr double kLeastNoise = 0.25;
// The standard deviation of the logarithm of what is known to a factor of two: the noise of a kind, an error that a few
// statistics show, a gain of errors that are not random, as faults make them.
inline constexpr double kFactorOfTwo = 0.6;
// The share that does not count: of outputs that differ, of integers that noise changes, of the largest error on a rank.
// Also the quantile of the errors of a kind that bounds its noise, as some operators add none, and the quantile of what an
// operator seems to add that is its own noise, as errors of the gains only add to it.
inline constexpr double kShareOfFew = 0.2;

// One or two may be chance: elements that are exact, tensors that are rounded, exact tensors for each of these, siblings
// with the expected error, which outweigh the bounds for vague gradients.
inline constexpr uint32_t kSeveral = 3;

// ---- the format that values are stored in

// The largest rounding over the root mean square of all: 2.6 for values that are spread evenly over a power of two, 2.5
// if their logarithms are. [derived]
inline constexpr double kLargestOverMean = 2.5;

// ---- statistics instead of elements

// The least share of an expected error that is assumed if statistics do not show it. Two recorded sets want opposite
// values: corpus/msprobe/planted.json and corpus/trial-msprobe.
inline constexpr double kLeastShown = 0.1;
// The largest error that statistics hide, however many elements there are.
inline constexpr double kMostHiddenError = 1e-3;

// ---- how siblings are weighed (scored_outputs.h)

// The number of samples that the level above counts for: the class of a kind, all of a class, the prior of all,
// and the prior's spread for that of a kind.
inline constexpr double kLean = 3;
// The factors by which a pair may scale the prior's spreads.
inline constexpr double kLeastScale = 0.6, kMostScale = 3;

// ---- scores and alarms (noise_model.h)

// The number of comparisons without a fault for each false alarm, if scores were normal deviates. bench_blame measures
// how often there is one. [derived, from that goal]
inline constexpr double kComparisonsPerFalseAlarm = 1000;
// The least spread of siblings, 12 %: closer agreement is chance.
inline constexpr double kLeastSpread = 0.12;
// The coarsest arithmetic: products of inputs that are rounded to 10 bits, approximations of transcendental functions, or
// so many times the rounding of the storage format. Storage in bfloat16 leaves 2e-3 of a value on
// average.
inline constexpr double kMostNoise = 4e-3, kMostRoundings = 16;
// The largest factor by which an operator raises a random error beyond its gain.
inline constexpr double kMostGrowth = 3;
// Likewise for modules and unknown operators: several operators in a row, with unknown gains.
inline constexpr double kMostGrowthOfUnknown = 30;
// An error of more than so many times the expected one is not called noise, whatever the siblings have.
inline constexpr double kNeverNoise = 1000;

// ---- values that enter or change on the way (run_inputs.h)

// The slack for rounding to a format, and for the text of statistics.
inline constexpr double kRounding = 1.25;
// The least exponent of a loss scale, a power of two: smaller ones are more often faults.
inline constexpr int kLeastExponent = 3;
// So many tensors must show a loss scale, gradients that were kept, or how far a pair is from the prior's spreads: fewer may by
// chance.
inline constexpr size_t kLeastTensors = 6;
// Such a tensor is off the power by less than this, as a logarithm to base 2, and points the same way.
inline constexpr double kMostOffPower = 0.1, kLeastCosine = 0.9;

// ---- roots (divergence.h)

// The score from which on an operator is named for the alarmed module around it.
inline constexpr double kStandsOut = 2;

}  // namespace msdump
