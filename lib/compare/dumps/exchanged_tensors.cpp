#include "compare/dumps/exchanged_tensors.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace msdump {
namespace {

constexpr uint32_t kSeveral = UINT32_MAX;

// Nothing for a tensor of one value, and where they are not known.
std::optional<std::array<double, 4>> statistics_of(const std::optional<double>& max, const std::optional<double>& min,
                                                   const std::optional<double>& mean,
                                                   const std::optional<double>& std) {
  if (!max || !min || !mean || !std || *max == *min) return std::nullopt;
  return std::array{*max, *min, *mean, *std};
}

}  // namespace

std::vector<std::pair<uint32_t, uint32_t>> exchanged_tensors(const Pairing& pairing,
                                                             const std::vector<TensorDiff>& diffs) {
  std::map<std::pair<std::array<double, 4>, std::array<double, 4>>, uint32_t> differing;  // by those of a and of b
  std::vector<std::pair<uint32_t, uint32_t>> exchanged;
  for (uint32_t i = 0; i < diffs.size() && i < pairing.tensors.size(); ++i) {
    if (diffs[i].verdict != Verdict::kDiffer) continue;
    const auto& metrics = diffs[i].metrics;
    const auto a = statistics_of(metrics.max_a, metrics.min_a, metrics.mean_a, metrics.std_a);
    const auto b = statistics_of(metrics.max_b, metrics.min_b, metrics.mean_b, metrics.std_b);
    if (!a || !b || *a == *b) continue;
    const auto [known, added] = differing.try_emplace({*a, *b}, i);
    if (!added) known->second = kSeveral;
  }
  for (const auto& [statistics, tensor] : differing) {
    const auto other = differing.find({statistics.second, statistics.first});
    if (other == differing.end() || tensor == kSeveral || other->second == kSeveral || other->second < tensor) continue;
    exchanged.emplace_back(tensor, other->second);
  }
  std::sort(exchanged.begin(), exchanged.end());
  return exchanged;
}

}  // namespace msdump
