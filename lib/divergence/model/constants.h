// The thresholds and priors of the search for roots, each with its reason.
//
// What set them: a value marked [derived] follows from the arithmetic in its comment. All others were chosen by hand and
// together, so that the right operator is named more often, and innocent ones less often, in
//   bench_blame --half fit       random nets of even seeds
//   scripts/e2e --msprobe        the first half
//   recorded pairs               corpus/device-pairs, corpus/trial, corpus/trial-msprobe, scripts/e2e --planted: all cases
// What a single value is worth was not measured, and most are round.
// docs/blame.md has what they lead to together, in cases that none was set by.
//
// Elsewhere: bounds of time and memory where they apply, spreads of operators in the table of operator_gain.cpp, weights
// inside a formula beside it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace msdump {

// ---- where the model holds

// Beyond this relative error of an input the model, which is linear, does not hold.
inline constexpr double kMostError = 0.3;
// A value is passed on with the error that it was written with, or up to so many times that: a cast adds its rounding.
inline constexpr double kChangedOnTheWay = 4;

// ---- gains (expectation.h)

// Share of the elements of an activation that change sign for each unit of relative error: the density of a unit normal
// distribution at 0, and half of the elements pass. [derived]
inline constexpr double kFlipShare = 0.4;
// So many elements more than that may change sign by chance, in a tensor of any size.
inline constexpr double kFewFlips = 6;
// An error that is wholly in the part that an operator takes, and its rounding.
inline constexpr double kSlackOfPart = 1.1;

// Values below the first are masked, which exponentials make 0, where the largest is further up than that share of them.
inline constexpr double kMask = -1e3, kFarAboveMask = 0.1;

// ---- what accepted algorithms of a type differ by (operator_gain.h)

// Factors rounded to 10 bits (HF32, TF32), as devices do by default in convolutions: half a unit is 2^-11. [derived]
inline constexpr double kRoundedFactors = 5e-4;
// GELU by tanh, against erf: the largest difference of the two functions. [derived]
inline constexpr double kTanhForErf = 5e-4;

// ---- the rounding that operators add

// Rounding that nothing can be below of, in units of the dtype's roundoff. That is the largest rounding; the root mean
// square of all is 0.4 of it, and less where some elements are exact.
inline constexpr double kLeastNoise = 0.25;
// What operators add where no sample says it, in units of the dtype's roundoff.
inline constexpr double kPriorNoise = 1;
// Of the noise of operators of a kind, as the standard deviation of a logarithm: a factor of two.
inline constexpr double kSpreadOfNoise = 0.7;
// Errors of the gains add to what looks like an operator's own noise and never take from it: a low quantile is it.
inline constexpr double kShareOfNoise = 0.2;
// The noise of a kind is bounded by what this share of its operators have: some add none, such as a product with a power
// of two.
inline constexpr double kShareOfBounds = 0.1;

// ---- the format that values are stored in

// A difference of a parameter beyond it is none of storage: rounding to bfloat16 leaves 2e-3 of a value on average, half a
// unit is at most 3.5 times that. [derived]
inline constexpr double kMostRounding = 0.01;
// The largest rounding over the root mean square of all: 2.6 for values that are spread evenly over a power of two, 2.5
// where their logarithms are. [derived]
inline constexpr double kLargestOverMean = 2.5;
// A tensor of fewer elements may be exact by chance.
inline constexpr double kFewElements = 4;
// So many tensors show the format, and at least one for so many that are exact.
inline constexpr size_t kFewEntering = 3, kMostExactPerRounded = 3;

// ---- statistics in the place of elements

// A few statistics show an error by chance more or less than it is: the standard deviation of the logarithm.
inline constexpr double kSpreadOfStatistics = 0.6;
// What is taken to be there at least of an expected error that statistics do not show. Two recorded sets want opposite
// values: corpus/msprobe/planted.json and corpus/trial-msprobe.
inline constexpr double kLeastShown = 0.1;
// Statistics that agree say nothing where what is expected is up to so many times what they hide.
inline constexpr double kMostHidden = 4;
// They hide no more than this, however many elements there are.
inline constexpr double kMostHiddenError = 1e-3;

// ---- how siblings are weighed (scored_outputs.h)

// How many samples the level above counts for: of a kind its class, of a class all, of all the prior.
inline constexpr double kLeanOfKind = 2, kLeanOfClass = 3, kLeanOfAll = 3;
// The same of the spread of a kind, which leans on the prior's.
inline constexpr double kLeanOfSpread = 4;
// How far a pair may move the prior's spreads, and from how many samples on it does.
inline constexpr double kLeastScale = 0.6, kMostScale = 3;
inline constexpr size_t kFewScales = 8;

// ---- scores and alarms (noise_model.h)

// One comparison in so many without a fault would have an alarm if scores were normal deviates. bench_blame measures how
// often one has. [derived, from that goal]
inline constexpr double kComparisonsPerFalseAlarm = 1000;
// Siblings that agree by chance do not agree that well: 12 %.
inline constexpr double kLeastSpread = 0.12;
// No arithmetic is coarser than this: products of inputs that are rounded to 10 bits, approximations of transcendental
// functions, or so many times the rounding of the format that values are stored in.
inline constexpr double kMostNoise = 4e-3, kMostRoundings = 16;
// Nor does an operator raise a random error by more beyond its gain.
inline constexpr double kMostGrowth = 3;
// The same of modules and operators that are not known: several operators in a row, with gains that are not known either.
inline constexpr double kMostGrowthOfUnknown = 30;
// What is so many times more than its inputs and its own arithmetic lead to is not called noise, whatever siblings have.
inline constexpr double kNeverNoise = 1000;
// So many siblings that have what is expected say more than these bounds where gradients are vague.
inline constexpr uint32_t kSeveral = 3;

// ---- values that enter or change on the way (run_inputs.h)

// Rounding to a format, and the rounding of the text of statistics.
inline constexpr double kRounding = 1.25;
// An alarm upstream shows in an input if it has this many times the error that it would have had.
inline constexpr double kElevated = 2.5;
// The loss is scaled by a power of two: smaller ones are more often faults. So many tensors show it.
inline constexpr int kLeastExponent = 3;
inline constexpr size_t kLeastTensors = 6;
// Such a tensor is off the power by less than this, as a logarithm to base 2, and points the same way.
inline constexpr double kMostOffPower = 0.1, kLeastCosine = 0.9;

// ---- roots (divergence.h)

// Errors that are not random, as faults make them, are passed on by up to so much more or less: a standard deviation of
// the logarithm.
inline constexpr double kSpreadOfFaults = 0.5;
// Inside a module that is alarmed, an operator is named for it from this score on.
inline constexpr double kStandsOut = 2;
// The share of indices or truth values that may differ because of noise.
inline constexpr double kMostFlips = 0.1;

// ---- confidence

// By what the flow of data is known from; how often roots of a confidence are right on random nets: docs/blame.md.
inline constexpr double kSureByIr = 0.95, kSureByValues = 0.9, kSureByOrder = 0.6;
// Bounds of it; the lowest that applies counts.
inline constexpr double kNotAllKnown = 0.7, kOfDownstream = 0.7, kOfCast = 0.6, kUnknownSource = 0.5;
// Of an argument that differs, and of a line of the script that one side alone has.
inline constexpr double kArgumentConfidence = 0.9, kOneSidedLine = 0.5;

}  // namespace msdump
