#include "compare/tokens/token_match.h"

#include "support/catch.h"

namespace msdump {
namespace {

using Sequences = std::vector<TokenSequence>;
using Matched = std::vector<MatchedSequence>;

Matched matched(const Sequences& a, const Sequences& b) { return match_sequences(a, b).sequences; }

TEST_CASE("equal sequences are matched in their order") {
  const Sequences a = {{0, {1, 2}}, {0, {3}}, {0, {1, 2}}}, b = {{0, {1, 2}}, {0, {1, 2}}, {0, {3}}};
  CHECK(matched(a, b) == Matched{{0, 0, 0, 2, 0}, {2, 1, 0, 2, 0}, {1, 2, 0, 1, 0}});
  CHECK(match_sequences(a, b).tokens == 5);
}

TEST_CASE("a sequence that the other one continues has the tokens of both") {
  CHECK(matched({{0, {1, 2, 3}}}, {{0, {1, 2, 3, 4}}}) == Matched{{0, 0, 0, 3, 0}});
  CHECK(matched({{0, {1, 2, 3, 0, 0}}}, {{0, {1, 2, 3}}}) == Matched{{0, 0, 0, 3, 0}});
}

TEST_CASE("several samples of a prompt go to the longest common beginnings") {
  const Sequences a = {{0, {1, 2, 3, 7}}, {0, {1, 2, 3, 8, 9}}}, b = {{0, {1, 2, 3, 8, 9, 5}}, {0, {1, 2, 3, 7, 6}}};
  CHECK(matched(a, b) == Matched{{1, 0, 0, 5, 0}, {0, 1, 0, 4, 0}});
}

TEST_CASE("pads on the left are no tokens") {
  CHECK(matched({{0, {4, 5, 6}}}, {{0, {0, 0, 0, 4, 5, 6}}}) == Matched{{0, 0, 3, 3, -3}});
  CHECK(matched({{0, {9, 9, 9, 4, 5}}}, {{0, {9, 4, 5}}}) == Matched{{0, 0, 0, 3, 2}});
}

TEST_CASE("a sequence behind cached tokens is matched where it lies") {
  const Sequences a = {{0, {1, 2, 3, 7}}, {2, {3, 8}}}, b = {{0, {1, 2, 3, 7}}, {0, {1, 2, 3, 8}}};
  CHECK(matched(a, b) == Matched{{0, 0, 0, 4, 0}, {1, 1, 2, 2, 0}});
}

TEST_CASE("parts of a sequence with wrong positions are found by their tokens") {
  const Sequences a = {{0, {5, 6, 7}}, {5, {8, 9}}}, b = {{0, {2, 4, 5, 6, 7, 8, 9}}};
  CHECK(matched(a, b) == Matched{{0, 0, 2, 3, -2}, {1, 0, 5, 2, 0}});
}

TEST_CASE("sequences with little in common are not matched") {
  CHECK(matched({{0, {1, 2, 3, 4, 5}}}, {{0, {1, 6, 7, 8, 9}}}).empty());
  CHECK(matched({{0, {1, 2, 3, 4, 5, 6, 7, 8}}}, {{0, {1, 2, 3, 4, 9, 9, 9, 8}}}) == Matched{{0, 0, 0, 4, 0}});
}

TEST_CASE("no sequence is matched with nothing") {
  CHECK(matched({}, {}).empty());
  CHECK(matched({{0, {}}}, {{0, {1, 2}}}).empty());
}

}  // namespace
}  // namespace msdump
