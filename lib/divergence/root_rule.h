// RootRule: why an operator, or a value that enters, is a root; which kind of evidence that is; and how often it was right. The counts are
// of the newest nets of scripts/e2e, which prints them (docs/blame.md).
#pragma once

#include <cstdint>
#include <string_view>

namespace msdump {

// The evidence for a root. All but kEstimate are exact.
enum class DecidedBy : uint8_t {
  kEstimate,  // its error is larger than what its inputs and rounding lead one to expect
  kAsked,     // it was asked something else than the reference's operator
  kComputed,  // it computes something else than its own inputs lead to
  kHandedOn,  // it reads something else than what the operator before it wrote
};
[[nodiscard]] constexpr DecidedBy last_of(DecidedBy) { return DecidedBy::kHandedOn; }
[[nodiscard]] std::string_view name_of(DecidedBy decided_by);

enum class RootRule : uint8_t {
  kGraph,        // asked: the graphs of the two sides differ here first
  kArgument,     // asked: an argument of the call, or an attribute, differs
  kComputed,     // computed again from its own inputs, an output is wrong
  kOutlier,      // computed again from its own inputs, an output is far less exact than those of similar operators
  kHandedOn,     // an input is not what its producer wrote
  kUpdate,       // a value that one side alone leaves as it was in the step before
  kKept,         // gradients of one side hold those of the batch before
  kParameter,    // a parameter or an input of the network differs where it is first read
  kSource,       // an input of unknown source differs, and nothing before it does
  kMissing,      // only the reference has the operator, and what reads it differs
  kExtra,        // only the candidate has it, and what reads it differs
  kCast,         // only the candidate rounds to a coarser dtype
  kConstant,     // a constant input differs
  kEqualInputs,  // the inputs are equal bit for bit, the outputs are not
  kExcess,       // an output differs more than the errors of the inputs and rounding explain
  kShape,        // the inputs have the same shapes, the outputs have not
  kChanged,      // an input has more error than its producer's output
  kNan,          // NaN or infinities come out of it and did not go in
  kDraw,         // only one side draws random numbers here
  kCollective,   // ranks did not receive what was sent, or replicas diverged
  kCut,          // the gradient is cut, and nothing else stands out
  kLine,         // the calls of a line of the script exist on one side only, and nothing else stands out
  kToken,        // the error of a token jumps, in runs that are compared token by token
};
[[nodiscard]] constexpr RootRule last_of(RootRule) { return RootRule::kToken; }
[[nodiscard]] std::string_view name_of(RootRule rule);
[[nodiscard]] DecidedBy decided_by(RootRule rule);

// The share of right roots among those that the rule named, in steps of 0.05 and at most 0.95. Of a rule that was never counted, that of
// its kind of evidence.
[[nodiscard]] double confidence(RootRule rule);

}  // namespace msdump
