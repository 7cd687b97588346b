// Who does what of a run that several processes share.
#include "parts/part_file.h"

#include <algorithm>
#include <numeric>

#include "support/catch.h"

namespace msdump {
namespace {

std::vector<uint64_t> loads_of(const std::vector<uint64_t>& bytes, uint32_t count) {
  std::vector<uint64_t> loads(count);
  const std::vector<uint32_t> shares = shares_of(bytes, count);
  for (size_t i = 0; i < bytes.size(); ++i) loads.at(shares[i] - 1) += bytes[i];
  return loads;
}

TEST_CASE("I/N is read, and everything else is a usage error") {
  const auto shard = parse_shard("2/8");
  REQUIRE(shard);
  CHECK(shard->index == 2);
  CHECK(shard->count == 8);
  CHECK(to_string(*shard) == "2/8");
  CHECK(parse_shard("100000/100000"));
  for (const std::string_view text :
       {"", "/", "1", "1/", "/2", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "a/b", "1/100001", "1 /2", "1/1e3"}) {
    CAPTURE(text);
    const auto wrong = parse_shard(text);
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().code == ErrorCode::kUsage);
  }
}

TEST_CASE("The largest units are spread first, and small ones fill up") {
  CHECK(shares_of(std::vector<uint64_t>{5, 9, 4, 1}, 2) == std::vector<uint32_t>{2, 1, 2, 1});
  CHECK(loads_of({5, 9, 4, 1}, 2) == std::vector<uint64_t>{10, 9});
}

TEST_CASE("Of equal units and equal shares the first comes first") {
  CHECK(shares_of(std::vector<uint64_t>{3, 3, 3, 3}, 3) == std::vector<uint32_t>{1, 2, 3, 1});
}

TEST_CASE("Units without bytes are spread like others") {
  CHECK(shares_of(std::vector<uint64_t>{0, 0, 0, 0}, 4) == std::vector<uint32_t>{1, 2, 3, 4});
}

TEST_CASE("More shares than units leave the last ones empty, and no units are no work") {
  CHECK(shares_of(std::vector<uint64_t>{7}, 3) == std::vector<uint32_t>{1});
  CHECK(shares_of({}, 3).empty());
}

TEST_CASE("No share exceeds the mean by more than the largest unit") {
  std::vector<uint64_t> bytes;
  uint64_t state = 1;
  for (int i = 0; i < 1000; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    bytes.push_back((state >> 40) % 1000);
  }
  const std::vector<uint64_t> loads = loads_of(bytes, 7);
  const uint64_t mean = std::accumulate(loads.begin(), loads.end(), uint64_t{0}) / 7;
  CHECK(*std::max_element(loads.begin(), loads.end()) - mean < 10);  // 0.02 % of it
}

TEST_CASE("Sizes that no sum can hold still end") {
  CHECK(shares_of(std::vector<uint64_t>{UINT64_MAX, UINT64_MAX, 1}, 1) == std::vector<uint32_t>{1, 1, 1});
  CHECK(shares_of(std::vector<uint64_t>{UINT64_MAX, UINT64_MAX, 1}, 2).size() == 3);
}

}  // namespace
}  // namespace msdump
