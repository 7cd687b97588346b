#include "graph/join/proof.h"

#include "support/catch.h"

namespace msdump {
namespace {

ProofTally tally_of(std::initializer_list<Agreement> agreements) {
  ProofTally tally;
  for (const Agreement agreement : agreements) tally.count(agreement);
  return tally;
}

TEST_CASE("comparisons that told nothing are in no tally") {
  using enum Agreement;
  const ProofTally tally = tally_of({kEqual, kUnknown, kDifferent, kEqual, kEqual});
  CHECK(tally.agreeing == 3);
  CHECK(tally.contradicting == 1);
  CHECK(tally.share() == 0.75);
  CHECK(tally_of({kUnknown}).share() == 0);
}

TEST_CASE("a proof makes certain, leaves or takes away confidence") {
  using enum Agreement;
  CHECK(proved_confidence(0.5, tally_of({kEqual, kEqual})) == 1);
  CHECK(proved_confidence(0.5, tally_of({kEqual, kEqual, kDifferent})) == 0.5);
  CHECK(proved_confidence(0.9, tally_of({kEqual, kDifferent, kDifferent})) == 0.3);
  CHECK(proved_confidence(0.2, tally_of({kDifferent})) == 0.2);
  CHECK(proved_confidence(0.7, tally_of({kUnknown})) == 0.7);
}

}  // namespace
}  // namespace msdump
