#include "compare/match/device/operators/value_match.h"

#include <utility>
#include <vector>

#include "compare/match/device/operators/likeness.h"

namespace msdump {
namespace {

constexpr int64_t kTooFew = 8;  // elements, of which values say nothing
constexpr double kCertain = 0.99;

// Operators that are not taken, by rank and elements of the output.
using ByCount = std::map<std::pair<std::optional<int64_t>, int64_t>, std::vector<uint32_t>>;

ByCount free_by_count(const HostOperators& hosts, const MatchEvidence& evidence) {
  ByCount by_count;
  for (uint32_t host = 0; host < hosts.size(); ++host) {
    const auto output = evidence.host_tensors.largest(host, Io::kOutput);
    if (hosts.is_taken(host) || !output) continue;
    const auto count = host_elements(evidence.host.tensor(*output));
    if (count && *count > kTooFew) by_count[{hosts.key(host).rank, *count}].push_back(host);
  }
  return by_count;
}

}  // namespace

std::map<uint32_t, uint32_t> match_by_values(Claims& claims, HostOperators& hosts, MatchEvidence& evidence) {
  const ByCount by_count = free_by_count(hosts, evidence);
  std::map<uint32_t, uint32_t> matches;
  size_t compared = 0;
  for (uint32_t device = 0; device < evidence.device.operators.size(); ++device) {
    const SequencedOp& one = evidence.device.operators[device];
    const Claim* const claim = claims.last_of(device);
    const auto output = evidence.device_tensors.largest(device, Io::kOutput);
    if (!output || (claim != nullptr && claim->is_met()) || !ge::OperatorTable::get().inserted(one.type).empty())
      continue;
    const auto count = host_elements(evidence.device.tensor(*output));
    const auto found = count ? by_count.find({evidence.rank_of(one), *count}) : by_count.end();
    if (found == by_count.end()) continue;
    double best = kCertain;
    uint32_t match = kNoOperator;
    for (const uint32_t host : found->second) {
      if (hosts.is_taken(host)) continue;
      if (++compared > kMostCompared) {
        evidence.limits.insert(kComparedLimit);
        break;
      }
      const auto value = likeness_of_output(*output, host, evidence);
      if (!value || *value <= best) continue;
      best = *value;
      match = host;
    }
    if (match == kNoOperator) continue;
    hosts.take(match);
    matches[device] = match;
  }
  return matches;
}

}  // namespace msdump
