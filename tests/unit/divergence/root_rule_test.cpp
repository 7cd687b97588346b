#include "divergence/root_rule.h"

#include <catch2/catch.hpp>

namespace msdump {

TEST_CASE(
    "the confidence of a rule is the share that was counted, in steps of 0.05; a rule without counts has that of its "
    "evidence") {
  CHECK(confidence(RootRule::kComputed) == 0.95);
  CHECK(confidence(RootRule::kExcess) == 0.7);  // right in 89 of 130
  CHECK(confidence(RootRule::kHandedOn) == 0.95);
  CHECK(confidence(RootRule::kNan) == confidence(RootRule::kDraw));
  CHECK(confidence(RootRule::kNan) > confidence(RootRule::kChanged));
  CHECK(confidence(RootRule::kNan) < confidence(RootRule::kMissing));
}

TEST_CASE("a rule says which kind of evidence decided") {
  CHECK(decided_by(RootRule::kArgument) == DecidedBy::kAsked);
  CHECK(decided_by(RootRule::kHandedOn) == DecidedBy::kHandedOn);
  CHECK(decided_by(RootRule::kCut) == DecidedBy::kEstimate);
  CHECK(name_of(RootRule::kEqualInputs) == "equal_inputs");
  CHECK(name_of(decided_by(RootRule::kComputed)) == "computed");
}

}  // namespace msdump
