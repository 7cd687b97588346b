#include "stats/known_statistics.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace msdump::stats {

FactKey statistics_key(const TensorRecord& tensor) { return {FactKind::kStatistics, tensor.file, tensor.item}; }

void compute_unknown(FactStore& facts, std::span<const ComputeItem> items, const ComputeRest& compute_rest,
                     const ComputeSink& sink) {
  std::vector<ComputeItem> unknown;
  std::vector<size_t> places;  // of these, in `items`
  for (size_t i = 0; i < items.size(); ++i) {
    if (facts.find(statistics_key(*items[i].tensor))) continue;
    unknown.push_back(items[i]);
    places.push_back(i);
  }
  size_t next = 0;
  const auto hand_over_until = [&](size_t end) {
    for (; next < end; ++next) {
      const auto known = facts.find(statistics_key(*items[next].tensor));
      sink(next, decode_result<TensorStatistics>(known.value_or(std::string_view())));
    }
  };
  compute_rest(unknown, [&](size_t item, Result<TensorStatistics>&& statistics) {
    hand_over_until(places[item]);
    if (statistics || statistics.error().code != ErrorCode::kCancelled)
      facts.keep(statistics_key(*unknown[item].tensor), encode_result(statistics));
    sink(next++, std::move(statistics));
  });
  hand_over_until(items.size());
}

}  // namespace msdump::stats
