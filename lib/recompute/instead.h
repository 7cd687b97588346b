// What an operator that is wrong computed instead: hypotheses that are computed and judged like what it was asked.
//
// One is named only if it reproduces the output within the rounding of its arithmetic, much closer than what was asked, and if the
// elements that it explains hold more bits than its description. Most wrong outputs have no such explanation; then nothing is named.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recompute/judge.h"

namespace msdump::recompute {

enum class Mistake : uint8_t {
  kHandedOn,    // the output is an operand
  kZero,        // all elements are 0
  kArgument,    // another axis, permutation, flag or mode
  kTransposed,  // two axes of an operand are exchanged in memory
  kLeftOut,
  kLastLeftOut,  // the last index along an axis of an operand
  kTwice,
  kNegated,
  kExchanged,  // two operands
  kOperator,   // another operator of the same operands
  kRolled,     // the output, by one along an axis
  kReversed,
  kSwapped,    // two axes of the output
  kOneWriter,  // of several updates of an element
  kPrecision,  // fewer bits of mantissa in all operands
  kStale,      // the output of an earlier operator
  kConstant,   // another number: epsilon, a scalar operand
  kOffset,
  kFactor,
  kTail,       // not written
  kNonFinite,  // NaN or infinities among elements that are right
};
[[nodiscard]] constexpr Mistake last_of(Mistake) { return Mistake::kNonFinite; }
[[nodiscard]] std::string_view name_of(Mistake mistake);

struct Instead {
  Mistake what = Mistake::kHandedOn;
  std::string value;  // the operand, argument, axis or number; may be empty
  double units = 0;   // of the output against it
  double bits = 0;    // of its description
};
// "as if b were transposed".
[[nodiscard]] std::string describe(const Instead& instead);

// An output that is wrong, and what it was asked with. The objects must outlive the call.
struct WrongOutput {
  const Array& y;
  const Kernel& kernel;
  const Call& call;
  const Output& output;
  const OperandFormats& formats;
  const DeviceTraits& device;
  const Judgement& judgement;
};
// What verifies, shortest description first; at most three.
[[nodiscard]] std::vector<Instead> find_instead(const WrongOutput& wrong);

// True if `earlier` is what `y` holds, element by element, and is no coincidence.
[[nodiscard]] bool is_stale(const Array& y, const Array& earlier);
// An earlier output, one of 300, takes so many bits.
inline constexpr size_t kEarlierOutputs = 300;
inline constexpr double kStaleBits = 9;

}  // namespace msdump::recompute
