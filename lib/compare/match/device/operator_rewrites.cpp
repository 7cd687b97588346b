#include "compare/match/device/operator_claims.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/containers.h"
#include "base/text.h"

namespace msdump {
namespace {

// The operators of one scope that are neither matched nor taken, by family.
struct RewriteScope {
  const OpKey& of;  // of one of the claims
  std::map<std::string, std::vector<uint32_t>> claims;
  std::map<std::string, std::vector<SequencedOpId>> hosts;
};

// The least number by which this side has more operators of a family than the other. Families in `others` do not count.
template <class Here, class There>
size_t surplus(const std::vector<std::string>& families, const std::vector<std::string>& others, const Here& here,
               const There& there) {
  size_t least = SIZE_MAX;
  for (const std::string& family : families) {
    const auto found = here.find(family);
    if (found == here.end()) return 0;
    if (std::find(others.begin(), others.end(), family) != others.end()) continue;
    const auto other = there.find(family);
    const size_t opposite = other == there.end() ? 0 : other->second.size();
    least = std::min(least, found->second.size() > opposite ? found->second.size() - opposite : 0);
  }
  return least == SIZE_MAX ? 0 : least;
}

std::optional<RecordId> output_at(const MatchSide& side, SequencedOpId op, uint32_t slot) {
  for (const RecordId tensor : side.operators[op].tensors) {
    const NameFacts& name = side.tensor(tensor).name;
    if (name.io == Io::kOutput && parse_u64(name.slot) == slot) return tensor;
  }
  return std::nullopt;
}

class RewriteMatcher {
 public:
  RewriteMatcher(const ge::Rewrite& rewrite, Claims& claims, HostOperators& hosts, HostNeighbours& neighbours,
                 MatchEvidence& evidence)
      : rewrite_(rewrite), claims_(claims), hosts_(hosts), neighbours_(neighbours), evidence_(evidence) {}

  void apply(RewriteScope& scope) {
    const std::vector<std::string> last = {rewrite_.mindspore.back()};
    times_ = std::min(surplus(rewrite_.device, rewrite_.mindspore, scope.claims, scope.hosts),
                      surplus(last, rewrite_.device, scope.hosts, scope.claims));
    if (times_ == 0) return;
    std::vector<SequencedOpId> ends = hosts_.free_of(scope.hosts[last.front()]);
    for (uint32_t part = static_cast<uint32_t>(rewrite_.device.size()); part-- > 0;)
      ends = apply_part(part, scope.claims[rewrite_.device[part]], ends);
    if (ends.empty()) return;
    for (auto& [family, claims] : scope.claims)
      std::erase_if(claims, [&](uint32_t claim) { return claims_[claim].is_met(); });
    for (auto& [family, hosts] : scope.hosts) hosts = hosts_.free_of(hosts);
  }

 private:
  [[nodiscard]] bool finds_chain(uint32_t part) const { return part + 1 == rewrite_.device.size(); }

  // Matches claims with a part of the rewriting, each with one of `ends`, the last of the rewritten operators. Values
  // decide, then the order. The last part comes first and finds the rewritten operators. Returns the ends that are matched.
  std::vector<SequencedOpId> apply_part(uint32_t part, const std::vector<uint32_t>& claims,
                                        const std::vector<SequencedOpId>& ends) {
    std::set<SequencedOpId> met;
    const auto take = [&](uint32_t claim, SequencedOpId end) {
      if (claims_[claim].is_met() || met.contains(end) || !meet_part(claims_[claim], part, end)) return false;
      met.insert(end);
      return true;
    };
    for (const bool by_inputs : {false, true}) {
      for (const RatedPair& pair : rated(part, claims, ends, by_inputs)) {
        if (met.size() < times_) take(pair.a, SequencedOpId(pair.b));
      }
    }
    auto next = ends.begin();
    for (const uint32_t claim : claims) {
      if (claims_[claim].is_met()) continue;
      while (met.size() < times_ && next != ends.end() && !take(claim, *next)) ++next;
    }
    return {met.begin(), met.end()};
  }

  // False if there are no operators that can have been rewritten.
  bool meet_part(OperatorClaim& claim, uint32_t part, SequencedOpId end) {
    if (finds_chain(part)) {
      if (hosts_.is_taken(end)) return false;
      chains_[end] = neighbours_.chain_that_ends(rewrite_.mindspore, end);
    }
    if (chains_[end].empty()) return false;
    claim.rewritten = chains_[end];
    for (const SequencedOpId host : claim.rewritten) hosts_.take(host);
    claim.host = end;
    claim.rewrite = &rewrite_;
    claim.part = part;
    return true;
  }

  [[nodiscard]] std::vector<RatedPair> rated(uint32_t part, const std::vector<uint32_t>& claims,
                                             const std::vector<SequencedOpId>& ends, bool by_inputs) {
    std::vector<RatedPair> pairs;
    if (claims.size() * ends.size() > (by_inputs ? kMostComparedByInputs : kMostCompared)) {
      evidence_.limits.insert(by_inputs ? kComparedByInputsLimit : kComparedLimit);
      return pairs;
    }
    for (const SequencedOpId end : ends) {
      if (finds_chain(part) && hosts_.is_taken(end)) continue;
      const std::vector<SequencedOpId> chain =
          by_inputs ? neighbours_.chain_that_ends(rewrite_.mindspore, end) : std::vector<SequencedOpId>{end};
      for (const uint32_t claim : claims) {
        if (chain.empty() || claims_[claim].is_met()) continue;
        const double value = by_inputs ? likeness_of_inputs(claims_[claim].device, chain.front(), evidence_)
                                       : likeness_of_own_output(part, claims_[claim], end);
        if (value >= (by_inputs ? kHalfOfInputs : kAlike)) pairs.push_back({value, claim, end});
      }
    }
    sort_by_likeness(pairs);
    return pairs;
  }

  // The similarity of an output of a part that is also an output of the last operator; 0 if unknown.
  [[nodiscard]] double likeness_of_own_output(uint32_t part, const OperatorClaim& claim, SequencedOpId end) {
    for (const ge::Rewrite::Output& output : rewrite_.outputs) {
      if (output.device_op != part || output.op + 1 != rewrite_.mindspore.size()) continue;
      if (output.device_output == 0 && !claim.is_last) continue;
      const auto a = output_at(evidence_.device, claim.device, output.device_output);
      const auto b = output_at(evidence_.host, end, output.output);
      if (a && b && same_elements(evidence_.device.tensor(*a), evidence_.host.tensor(*b)))
        return evidence_.likeness_of(*a, *b).value_or(0);
    }
    return 0;
  }

  const ge::Rewrite& rewrite_;
  Claims& claims_;
  HostOperators& hosts_;
  HostNeighbours& neighbours_;
  MatchEvidence& evidence_;
  size_t times_ = 0;
  std::map<SequencedOpId, std::vector<SequencedOpId>> chains_;  // host operators, by the last of them
};

// The scopes that have claims, in the order of their first ones.
std::vector<RewriteScope> scopes_of(const Claims& claims, const HostOperators& hosts) {
  std::vector<RewriteScope> scopes;
  HashSlots slots(hosts.groups());
  const auto hash_of = [](const OpKey& key) { return mix_hash(text_hash(key.scope), msdump::hash_of(key.place)); };
  const auto is_scope_of = [&](uint32_t known, const OpKey& key) {
    return scopes[known].of.scope == key.scope && scopes[known].of.place == key.place;
  };
  for (uint32_t i = 0; i < claims.size(); ++i) {
    const OpKey& key = claims[i].key;
    const uint32_t scope = slots.find_or_add(hash_of(key), static_cast<uint32_t>(scopes.size()),
                                             [&](uint32_t known) { return is_scope_of(known, key); });
    if (scope == scopes.size()) scopes.push_back({key, {}, {}});
    scopes[scope].claims[key.family].push_back(i);
  }
  for (SequencedOpId i{0}; i < hosts.size(); ++i) {
    const OpKey& key = hosts.key(i);
    const uint32_t scope = slots.find(hash_of(key), [&](uint32_t known) { return is_scope_of(known, key); });
    if (scope != HashSlots::kNone) scopes[scope].hosts[key.family].push_back(i);
  }
  return scopes;
}

}  // namespace

void meet_by_rewrites(Claims& claims, HostOperators& hosts, HostNeighbours& neighbours, MatchEvidence& evidence) {
  std::multimap<std::string, const ge::Rewrite*> rewrites;  // by the family of the first device operator
  for (const ge::Rewrite& rewrite : ge::OperatorTable::get().rewrites())
    rewrites.emplace(rewrite.device.front(), &rewrite);
  for (RewriteScope& scope : scopes_of(claims, hosts)) {
    if (scope.hosts.empty()) continue;
    std::vector<const ge::Rewrite*> possible;
    for (const auto& [family, of_family] : scope.claims) {
      const auto [first, last] = rewrites.equal_range(family);
      for (auto at = first; at != last; ++at) possible.push_back(at->second);
    }
    for (const ge::Rewrite* const rewrite : possible)
      RewriteMatcher(*rewrite, claims, hosts, neighbours, evidence).apply(scope);
  }
}

}  // namespace msdump
