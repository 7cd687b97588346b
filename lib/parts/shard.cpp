#include "parts/shard.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

#include "base/text.h"

namespace msdump {

Result<Shard> parse_shard(std::string_view text) {
  const size_t slash = std::min(text.find('/'), text.size());
  const auto index = parse_u64(text.substr(0, slash));
  const auto count = parse_u64(text.substr(std::min(slash + 1, text.size())));
  if (!index || !count || *index < 1 || *index > *count || *count > kMostShards) {
    return fail(make_error(ErrorCode::kUsage, "'{}' is not I/N with 1 <= I <= N <= {}", excerpt(text), kMostShards)
                    .with_hint("--shard 1/4 is the first of four parts"));
  }
  return Shard{static_cast<uint32_t>(*index), static_cast<uint32_t>(*count)};
}

std::string to_string(const Shard& shard) { return fmt::format("{}/{}", shard.index, shard.count); }

std::vector<uint32_t> shares_of(std::span<const uint64_t> bytes, uint32_t count) {
  std::vector<size_t> order(bytes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return bytes[a] > bytes[b]; });
  using Load = std::pair<uint64_t, uint32_t>;  // bytes, shard: of equal ones the first
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (uint32_t shard = 1; shard <= count; ++shard) loads.emplace(0, shard);
  std::vector<uint32_t> shares(bytes.size());
  for (const size_t unit : order) {
    const auto [load, shard] = loads.top();
    loads.pop();
    shares[unit] = shard;
    const uint64_t sum = load + std::max<uint64_t>(bytes[unit], 1);
    loads.emplace(sum < load ? UINT64_MAX : sum, shard);
  }
  return shares;
}

}  // namespace msdump
