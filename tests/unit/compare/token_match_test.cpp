#include "compare/tokens/token_match.h"

#include <random>

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

// Inputs of passes as no run has them.
std::vector<TokenInputs> random_passes(std::mt19937_64& random) {
  const auto below = [&](uint64_t limit) { return static_cast<int64_t>(random() % limit); };
  std::vector<TokenInputs> passes(1 + random() % 4);
  for (TokenInputs& inputs : passes) {
    const int64_t batch = 1 + below(3), width = below(6), rows = batch * width;
    inputs.shape = random() % 2 == 0 ? Shape{batch, width} : Shape{rows};
    if (random() % 20 == 0) inputs.shape = {below(9), below(9)};
    const auto fill = [&](std::vector<int64_t>& numbers, int64_t count, uint64_t limit) {
      for (int64_t i = 0; i < count; ++i)
        numbers.push_back(random() % 30 != 0 ? below(limit) : random() % 2 == 0 ? INT64_MAX - below(3) : -below(5));
    };
    fill(inputs.ids, rows, 3);
    if (random() % 2 == 0) fill(inputs.positions, random() % 3 == 0 ? below(8) : rows, 5);
    if (random() % 4 == 0) fill(inputs.cu_seqlens, below(5), 8);
    if (random() % 4 == 0) fill(inputs.lengths, below(5), 8);
    if (random() % 4 == 0) fill(inputs.requests, below(5), 4);
    if (random() % 4 == 0) fill(inputs.slots, rows, 9);
    if (random() % 4 == 0) fill(inputs.mask, batch * (width + below(3)), 2);
  }
  return passes;
}

// True if each span has the tokens of its sequence.
bool hold(const TokenRows& rows, const std::vector<TokenInputs>& passes) {
  for (size_t pass = 0; pass < passes.size(); ++pass) {
    for (const TokenSpan& span : rows.passes[pass].spans) {
      const TokenSequence& sequence = rows.sequences[span.sequence];
      if (span.row + span.count > rows.passes[pass].rows) return false;
      if (span.count > 0 && (span.position < sequence.first || span.position + span.count > sequence.end()))
        return false;
      for (int64_t i = 0; i < span.count; ++i) {
        const auto at = static_cast<size_t>(span.position - sequence.first + i);
        if (sequence.ids[at] != passes[pass].ids[static_cast<size_t>(span.row + i)]) return false;
      }
    }
  }
  return true;
}

TEST_CASE("rows hold the tokens of their sequences, and matched tokens are equal, whatever the inputs are") {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 3000; ++trial) {
    const std::vector<TokenInputs> of_a = random_passes(random), of_b = random_passes(random);
    const TokenRows a = token_rows(of_a, {}), b = token_rows(of_b, KnownBeginnings(a.sequences));
    REQUIRE(hold(a, of_a));
    REQUIRE(hold(b, of_b));
    for (const MatchedSequence& one : matched(a.sequences, b.sequences)) {
      const TokenSequence &left = a.sequences[one.a], &right = b.sequences[one.b];
      for (int64_t i = one.begin; i < one.begin + one.count; ++i) {
        REQUIRE(left.ids.at(static_cast<size_t>(i + one.shift - left.first)) ==
                right.ids.at(static_cast<size_t>(i - right.first)));
      }
    }
  }
}

TEST_CASE("no sequence is matched with nothing") {
  CHECK(matched({}, {}).empty());
  CHECK(matched({{0, {}}}, {{0, {1, 2}}}).empty());
}

}  // namespace
}  // namespace msdump
