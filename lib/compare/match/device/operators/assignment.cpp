#include "compare/match/device/operators/assignment.h"

#include <algorithm>

#include "compare/match/device/operators/likeness.h"

namespace msdump {
namespace {

// The best first; what has been met is taken off the lists.
void meet_best(RatedPairs pairs, std::vector<uint32_t>& open, std::vector<uint32_t>& free, Claims& claims,
               HostOperators& hosts) {
  std::sort(pairs.begin(), pairs.end());
  for (const auto& [value, claim, host] : pairs) {
    if (!claims[claim].is_met() && !hosts.is_taken(host)) meet(claims[claim], host, hosts);
  }
  std::erase_if(open, [&](uint32_t claim) { return claims[claim].is_met(); });
  free = hosts.free_of(free);
}

}  // namespace

void ClaimAssigner::assign(std::vector<uint32_t> claims, std::vector<uint32_t> hosts, Care care) {
  if (claims.empty() || hosts.empty()) return;
  assign_side_by_side(claims, hosts, care);
  if (claims.size() * hosts.size() <= kMostCompared) {
    assign_by_outputs(claims, hosts);
    // An output that is like no other may be wrong, or that of an operator that is fused with this one.
    assign_by_inputs(claims, hosts, care);
  } else {
    evidence_.limits.insert(kComparedLimit);
  }
  if (care == Care::kGuess) assign_in_order(claims, hosts);
}

// Where both sides have as many, each with the one in its place.
void ClaimAssigner::assign_side_by_side(std::vector<uint32_t>& claims, std::vector<uint32_t>& hosts, Care care) {
  if (claims.size() != hosts.size()) return;
  const bool alone = claims.size() == 1;
  for (size_t i = 0; i < claims.size(); ++i) {
    const Fit fit = fit_of(claims_[claims[i]], hosts[i], evidence_);
    const bool bad = !fit.shapes || (fit.values && *fit.values < kUnlike);
    const bool good = care == Care::kConfirmed ? !bad && (alone || fit.values.has_value()) : alone || !bad;
    if (good) meet(claims_[claims[i]], hosts[i], hosts_);
  }
  std::erase_if(claims, [&](uint32_t claim) { return claims_[claim].is_met(); });
  hosts = hosts_.free_of(hosts);
}

void ClaimAssigner::assign_by_outputs(std::vector<uint32_t>& claims, std::vector<uint32_t>& hosts) {
  RatedPairs pairs;
  for (const uint32_t claim : claims) {
    for (const uint32_t host : hosts) {
      const Fit fit = fit_of(claims_[claim], host, evidence_);
      if (fit.shapes && fit.values && *fit.values >= kAlike) pairs.emplace_back(-*fit.values, claim, host);
    }
  }
  meet_best(std::move(pairs), claims, hosts, claims_, hosts_);
}

void ClaimAssigner::assign_by_inputs(std::vector<uint32_t>& claims, std::vector<uint32_t>& hosts, Care care) {
  if (claims.size() * hosts.size() > kMostComparedByInputs) {
    evidence_.limits.insert(kComparedByInputsLimit);
    return;
  }
  const double least = care == Care::kConfirmed ? kAlike : kHalfOfInputs;
  RatedPairs pairs;
  for (const uint32_t claim : claims) {
    for (const uint32_t host : hosts) {
      const double value = likeness_of_inputs(claims_[claim].device, host, evidence_);
      if (value >= least) pairs.emplace_back(-value, claim, host);
    }
  }
  meet_best(std::move(pairs), claims, hosts, claims_, hosts_);
}

// Each with the next that its shape does not exclude.
void ClaimAssigner::assign_in_order(const std::vector<uint32_t>& claims, const std::vector<uint32_t>& hosts) {
  size_t next = 0;
  for (size_t i = 0; i < claims.size(); ++i) {
    const size_t last = hosts.size() - std::min(hosts.size(), claims.size() - i);  // leaves some for the others
    for (size_t at = next; at < hosts.size() && at <= std::max(next, last); ++at) {
      const Fit fit = fit_of(claims_[claims[i]], hosts[at], evidence_);
      if (!fit.shapes && claims.size() != hosts.size()) continue;
      meet(claims_[claims[i]], hosts[at], hosts_);
      next = at + 1;
      break;
    }
  }
}

}  // namespace msdump
