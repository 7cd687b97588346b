#include "history/account.h"

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/catch.h"

namespace msdump::history {
namespace {

// One character a night: g green, r red, - not judged; errors of the layers A, B and C.
std::vector<Night> month(const std::string& outcomes, const std::vector<std::vector<double>>& errors) {
  std::vector<Night> nights;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    Night night;
    night.time = fmt::format("2026-11-{:02}", i + 1);
    night.outcome = outcomes[i] == 'g' ? Outcome::kGreen : outcomes[i] == 'r' ? Outcome::kRed : Outcome::kNotJudged;
    for (size_t layer = 0; layer < errors.size(); ++layer)
      night.scopes.push_back(
          {std::string(1, static_cast<char>('A' + layer)), errors[layer][i], 0, static_cast<int64_t>(layer), 0});
    nights.push_back(std::move(night));
  }
  return nights;
}

TEST_CASE("red since the first of the nights in a row that failed; those without a judgement do not count") {
  const auto since = [](const std::string& outcomes) {
    const Account account = account_of(month(outcomes, {}));
    return account.since ? fmt::format("{} {}", *account.since, account.in_a_row) : std::string("none");
  };
  CHECK(since("") == "none");
  CHECK(since("--") == "none");
  CHECK(since("g") == "0 1");
  CHECK(since("ggrrr") == "2 3");
  CHECK(since("gr-r-r") == "1 3");
  CHECK(since("rgr") == "2 1");
  CHECK(since("rrg-") == "2 1");
  const Account account = account_of(month("grg-r", {}));
  CHECK(account.nights == 5);
  CHECK(account.green == 2);
  CHECK(account.red == 2);
}

TEST_CASE("a break moves the layer that it is in, and what follows in the same night comes after it") {
  const Account account = account_of(month("gggr", {{1, 1, 1, 1}, {1, 1.5, 1, 5}, {2, 2, 2, 50}}));
  REQUIRE(account.moved);
  CHECK(account.moved->scope == "B");
  CHECK(account.moved->night == 3);
  CHECK(account.moved->error == 5);
  CHECK(account.moved->before == 1.5);
}

TEST_CASE("of layers that moved in one night the first is that whose tensors are off first") {
  std::vector<Night> nights = month("gggr", {{1, 1, 1, 9}, {1, 1, 1, 9}, {1, 1, 4, 9}});
  nights.back().scopes[0].first = 40;
  const Account account = account_of(nights);
  REQUIRE(account.moved);
  CHECK(account.moved->scope == "B");
}

TEST_CASE("a drift is dated by when the error had doubled, while it still passed") {
  std::vector<double> drift, still;
  for (int i = 0; i < 10; ++i) {
    drift.push_back(std::pow(1.25, i));
    still.push_back(i % 2 == 0 ? 1 : 1.4);  // the rounding of an atomic sum
  }
  const Account account = account_of(month("gggggggggr", {still, drift, still}));
  REQUIRE(account.moved);
  CHECK(account.moved->scope == "B");
  CHECK(account.moved->night == 6);  // 1.25^5 is less than half of 1.25^9, 1.25^6 is not
  // Seen while everything is green, too.
  CHECK(account_of(month("gggggggggg", {still, drift, still})).moved);
}

TEST_CASE("an error that has been as large in a green night has not moved") {
  CHECK_FALSE(account_of(month("gggr", {{5, 1, 1, 5}})).moved);
  // In a red one it has: that was the fault, or a change that has been accepted since.
  const Account account = account_of(month("grgr", {{1, 50, 1, 50}}));
  REQUIRE(account.moved);
  CHECK(account.moved->night == 3);
  CHECK_FALSE(account_of(month("g", {{1}})).moved);
  CHECK_FALSE(account_of(month("gggg", {{1, 1, 1, 1.9}})).moved);
  CHECK(account_of(month("gggg", {{1, 1, 1, 2}})).moved);
  CHECK_FALSE(account_of(month("ggg", {{1, 1, 9}})).moved);  // two nights may have been small by chance
  CHECK(account_of(month("ggg", {{1, 1, 10}})).moved);
  CHECK(account_of(month("gg", {{0, 1e-9}})).moved);
  CHECK_FALSE(account_of(month("gg", {{0, 0}})).moved);
}

TEST_CASE("what somebody has accepted has not moved, however long ago; what grew beyond it has") {
  std::vector<Night> nights = month("gggrgggr", {{1, 1, 1, 50, 50, 50, 50, 51}, {1, 1, 1, 1, 1, 1, 1, 9}});
  CHECK(account_of(nights).moved->scope == "A");
  for (size_t i = 4; i < 7; ++i) nights[i].scopes[0].accepted = 50;
  CHECK(account_of(nights).moved->scope == "B");
  nights.back().scopes[0].error = 100;
  CHECK(account_of(nights).moved->night == 7);
  CHECK(account_of(nights).moved->before == 50);
}

TEST_CASE("a layer that is new, missing nights and NaN") {
  std::vector<Night> nights = month("g-gr", {{1, 9, 1, 1}, {1, 1, 1, HUGE_VAL}});
  nights[0].scopes.pop_back();
  Account account = account_of(nights);
  REQUIRE(account.moved);
  CHECK(account.moved->scope == "B");
  CHECK(account.moved->night == 3);
  nights[2].scopes.pop_back();
  CHECK_FALSE(account_of(nights).moved);  // never seen before
  CHECK_FALSE(account_of(month("ggr", {{HUGE_VAL, HUGE_VAL, HUGE_VAL}})).moved);
  CHECK_FALSE(account_of(month("gg-", {{1, 1, 9}})).moved);
}

TEST_CASE("rounding next to a large error does not move first") {
  const Account account = account_of(month("gggr", {{1e-3, 1e-3, 9e-3, 9e-3}, {1e-3, 1e-3, 1e-3, 0.5}}));
  REQUIRE(account.moved);
  CHECK(account.moved->scope == "B");
}

TEST_CASE("another root in the nights before is said") {
  std::vector<Night> nights = month("grrr", {});
  for (size_t i = 1; i < 4; ++i) nights[i].root = NightRoot{};
  for (size_t i = 1; i < 4; ++i) nights[i].root->op_name = i == 1 ? "A" : "B";
  CHECK(account_of(nights).root_before == 1U);
  nights[1].root->op_name = "B";
  CHECK_FALSE(account_of(nights).root_before);
  nights[2].root.reset();
  CHECK(account_of(nights).root_before == 2U);
}

}  // namespace
}  // namespace msdump::history
