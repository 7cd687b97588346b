#include "compare/tokens/token_heat.h"

#include "support/catch.h"

namespace msdump {
namespace {

TEST_CASE("a few outputs and tokens have a cell each") {
  TokenHeat heat(2, 3);
  heat.add(1, 2, 0.5);
  heat.add(1, 2, 0.25);
  CHECK(heat.rows() == 2);
  CHECK(heat.columns() == 3);
  CHECK(heat.error(1, 2) == 0.5F);
  CHECK(heat.error(0, 0) < 0);
}

TEST_CASE("of many, a cell has the largest error of those that share it, and every one has a cell") {
  const size_t outputs = 3 * TokenHeat::kMostRows / 2;
  const int64_t tokens = 5 * TokenHeat::kMostColumns + 7;
  TokenHeat heat(outputs, tokens);
  CHECK(heat.rows() == TokenHeat::kMostRows);
  CHECK(heat.columns() == TokenHeat::kMostColumns);
  size_t next = 0;
  for (size_t row = 0; row < heat.rows(); ++row) {
    const auto [first, end] = heat.outputs_of(row);
    CHECK(first == next);
    for (size_t output = first; output < end; ++output) CHECK(heat.row_of(output) == row);
    next = end;
  }
  CHECK(next == outputs);
  next = 0;
  for (size_t column = 0; column < heat.columns(); ++column) {
    const auto [first, end] = heat.tokens_of(column);
    CHECK(first == next);
    for (size_t token = first; token < end; ++token) CHECK(heat.column_of(static_cast<int64_t>(token)) == column);
    next = end;
  }
  CHECK(next == static_cast<size_t>(tokens));
  heat.add(outputs - 1, tokens - 1, 1);
  heat.add(outputs - 1, tokens - 2, 3);
  CHECK(heat.error(heat.rows() - 1, heat.columns() - 1) == 3.0F);
}

}  // namespace
}  // namespace msdump
