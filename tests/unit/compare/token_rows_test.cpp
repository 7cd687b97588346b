#include "compare/tokens/token_rows.h"

#include "support/catch.h"

namespace msdump {
namespace {

using Numbers = std::vector<int64_t>;

// A pass over one row of packed sequences.
TokenInputs packed(const Numbers& ids, const Numbers& positions) {
  TokenInputs inputs;
  inputs.shape = {static_cast<int64_t>(ids.size())};
  inputs.ids = ids;
  inputs.positions = positions;
  return inputs;
}

// A pass over a batch of rows of equal width.
TokenInputs padded(int64_t batch, const Numbers& ids, const Numbers& positions = {}) {
  TokenInputs inputs = packed(ids, positions);
  inputs.shape = {batch, static_cast<int64_t>(ids.size()) / batch};
  return inputs;
}

std::vector<Numbers> sequences_of(const TokenRows& rows) {
  std::vector<Numbers> all;
  for (const TokenSequence& one : rows.sequences) all.push_back(one.ids);
  return all;
}

TEST_CASE("packed sequences begin where positions restart") {
  const TokenRows rows = token_rows(std::vector{packed({5, 6, 7, 5, 9}, {0, 1, 2, 0, 1})}, {});
  CHECK(sequences_of(rows) == std::vector<Numbers>{{5, 6, 7}, {5, 9}});
  CHECK(rows.passes[0].spans == std::vector<TokenSpan>{{0, 3, 0, 0}, {3, 2, 0, 1}});
  CHECK(rows.pads == 0);
}

TEST_CASE("cu_seqlens tell sequences apart, and what is behind the last one is padding") {
  TokenInputs inputs = packed({5, 6, 7, 5, 0, 0}, {});
  inputs.cu_seqlens = {0, 3, 4};
  const TokenRows rows = token_rows(std::vector{inputs}, {});
  CHECK(sequences_of(rows) == std::vector<Numbers>{{5, 6, 7}, {5}});
  CHECK(rows.pads == 2);
}

TEST_CASE("cu_seqlens that no run has count as not dumped") {
  for (const Numbers& cuts : {Numbers{0, INT64_MAX}, Numbers{-1, 3}, Numbers{0, 3, 2}, Numbers{0}, Numbers{0, 0}}) {
    TokenInputs inputs = packed({5, 6, 7}, {0, 1, 0});
    inputs.cu_seqlens = cuts;
    CHECK(sequences_of(token_rows(std::vector{inputs}, {})) == std::vector<Numbers>{{5, 6}, {7}});
  }
}

TEST_CASE("a batch that does not go with the ids is one row") {
  TokenInputs inputs = packed({5, 6, 7}, {0, 1, 2});
  for (const Shape& shape : {Shape{7, 1}, Shape{2, 2}, Shape{0, 3}, Shape{INT64_MAX, 2}}) {
    inputs.shape = shape;
    CHECK(sequences_of(token_rows(std::vector{inputs}, {})) == std::vector<Numbers>{{5, 6, 7}});
  }
}

TEST_CASE("positions beyond every sequence do not overflow") {
  const TokenRows rows = token_rows(std::vector{packed({5, 6}, {INT64_MAX, INT64_MIN})}, {});
  CHECK(rows.rows == 2);
}

TEST_CASE("pads on the left have the position of the first token") {
  const TokenRows rows = token_rows(std::vector{padded(2, {0, 0, 5, 6, 7, 8, 9, 4}, {0, 0, 0, 1, 0, 1, 2, 3})}, {});
  CHECK(sequences_of(rows) == std::vector<Numbers>{{5, 6}, {7, 8, 9, 4}});
  CHECK(rows.pads == 2);
}

TEST_CASE("the attention mask tells pads, and the tokens of earlier passes") {
  TokenInputs prompt = padded(2, {0, 5, 6, 7}), next = padded(2, {8, 9});
  prompt.mask = {0, 1, 1, 1};
  next.mask = {0, 1, 1, 1, 1, 1};
  const TokenRows rows = token_rows(std::vector{prompt, next}, {});
  CHECK(sequences_of(rows) == std::vector<Numbers>{{5, 8}, {6, 7, 9}});
  CHECK(rows.pads == 1);
}

TEST_CASE("chunks of a prompt and later tokens join their sequence") {
  const TokenRows rows = token_rows(
      std::vector{packed({1, 2, 3}, {0, 1, 2}), packed({4, 5, 7, 8}, {3, 4, 0, 1}), packed({6, 9}, {5, 2})}, {});
  CHECK(sequences_of(rows) == std::vector<Numbers>{{1, 2, 3, 4, 5, 6}, {7, 8, 9}});
  CHECK(rows.passes[2].spans == std::vector<TokenSpan>{{0, 1, 5, 0}, {1, 1, 2, 1}});
}

TEST_CASE("of sequences with one length, rows keep the order of the pass before") {
  const std::vector passes = {packed({1, 2, 3, 4}, {0, 1, 0, 1}), packed({5, 6}, {2, 2})};
  CHECK(sequences_of(token_rows(passes, {})) == std::vector<Numbers>{{1, 2, 5}, {3, 4, 6}});
}

TEST_CASE("the sequences of the other side decide where a token belongs") {
  const std::vector passes = {packed({1, 2, 3, 4}, {0, 1, 0, 1}), packed({5, 6}, {2, 2})};
  const KnownBeginnings known(std::vector<TokenSequence>{{0, {3, 4, 5}}, {0, {1, 2, 6}}});
  CHECK(sequences_of(token_rows(passes, known)) == std::vector<Numbers>{{1, 2, 6}, {3, 4, 5}});
}

TEST_CASE("the cache tells which sequence a token continues") {
  TokenInputs first = packed({1, 2, 3, 4}, {0, 1, 0, 1}), second = packed({5, 6}, {2, 2});
  first.slots = {10, 11, 20, 21};
  second.slots = {22, 12};
  CHECK(sequences_of(token_rows(std::vector{first, second}, {})) == std::vector<Numbers>{{1, 2, 6}, {3, 4, 5}});
}

TEST_CASE("the request tells which sequence a token continues") {
  TokenInputs first = packed({1, 2, 3, 4}, {0, 1, 0, 1}), second = packed({5, 6}, {2, 2});
  first.requests = {7, 8};
  second.requests = {8, 7};
  CHECK(sequences_of(token_rows(std::vector{first, second}, {})) == std::vector<Numbers>{{1, 2, 6}, {3, 4, 5}});
}

TEST_CASE("wrong positions of later tokens do not take them from their sequence") {
  const std::vector passes = {packed({1, 2, 3}, {0, 1, 2}), packed({4}, {4})};
  const KnownBeginnings known(std::vector<TokenSequence>{{0, {1, 2, 3, 4}}});
  const TokenRows rows = token_rows(passes, known);
  CHECK(sequences_of(rows) == std::vector<Numbers>{{1, 2, 3, 4}});
  CHECK(rows.passes[1].spans == std::vector<TokenSpan>{{0, 1, 3, 0}});
}

TEST_CASE("stated lengths count more than positions") {
  TokenInputs first = packed({1, 2}, {0, 1}), second = packed({3, 4}, {0, 1});
  second.lengths = {4};
  CHECK(sequences_of(token_rows(std::vector{first, second}, {})) == std::vector<Numbers>{{1, 2, 3, 4}});
}

TEST_CASE("a sequence whose first tokens were cached begins behind them") {
  const TokenRows rows = token_rows(std::vector{packed({8, 9}, {4, 5}), packed({10}, {6})}, {});
  CHECK(rows.sequences == std::vector<TokenSequence>{{4, {8, 9, 10}}});
}

TEST_CASE("rejected tokens of a draft are replaced") {
  const TokenRows rows =
      token_rows(std::vector{packed({1, 2}, {0, 1}), packed({3, 90, 91}, {2, 3, 4}), packed({4, 5}, {3, 4})}, {});
  CHECK(sequences_of(rows) == std::vector<Numbers>{{1, 2, 3, 4, 5}});
  CHECK(rows.pads == 2);
}

TEST_CASE("passes of another source have sequences of their own") {
  std::vector passes = {packed({1, 2}, {0, 1}), packed({3}, {2}), packed({7, 8, 9}, {0, 1, 2}), packed({4}, {3})};
  passes[2].source = passes[3].source = 1;
  CHECK(sequences_of(token_rows(passes, {})) == std::vector<Numbers>{{1, 2, 3}, {7, 8, 9, 4}});
}

TEST_CASE("a source continues the sequences of another one where it has none that fits") {
  std::vector passes = {packed({1, 2, 5, 6}, {0, 1, 0, 1}), packed({3, 4, 7}, {2, 3, 2})};
  passes[1].source = 1;
  CHECK(sequences_of(token_rows(passes, {})) == std::vector<Numbers>{{1, 2, 3, 4}, {5, 6, 7}});
}

TEST_CASE("a sequence of another source is continued only as the other side knows it") {
  std::vector passes = {packed({1, 2}, {0, 1}), packed({3}, {2})};
  passes[1].source = 1;
  const KnownBeginnings known(std::vector<TokenSequence>{{0, {1, 2, 9}}, {0, {7, 8, 3}}});
  CHECK(token_rows(passes, known).sequences == std::vector<TokenSequence>{{0, {1, 2}}, {2, {3}}});
}

TEST_CASE("without positions, rows are split like the sequences of the other side") {
  const KnownBeginnings known(std::vector<TokenSequence>{{0, {1, 2, 3}}, {0, {7, 8}}});
  const TokenRows rows = token_rows(std::vector{packed({7, 8, 1, 2, 3}, {}), packed({4}, {})}, known);
  CHECK(sequences_of(rows).at(0) == Numbers{7, 8});
  CHECK(sequences_of(rows).at(1) == Numbers{1, 2, 3});
}

TEST_CASE("sequences that meet at positions which go up by 1 are told apart by the other side") {
  const KnownBeginnings known(std::vector<TokenSequence>{{0, {1, 2, 3}}, {0, {7, 8, 9, 4}}});
  const TokenRows rows = token_rows(std::vector{packed({1, 2}, {0, 1}), packed({3, 4}, {2, 3})}, known);
  CHECK(rows.sequences == std::vector<TokenSequence>{{0, {1, 2, 3}}, {3, {4}}});
}

}  // namespace
}  // namespace msdump
