#include "compare/match/alignment.h"

#include <random>
#include <string>
#include <string_view>

#include "support/catch.h"

namespace msdump {
namespace {

using KeyRows = std::vector<std::vector<uint64_t>>;

// A letter is a key.
KeyRows keys(const std::vector<std::string_view>& levels) {
  KeyRows result;
  for (const std::string_view level : levels) result.emplace_back(level.begin(), level.end());
  return result;
}

// "ab-c": of each item of a the key of its partner in b at the last level, "-" without one.
std::string aligned(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  std::string partners(a[0].size(), '-');
  for (const AlignedPair& pair : align(keys(a), keys(b))) partners[pair.a] = b.back()[pair.b];
  return partners;
}

}  // namespace

TEST_CASE("equal sequences are paired item by item, at the first level") {
  const auto pairs = align(keys({"abab", "xxxx"}), keys({"abab", "xxxx"}));
  CHECK(pairs == std::vector<AlignedPair>{{0, 0, 0}, {1, 1, 0}, {2, 2, 0}, {3, 3, 0}});
}

TEST_CASE("nothing is paired with nothing") {
  CHECK(align({}, {}).empty());
  CHECK(align(keys({""}), keys({"abc"})).empty());
  CHECK(align(keys({"abc"}), keys({""})).empty());
  CHECK(align(keys({"abc"}), keys({"xyz"})).empty());
}

TEST_CASE("an item more on one side leaves the others together") {
  CHECK(aligned({"abcde"}, {"abXcde"}) == "abcde");
  CHECK(aligned({"abXcde"}, {"abcde"}) == "ab-cde");
  CHECK(aligned({"aaaaab"}, {"aaaab"}) == "aaaa-b");
}

TEST_CASE("what is there once on both sides holds the sequences together") {
  // Between the anchors P and Q the two are aligned on their own.
  CHECK(aligned({"aPabQb"}, {"bPaQbb"}) == "-Pa-Qb");
}

TEST_CASE("what is there once on both sides is paired even where more could be paired without it") {
  CHECK(aligned({"xPabab"}, {"ababPy"}) == "-P----");
}

TEST_CASE("anchors that cross do not both count: as many as are in order do") {
  const auto pairs = align(keys({"xABCy"}), keys({"zBCAw"}));
  CHECK(pairs == std::vector<AlignedPair>{{2, 1, 0}, {3, 2, 0}});
}

TEST_CASE("repeated items without anchors get their longest common subsequence") {
  CHECK(aligned({"xababcabz"}, {"ybcabaqab"}).find_first_not_of("-abc") == std::string::npos);
  CHECK(align(keys({"xabab"}), keys({"ybaba"})).size() == 3);
}

TEST_CASE("what the first level leaves is tried with the next, and each pair says which level it was") {
  const auto pairs = align(keys({"aXc", "axc"}), keys({"aYc", "axc"}));
  CHECK(pairs == std::vector<AlignedPair>{{0, 0, 0}, {1, 1, 1}, {2, 2, 0}});
}

TEST_CASE("a later level never crosses what an earlier one has paired") {
  // P is sure; the two k are on different sides of it.
  const auto pairs = align(keys({"kP1", "kPz"}), keys({"2Pk", "yPk"}));
  CHECK(pairs == std::vector<AlignedPair>{{1, 1, 0}});
}

TEST_CASE("pairs ascend on both sides whatever the sequences are") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    KeyRows a(2), b(2);
    for (KeyRows* const side : {&a, &b}) {
      for (auto i = random() % 40; i-- > 0;) {
        (*side)[0].push_back(random() % 12);
        (*side)[1].push_back((*side)[0].back() % 3);
      }
    }
    const auto pairs = align(a, b);
    for (size_t i = 0; i < pairs.size(); ++i) {
      CHECK(a[pairs[i].level][pairs[i].a] == b[pairs[i].level][pairs[i].b]);
      if (i == 0) continue;
      CHECK(pairs[i - 1].a < pairs[i].a);
      CHECK(pairs[i - 1].b < pairs[i].b);
    }
  }
}

TEST_CASE("one item more among 300 000 equal ones leaves all others paired") {
  std::vector<uint64_t> a(300'000, 1), b(300'001, 1);
  a[150'000] = 2;
  CHECK(align({a}, {b}).size() == 299'999);
}

// Layers of calls whose names have lost their counters, as in an L1 dump of msprobe.
std::vector<uint64_t> layers(size_t count, std::string_view calls) {
  std::vector<uint64_t> keys;
  for (size_t layer = 0; layer < count; ++layer) keys.insert(keys.end(), calls.begin(), calls.end());
  return keys;
}

TEST_CASE("an operator that is fused in every layer of 3 600 calls leaves all others paired") {
  const auto pairs = align({layers(300, "nqkvmsmonabf")}, {layers(300, "nqkvFonabf")});
  // Of each layer: n q k v, then F in place of m s m, then o n a b f.
  CHECK(pairs.size() == 300 * 9);
  for (const AlignedPair& pair : pairs) CHECK(pair.a / 12 == pair.b / 10);
}

TEST_CASE("two long sequences that are one item apart are paired but for that item") {
  std::vector<uint64_t> left, right;
  for (uint64_t i = 0; i < 5000; ++i) {
    left.push_back(i % 2);
    right.push_back((i + 1) % 2);
  }
  ReachedLimits limits;
  CHECK(align({left}, {right}, &limits).size() == 4999);
  CHECK(limits.empty());
}

TEST_CASE("two long sequences that have little in common are aligned within a bound, which is told") {
  std::vector<uint64_t> left, right;
  for (uint64_t i = 0; i < 6000; ++i) {
    left.push_back(i * i % 7);
    right.push_back(i * i * i % 5);
  }
  ReachedLimits limits;
  CHECK(align({left}, {right}, &limits).size() > 1000);
  REQUIRE(limits.size() == 1);
  CHECK(limits.begin()->name == "alignment_cells");
}

}  // namespace msdump
