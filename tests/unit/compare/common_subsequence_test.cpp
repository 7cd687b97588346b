#include "compare/match/alignment.h"

#include <algorithm>
#include <random>
#include <string_view>

#include "support/catch.h"

namespace msdump {
namespace {

using Keys = std::vector<uint64_t>;
using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

Pairs pairs_of(std::string_view a, std::string_view b) {
  return common_subsequence(Keys(a.begin(), a.end()), Keys(b.begin(), b.end()));
}

// The table of the textbook.
size_t longest(const Keys& a, const Keys& b) {
  std::vector<std::vector<size_t>> table(a.size() + 1, std::vector<size_t>(b.size() + 1, 0));
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;)
      table[i][j] = a[i] == b[j] ? table[i + 1][j + 1] + 1 : std::max(table[i + 1][j], table[i][j + 1]);
  }
  return table[0][0];
}

bool is_common(const Keys& a, const Keys& b, const Pairs& pairs) {
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (a[pairs[i].first] != b[pairs[i].second]) return false;
    if (i > 0 && (pairs[i].first <= pairs[i - 1].first || pairs[i].second <= pairs[i - 1].second)) return false;
  }
  return true;
}

Keys random_keys(std::mt19937& random, size_t count, uint64_t kinds) {
  Keys keys(count);
  for (uint64_t& key : keys) key = random() % kinds;
  return keys;
}

}  // namespace

TEST_CASE("the pairs of a common subsequence are those of its keys") {
  CHECK(pairs_of("abc", "abc") == Pairs{{0, 0}, {1, 1}, {2, 2}});
  CHECK(pairs_of("axbyc", "abc") == Pairs{{0, 0}, {2, 1}, {4, 2}});
  CHECK(pairs_of("abc", "zazbzcz") == Pairs{{0, 1}, {1, 3}, {2, 5}});
  CHECK(pairs_of("xyz", "abc").empty());
  CHECK(pairs_of("", "abc").empty());
  CHECK(pairs_of("abc", "").empty());
}

TEST_CASE("of equally long subsequences the keys of the first sequence are skipped first") {
  CHECK(pairs_of("xabab", "ybaba") == Pairs{{2, 1}, {3, 2}, {4, 3}});
  CHECK(pairs_of("ab", "ba") == Pairs{{1, 0}});
}

TEST_CASE("no common subsequence is longer than the one that is found, whatever the sequences are") {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    const Keys a = random_keys(random, random() % 60, 1 + random() % 8);
    const Keys b = random_keys(random, random() % 60, 1 + random() % 8);
    const Pairs pairs = common_subsequence(a, b);
    INFO(round);
    CHECK(is_common(a, b, pairs));
    CHECK(pairs.size() == longest(a, b));
  }
}

TEST_CASE("one key against a hundred thousand is found wherever it stands") {
  Keys many(100'000, 7);
  many[10] = 3;
  const Keys one = {3};
  CHECK(common_subsequence(one, many) == Pairs{{0, 10}});
  CHECK(common_subsequence(many, one) == Pairs{{10, 0}});
  Keys two_kinds = {3, 7};
  CHECK(common_subsequence(two_kinds, many).size() == 2);
}

TEST_CASE("sequences too different for one search are aligned search by search") {
  std::mt19937 random(5);
  const Keys a = random_keys(random, 4000, 400), b = random_keys(random, 4000, 400);
  const Pairs pairs = common_subsequence(a, b);
  CHECK(is_common(a, b, pairs));
  const size_t exact = longest(a, b);
  CHECK(pairs.size() <= exact);
  CHECK(pairs.size() > exact * 8 / 10);
  CHECK(pairs.front().first < 400);  // as far as the beginnings
}

TEST_CASE("keys of one sequence alone cost nothing") {
  Keys a, b;
  for (uint64_t i = 0; i < 200'000; ++i) {
    a.push_back(2 * i);
    b.push_back(2 * i + 1);
  }
  CHECK(common_subsequence(a, b).empty());
  a.push_back(b[100]);
  CHECK(common_subsequence(a, b) == Pairs{{200'000, 100}});
}

}  // namespace msdump
