#include "compare/match/device/operators/absorbed.h"

#include <string_view>

#include "compare/match/device/operators/likeness.h"

namespace msdump {
namespace {

// By how much a later output must fit better to be the fused one, where it is alike and where a fault has changed it.
constexpr double kBetter = 0.01, kMuchBetter = 0.1;

bool is_bias(std::string_view family) { return family == "biasadd" || family == "add"; }

// The operators after the claim's that nothing has taken, up to the one whose output the device has.
std::vector<uint32_t> absorbed_after(const Claim& claim, const HostOperators& hosts, HostNeighbours& neighbours,
                                     MatchEvidence& evidence) {
  std::vector<uint32_t> chain, best;
  const auto output = evidence.device_tensors.largest(claim.device, Io::kOutput);
  if (!output) return best;
  std::optional<double> value = likeness_of_output(*output, claim.host, evidence), first;
  for (uint32_t at = claim.host; chain.size() < kMostAbsorbed;) {
    at = neighbours.only_free_consumer(at);
    if (at == kNoOperator) break;
    chain.push_back(at);
    const std::optional<double> next = likeness_of_output(*output, at, evidence);
    if (chain.size() == 1) first = next;
    const bool alike = next && *next >= kAlike && (!value || *next > *value + kBetter);
    if (alike || (next && value && *next > *value + kMuchBetter)) {
      best = chain;
      value = next;
    }
  }
  // Values may not decide: a bias of zeros, statistics alone. An input more than the operator itself takes is a bias.
  if (!best.empty() || chain.empty() || !is_bias(hosts.key(chain.front()).family)) return best;
  const uint32_t inputs = evidence.device_tensors.count(claim.device, Io::kInput);
  const bool more = inputs > evidence.host_tensors.tensor_inputs(claim.host);
  if (more && (!value || !first || *first > *value - kBetter)) best = {chain.front()};
  return best;
}

}  // namespace

std::map<uint32_t, std::vector<uint32_t>> absorb_consumers(Claims& claims, HostOperators& hosts,
                                                           HostNeighbours& neighbours, MatchEvidence& evidence) {
  std::map<uint32_t, std::vector<uint32_t>> absorbed;
  for (const Claim& claim : claims) {
    if (!claim.is_last || !claim.is_met() || claim.rewrite != nullptr) continue;
    std::vector<uint32_t> chain = absorbed_after(claim, hosts, neighbours, evidence);
    for (const uint32_t host : chain) hosts.take(host);
    if (!chain.empty()) absorbed[claim.device] = std::move(chain);
  }
  return absorbed;
}

}  // namespace msdump
