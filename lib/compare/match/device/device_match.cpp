#include "compare/match/device/device_match.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "compare/limits.h"
#include "compare/match/device/match_evidence.h"
#include "compare/match/device/operator_claims.h"
#include "compare/match/device/operator_rewrites.h"

namespace msdump {
namespace {

// Absorbed operators: host operators, such as a bias or an activation, that the device operator before them includes without
// naming them. As values show, the output of the device operator is theirs.

bool is_bias(std::string_view family) { return family == "biasadd" || family == "add"; }

// The free operators after the claim's, up to the one whose output the device has.
std::vector<SequencedOpId> absorbed_after(const OperatorClaim& claim, const HostOperators& hosts,
                                          HostNeighbours& neighbours, MatchEvidence& evidence) {
  std::vector<SequencedOpId> chain, best;
  const auto output = evidence.device_tensors.largest(claim.device, Io::kOutput);
  if (!output) return best;
  std::optional<double> value = likeness_of_output(*output, claim.host, evidence), first;
  for (SequencedOpId at = claim.host; chain.size() < kFewTried;) {
    at = neighbours.only_free_consumer(at);
    if (at == kNoId) break;
    chain.push_back(at);
    const std::optional<double> next = likeness_of_output(*output, at, evidence);
    if (chain.size() == 1) first = next;
    if (next && (value ? *next > *value : *next >= kAlike)) {
      best = chain;
      value = next;
    }
  }
  // Values may not decide, as for a bias of zeros or statistics alone. An input more than usual is then a bias.
  if (!best.empty() || chain.empty() || !is_bias(hosts.key(chain.front()).family)) return best;
  const uint32_t inputs = evidence.device_tensors.count(claim.device, Io::kInput);
  const bool more = inputs > evidence.host_tensors.tensor_inputs(claim.host);
  if (more && (!value || !first || *first >= *value)) best = {chain.front()};
  return best;
}

// The absorbed operators by device operator, in the order of the data flow. Marks them as taken.
using Chains = std::map<SequencedOpId, std::vector<SequencedOpId>>;
Chains absorb_consumers(Claims& claims, HostOperators& hosts, HostNeighbours& neighbours, MatchEvidence& evidence) {
  Chains absorbed;
  for (const OperatorClaim& claim : claims) {
    if (!claim.is_last || !claim.is_met() || claim.rewrite != nullptr) continue;
    std::vector<SequencedOpId> chain = absorbed_after(claim, hosts, neighbours, evidence);
    for (const SequencedOpId host : chain) hosts.take(host);
    if (!chain.empty()) absorbed[claim.device] = std::move(chain);
  }
  return absorbed;
}

// ClaimAssigner: matches several claims with several host operators. It keeps the order of their dumps unless shapes or
// values contradict it. Values then decide, and what is left is matched in order.

enum class Care : uint8_t {
  kGuess,      // every claim that can be matched is
  kConfirmed,  // only if values confirm it, or if there is one claim and one operator
};

class ClaimAssigner {
 public:
  // The arguments must outlive this.
  ClaimAssigner(Claims& claims, HostOperators& hosts, MatchEvidence& evidence)
      : claims_(claims), hosts_(hosts), evidence_(evidence) {}

  // `claims` are indices of unmatched claims, `hosts` operators that are not taken.
  void assign(std::vector<uint32_t> claims, std::vector<SequencedOpId> hosts, Care care);

 private:
  // Each function removes what it matches from the lists.
  void assign_side_by_side(std::vector<uint32_t>& claims, std::vector<SequencedOpId>& hosts, Care care);
  void assign_by_outputs(std::vector<uint32_t>& claims, std::vector<SequencedOpId>& hosts);
  void assign_by_inputs(std::vector<uint32_t>& claims, std::vector<SequencedOpId>& hosts, Care care);
  void assign_in_order(const std::vector<uint32_t>& claims, const std::vector<SequencedOpId>& hosts);

  Claims& claims_;
  HostOperators& hosts_;
  MatchEvidence& evidence_;
};

// Matches the best pairs of claims and operators, and removes them from the lists.
void meet_best(std::vector<RatedPair> pairs, std::vector<uint32_t>& open, std::vector<SequencedOpId>& free,
               Claims& claims, HostOperators& hosts) {
  for (const RatedPair& pair : best_pairs(std::move(pairs))) meet(claims[pair.a], SequencedOpId(pair.b), hosts);
  std::erase_if(open, [&](uint32_t claim) { return claims[claim].is_met(); });
  free = hosts.free_of(free);
}

void ClaimAssigner::assign(std::vector<uint32_t> claims, std::vector<SequencedOpId> hosts, Care care) {
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

// If both sides have as many, tries each claim with the operator at its index.
void ClaimAssigner::assign_side_by_side(std::vector<uint32_t>& claims, std::vector<SequencedOpId>& hosts, Care care) {
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

void ClaimAssigner::assign_by_outputs(std::vector<uint32_t>& claims, std::vector<SequencedOpId>& hosts) {
  std::vector<RatedPair> pairs;
  for (const uint32_t claim : claims) {
    for (const SequencedOpId host : hosts) {
      const Fit fit = fit_of(claims_[claim], host, evidence_);
      if (fit.shapes && fit.values && *fit.values >= kAlike) pairs.push_back({*fit.values, claim, host});
    }
  }
  meet_best(std::move(pairs), claims, hosts, claims_, hosts_);
}

void ClaimAssigner::assign_by_inputs(std::vector<uint32_t>& claims, std::vector<SequencedOpId>& hosts, Care care) {
  if (claims.size() * hosts.size() > kMostComparedByInputs) {
    evidence_.limits.insert(kComparedByInputsLimit);
    return;
  }
  const double least = care == Care::kConfirmed ? kAlike : kHalfOfInputs;
  std::vector<RatedPair> pairs;
  for (const uint32_t claim : claims) {
    for (const SequencedOpId host : hosts) {
      const double value = likeness_of_inputs(claims_[claim].device, host, evidence_);
      if (value >= least) pairs.push_back({value, claim, host});
    }
  }
  meet_best(std::move(pairs), claims, hosts, claims_, hosts_);
}

// Matches each claim with the next operator that its shape does not exclude.
void ClaimAssigner::assign_in_order(const std::vector<uint32_t>& claims, const std::vector<SequencedOpId>& hosts) {
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

// Matches device operators by the values of their outputs alone, if neither name nor type nor order has matched them.

constexpr double kCertain = 0.99;

// The operators that are not taken, by place and number of output elements. Parameters are none: a moment of an optimizer has
// the direction of a gradient.
using ByCount = std::map<std::pair<OperatorPlace, int64_t>, std::vector<SequencedOpId>>;

ByCount free_by_count(const HostOperators& hosts, const MatchEvidence& evidence) {
  ByCount by_count;
  for (SequencedOpId host{0}; host < hosts.size(); ++host) {
    const auto output = evidence.host_tensors.largest(host, Io::kOutput);
    if (hosts.is_taken(host) || !output || evidence.host.operators[host].type == "Parameter") continue;
    const auto count = host_elements(evidence.host.tensor(*output));
    if (count && *count >= int64_t{kFewValues}) by_count[{hosts.key(host).place, *count}].push_back(host);
  }
  return by_count;
}

// The host operator of each device operator that is matched. Marks them as taken.
std::map<SequencedOpId, SequencedOpId> match_by_values(Claims& claims, HostOperators& hosts, MatchEvidence& evidence) {
  const ByCount by_count = free_by_count(hosts, evidence);
  std::vector<RatedPair> pairs;
  size_t compared = 0;
  for (SequencedOpId device{0}; device < evidence.device.operators.size(); ++device) {
    const SequencedOp& one = evidence.device.operators[device];
    const OperatorClaim* const claim = claims.last_of(device);
    const auto output = evidence.device_tensors.largest(device, Io::kOutput);
    if (!output || (claim != nullptr && claim->is_met()) || !ge::OperatorTable::get().inserted(one.type).empty())
      continue;
    const auto count = host_elements(evidence.device.tensor(*output));
    const auto found = count ? by_count.find({evidence.place_of(one), *count}) : by_count.end();
    if (found == by_count.end()) continue;
    for (const SequencedOpId host : found->second) {
      if (++compared > kMostCompared) {
        evidence.limits.insert(kComparedLimit);
        break;
      }
      const double value = likeness_of_output(*output, host, evidence).value_or(0);
      if (value > kCertain) pairs.push_back({value, device, host});
    }
  }
  std::map<SequencedOpId, SequencedOpId> matches;
  for (const RatedPair& pair : best_pairs(std::move(pairs))) {
    matches.emplace(pair.a, pair.b);
    hosts.take(SequencedOpId(pair.b));
  }
  return matches;
}

class DeviceMatcher {
 public:
  explicit DeviceMatcher(MatchEvidence& evidence)
      : evidence_(evidence),
        hosts_(evidence),
        claims_(evidence, hosts_),
        neighbours_(evidence, hosts_),
        assigner_(claims_, hosts_, evidence) {}

  std::vector<DeviceMatch> run() {
    meet_by_rewrites(claims_, hosts_, neighbours_, evidence_);
    meet_in_scope(true);
    meet_in_scope(false);
    join_parts_by_name();
    join_parts_by_table();
    meet_without_scope();
    absorbed_ = absorb_consumers(claims_, hosts_, neighbours_, evidence_);
    by_values_ = match_by_values(claims_, hosts_, evidence_);
    return matches();
  }

 private:
  // Matches the last members first, because their outputs can be compared. The others follow the data flow.
  void meet_in_scope(bool last) {
    std::vector<std::vector<uint32_t>> by_group(hosts_.groups());
    for (uint32_t i = claims_.size(); i-- > 0;) {
      const OperatorClaim& claim = claims_[i];
      if (claim.is_met() || claim.is_last != last) continue;
      if (!last && meet_producer(claims_[i], claims_[i + 1])) continue;
      if (const uint32_t group = hosts_.find_group(claim.key); group != HashSlots::kNone) by_group[group].push_back(i);
    }
    for (uint32_t group = 0; group < by_group.size(); ++group) {
      if (by_group[group].empty()) continue;
      std::reverse(by_group[group].begin(), by_group[group].end());
      assigner_.assign(by_group[group], hosts_.free_of(hosts_.in_group(group)), Care::kGuess);
    }
  }

  // Matches the claim with the producer of an input of the next member. Operators may be fused in between that no name has.
  bool meet_producer(OperatorClaim& claim, const OperatorClaim& next) {
    if (!next.is_met()) return false;
    for (std::vector<SequencedOpId> chain = {next.host}; chain.size() <= kFewTried;) {
      SequencedOpId before;
      for (const SequencedOpId producer : neighbours_.producers_of(chain.back())) {
        if (hosts_.is_taken(producer)) continue;
        if (before == kNoId) before = producer;
        const std::string& family = hosts_.key(producer).family;
        if (family != claim.key.family && !table_.is_part_of(claim.key.family, family)) continue;
        meet(claim, producer, hosts_);
        claim.is_part = family != claim.key.family;
        for (size_t i = 1; i < chain.size(); ++i) {
          hosts_.take(chain[i]);
          inside_[claim.device].push_back(chain[i]);
        }
        return true;
      }
      if (before == kNoId) return false;
      chain.push_back(before);
    }
    return false;
  }

  // Matches parts of one operator that carry its name.
  void join_parts_by_name() {
    using Name = std::tuple<OperatorPlace, std::string_view, std::string_view, uint64_t>;
    std::map<Name, SequencedOpId> wanted;  // by unmatched claims, and the operators that others have matched
    const auto name_of = [](const OperatorClaim& claim) {
      return Name(claim.key.place, claim.original.scope, claim.original.type, claim.original.number);
    };
    for (const OperatorClaim& claim : claims_) {
      if (!claim.is_met() && !claim.original.type.empty()) wanted.emplace(name_of(claim), kNoId);
    }
    for (const OperatorClaim& claim : claims_) {
      const auto found = claim.is_met() ? wanted.find(name_of(claim)) : wanted.end();
      if (found != wanted.end() && found->second == kNoId) found->second = claim.host;
    }
    for (OperatorClaim& claim : claims_) {
      const auto found = claim.is_met() ? wanted.end() : wanted.find(name_of(claim));
      if (found == wanted.end() || found->second == kNoId) continue;
      claim.host = found->second;
      claim.is_part = true;
    }
  }

  // Matches claims of one scope that the table knows as parts: one for each operator, in order.
  void join_parts_by_table() {
    std::map<OpKey, size_t> used;  // operators, by the key of the part
    for (OperatorClaim& claim : claims_) {
      if (claim.is_met()) continue;
      for (const ge::Rewrite& rewrite : table_.rewrites()) {
        if (rewrite.mindspore.size() != 1 || !table_.is_part_of(claim.key.family, rewrite.mindspore[0])) continue;
        const auto& whole = hosts_.with_key({claim.key.place, claim.key.scope, rewrite.mindspore[0]});
        size_t& next = used[claim.key];
        if (next >= whole.size()) continue;
        meet(claim, whole[next++], hosts_);
        claim.is_part = true;
        break;
      }
    }
  }

  // Matches operators of one family in different scopes, if values confirm it or they are the only ones.
  void meet_without_scope() {
    struct Family {
      std::vector<uint32_t> claims;
      std::vector<SequencedOpId> hosts;
    };
    std::map<std::pair<OperatorPlace, std::string>, Family> families;
    for (uint32_t i = 0; i < claims_.size(); ++i) {
      const OperatorClaim& claim = claims_[i];
      if (!claim.is_met() && claim.is_last) families[{claim.key.place, claim.key.family}].claims.push_back(i);
    }
    for (SequencedOpId i{0}; i < hosts_.size(); ++i) {
      const auto found = families.find({hosts_.key(i).place, hosts_.key(i).family});
      if (found != families.end() && !hosts_.is_taken(i)) found->second.hosts.push_back(i);
    }
    for (const auto& [key, family] : families) assigner_.assign(family.claims, family.hosts, Care::kConfirmed);
  }

  // ---- The result

  [[nodiscard]] std::vector<DeviceMatch> matches() {
    std::vector<DeviceMatch> matches(evidence_.device.operators.size());
    std::vector<uint32_t> claimed(hosts_.size(), 0);
    for (SequencedOpId device{0}; device < matches.size(); ++device) {
      matches[device] = match_of(device);
      for (const SequencedOpId host : matches[device].hosts) ++claimed[host];
    }
    for (DeviceMatch& match : matches) {
      match.is_split = match.is_split || std::any_of(match.hosts.begin(), match.hosts.end(),
                                                     [&](SequencedOpId host) { return claimed[host] > 1; });
    }
    return matches;
  }

  [[nodiscard]] DeviceMatch match_of(SequencedOpId device) {
    DeviceMatch match;
    for (const OperatorClaim& claim : claims_.of(device)) {
      if (claim.is_met()) add(claim, match);
    }
    if (const auto found = inside_.find(device); found != inside_.end())
      match.hosts.insert(match.hosts.begin(), found->second.begin(), found->second.end());
    if (const auto found = by_values_.find(device); found != by_values_.end()) {
      match.hosts.push_back(found->second);
      match.outputs_in_order = true;
    }
    if (const auto found = absorbed_.find(device); found != absorbed_.end())
      match.hosts.insert(match.hosts.end(), found->second.begin(), found->second.end());
    return match;
  }

  void add(const OperatorClaim& claim, DeviceMatch& match) const {
    match.sure = true;
    if (claim.rewrite != nullptr) return add_rewritten(claim, match);
    match.hosts.push_back(claim.host);
    match.outputs_in_order = claim.is_last && !claim.is_part;
    match.is_split |= claim.is_part;
    if (!match.outputs_in_order) add_outputs_of_part(claim, match);
  }

  static void add_rewritten(const OperatorClaim& claim, DeviceMatch& match) {
    match.hosts.insert(match.hosts.end(), claim.rewritten.begin(), claim.rewritten.end());
    for (const ge::Rewrite::Output& output : claim.rewrite->outputs) {
      // Output 0 is that of the last member.
      if (output.device_op == claim.part && (output.device_output > 0 || claim.is_last))
        match.outputs.push_back({output.device_output, claim.rewritten[output.op], output.output});
    }
  }

  // Adds the outputs of a part of a split that is fused with later operators: output 0 is theirs, the others are its own.
  void add_outputs_of_part(const OperatorClaim& claim, DeviceMatch& match) const {
    const std::string family = table_.family(evidence_.device.operators[claim.device].type);
    for (const ge::Rewrite& rewrite : table_.rewrites()) {
      if (rewrite.mindspore.size() != 1 || rewrite.mindspore.front() != hosts_.key(claim.host).family) continue;
      for (const ge::Rewrite::Output& output : rewrite.outputs) {
        const std::string& part = rewrite.device[output.device_op];
        const bool own = part == family || part == claim.key.family;
        if (own && (output.device_output > 0 || claim.is_last))
          match.outputs.push_back({output.device_output, claim.host, output.output});
      }
      if (!match.outputs.empty()) return;
    }
  }

  const ge::OperatorTable& table_ = ge::OperatorTable::get();
  MatchEvidence& evidence_;
  HostOperators hosts_;
  Claims claims_;
  HostNeighbours neighbours_;
  ClaimAssigner assigner_;
  Chains absorbed_, inside_;                          // by device operator: after its own, and between them
  std::map<SequencedOpId, SequencedOpId> by_values_;  // by device operator
};

}  // namespace

std::vector<DeviceMatch> match_device(MatchEvidence& evidence) { return DeviceMatcher(evidence).run(); }

}  // namespace msdump
