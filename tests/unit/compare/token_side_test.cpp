#include "compare/tokens/token_side.h"

#include <vector>

#include "support/catch.h"

namespace msdump {
namespace {

// Three tokens of one sequence: the second pass computed the first two again, as after a preemption.
TEST_CASE("a token that was computed in two passes has its place in the first") {
  TokenRows rows;
  rows.passes = {{1, 2, {{0, 2, 0, 0}}}, {1, 4, {{1, 3, 0, 0}}}};
  rows.sequences = {{0, {7, 8, 9}}};
  RunPasses passes;
  passes.inputs.resize(2);
  passes.steps = {4, 5};
  TokenMatch match;
  match.sequences = {{0, 0, 0, 3, 0}};
  match.tokens = 3;
  const TokenSide side(CompareSide(), std::move(passes), std::move(rows), match, Side::kCandidate);
  const auto place = [&](int64_t row) {
    const auto found = side.place_of_row(row);
    REQUIRE(found);
    return std::vector<int64_t>{found->pass, found->row, found->position, found->id};
  };
  CHECK(place(0) == std::vector<int64_t>{0, 0, 0, 7});
  CHECK(place(1) == std::vector<int64_t>{0, 1, 1, 8});
  CHECK(place(2) == std::vector<int64_t>{1, 3, 2, 9});
}

TEST_CASE("a token that no pass computed has no place") {
  TokenRows rows;
  rows.passes = {{1, 1, {{0, 1, 1, 0}}}};
  rows.sequences = {{0, {7, 8}}};
  RunPasses passes;
  passes.inputs.resize(1);
  passes.steps = {{}};
  TokenMatch match;
  match.sequences = {{0, 0, 0, 2, 0}};
  match.tokens = 2;
  const TokenSide side(CompareSide(), std::move(passes), std::move(rows), match, Side::kCandidate);
  CHECK_FALSE(side.place_of_row(0));
  CHECK(side.place_of_row(1)->row == 0);
}

}  // namespace
}  // namespace msdump
