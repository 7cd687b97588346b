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

namespace msdump {
namespace {

bool is_bias(std::string_view family) { return family == "biasadd" || family == "add"; }

constexpr double kCertainlyAlike = 0.99;

enum class Care : uint8_t {
  kGuess,      // every claim that can be matched is
  kConfirmed,  // only if values confirm it, or if there is one claim and one operator
};

class DeviceMatcher {
 public:
  explicit DeviceMatcher(MatchEvidence& evidence)
      : evidence_(evidence), hosts_(evidence), claims_(claims_of(evidence, hosts_)), neighbours_(evidence, hosts_) {}

  std::vector<DeviceMatch> run() {
    meet_by_rewrites(claims_, hosts_, neighbours_, evidence_);
    meet_in_scope(true);
    meet_in_scope(false);
    join_parts_by_name();
    join_parts_by_table();
    meet_without_scope();
    absorb_consumers();
    match_by_values();
    return matches();
  }

 private:
  // Matches the last members first, because their outputs can be compared. The others follow the data flow.
  void meet_in_scope(bool last) {
    std::vector<std::vector<uint32_t>> by_group(hosts_.groups());
    for (auto i = static_cast<uint32_t>(claims_.size()); i-- > 0;) {
      const OperatorClaim& claim = claims_[i];
      if (claim.is_met() || claim.is_last != last) continue;
      if (!last && meet_producer(claims_[i], claims_[i + 1])) continue;
      if (const uint32_t group = hosts_.find_group(claim.key); group != HashSlots::kNone) by_group[group].push_back(i);
    }
    for (uint32_t group = 0; group < by_group.size(); ++group) {
      if (by_group[group].empty()) continue;
      std::reverse(by_group[group].begin(), by_group[group].end());
      assign(by_group[group], hosts_.free_of(hosts_.in_group(group)), Care::kGuess);
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
    const auto name_of = [](const OperatorClaim& claim) {
      const OriginalName& name = claim.original;
      return std::tuple(claim.key.place, std::string_view(name.scope), std::string_view(name.type), name.number);
    };
    std::map<decltype(name_of(claims_[0])), SequencedOpId> met;  // the first of each name
    for (const OperatorClaim& claim : claims_) {
      if (claim.is_met()) met.emplace(name_of(claim), claim.host);
    }
    for (OperatorClaim& claim : claims_) {
      if (claim.is_met() || claim.original.type.empty()) continue;
      const auto found = met.find(name_of(claim));
      if (found == met.end()) continue;
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
    for (const auto& [key, family] : families) assign(family.claims, family.hosts, Care::kConfirmed);
  }

  // ---- Several claims and several host operators

  // Matches unmatched claims with operators that are not taken. Keeps the order of their dumps unless shapes or values
  // contradict it. Values then decide, and what is left is matched in order.
  void assign(std::vector<uint32_t> claims, std::vector<SequencedOpId> hosts, Care care) {
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

  void remove_met(std::vector<uint32_t>& claims, std::vector<SequencedOpId>& hosts) const {
    std::erase_if(claims, [&](uint32_t claim) { return claims_[claim].is_met(); });
    hosts = hosts_.free_of(hosts);
  }

  // Matches the pairs of claims and operators with the greatest values, and removes them from the lists.
  template <class Value>
  void meet_best(std::vector<uint32_t>& claims, std::vector<SequencedOpId>& hosts, double least,
                 const Value& value_of) {
    std::vector<RatedPair> pairs;
    for (const uint32_t claim : claims) {
      for (const SequencedOpId host : hosts) {
        const double value = value_of(claims_[claim], host);
        if (value >= least) pairs.push_back({value, claim, host});
      }
    }
    for (const RatedPair& pair : best_pairs(std::move(pairs))) meet(claims_[pair.a], SequencedOpId(pair.b), hosts_);
    remove_met(claims, hosts);
  }

  // If both sides have as many, tries each claim with the operator at its index.
  void assign_side_by_side(std::vector<uint32_t>& claims, std::vector<SequencedOpId>& hosts, Care care) {
    if (claims.size() != hosts.size()) return;
    const bool alone = claims.size() == 1;
    for (size_t i = 0; i < claims.size(); ++i) {
      const Fit fit = fit_of(claims_[claims[i]], hosts[i], evidence_);
      const bool bad = !fit.shapes || (fit.values && *fit.values < kUnlike);
      const bool good = care == Care::kConfirmed ? !bad && (alone || fit.values.has_value()) : alone || !bad;
      if (good) meet(claims_[claims[i]], hosts[i], hosts_);
    }
    remove_met(claims, hosts);
  }

  void assign_by_outputs(std::vector<uint32_t>& claims, std::vector<SequencedOpId>& hosts) {
    meet_best(claims, hosts, kAlike, [&](const OperatorClaim& claim, SequencedOpId host) {
      const Fit fit = fit_of(claim, host, evidence_);
      return fit.shapes ? fit.values.value_or(0) : 0;
    });
  }

  void assign_by_inputs(std::vector<uint32_t>& claims, std::vector<SequencedOpId>& hosts, Care care) {
    if (claims.size() * hosts.size() > kMostComparedByInputs) {
      evidence_.limits.insert(kComparedByInputsLimit);
      return;
    }
    const double least = care == Care::kConfirmed ? kAlike : kHalfOfInputs;
    meet_best(claims, hosts, least, [&](const OperatorClaim& claim, SequencedOpId host) {
      return likeness_of_inputs(claim.device, host, evidence_);
    });
  }

  // Matches each claim with the next operator that its shape does not exclude.
  void assign_in_order(const std::vector<uint32_t>& claims, const std::vector<SequencedOpId>& hosts) {
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

  // ---- Absorbed operators

  // Finds host operators, such as a bias or an activation, that the device operator before them includes without naming them.
  // Values show it: the device operator's output is that of the last of them.
  void absorb_consumers() {
    for (const OperatorClaim& claim : claims_) {
      if (!claim.is_last || !claim.is_met() || claim.rewrite != nullptr) continue;
      std::vector<SequencedOpId> chain = absorbed_after(claim);
      for (const SequencedOpId host : chain) hosts_.take(host);
      if (!chain.empty()) absorbed_[claim.device] = std::move(chain);
    }
  }

  // The free operators after the claim's, up to the one whose output the device has.
  std::vector<SequencedOpId> absorbed_after(const OperatorClaim& claim) {
    std::vector<SequencedOpId> chain, best;
    const auto output = evidence_.device_tensors.largest(claim.device, Io::kOutput);
    if (!output) return best;
    std::optional<double> value = likeness_of_output(*output, claim.host, evidence_), first;
    for (SequencedOpId at = claim.host; chain.size() < kFewTried;) {
      at = neighbours_.only_free_consumer(at);
      if (at == kNoId) break;
      chain.push_back(at);
      const std::optional<double> next = likeness_of_output(*output, at, evidence_);
      if (chain.size() == 1) first = next;
      if (next && (value ? *next > *value : *next >= kAlike)) {
        best = chain;
        value = next;
      }
    }
    // Values may not decide, as for a bias of zeros or statistics alone. An input more than usual is then a bias.
    if (!best.empty() || chain.empty() || !is_bias(hosts_.key(chain.front()).family)) return best;
    const uint32_t inputs = evidence_.device_tensors.count(claim.device, Io::kInput);
    const bool more = inputs > evidence_.host_tensors.tensor_inputs(claim.host);
    if (more && (!value || !first || *first >= *value)) best = {chain.front()};
    return best;
  }

  // ---- Values alone

  // Matches device operators by the values of their outputs, if neither name nor type nor order has matched them. Parameters
  // are left out: a moment of an optimizer has the direction of a gradient.
  void match_by_values() {
    std::map<std::pair<OperatorPlace, int64_t>, std::vector<SequencedOpId>> by_count;  // by number of output elements
    for (SequencedOpId host{0}; host < hosts_.size(); ++host) {
      const auto output = evidence_.host_tensors.largest(host, Io::kOutput);
      if (hosts_.is_taken(host) || !output || evidence_.host.operators[host].type == "Parameter") continue;
      const auto count = host_elements(evidence_.host.tensor(*output));
      if (count && *count >= int64_t{kFewValues}) by_count[{hosts_.key(host).place, *count}].push_back(host);
    }
    std::vector<bool> is_met(evidence_.device.operators.size(), false);  // with the last claim
    for (const OperatorClaim& claim : claims_) is_met[claim.device] = claim.is_met();
    std::vector<RatedPair> pairs;
    size_t compared = 0;
    for (SequencedOpId device{0}; device < evidence_.device.operators.size(); ++device) {
      const SequencedOp& one = evidence_.device.operators[device];
      const auto output = evidence_.device_tensors.largest(device, Io::kOutput);
      if (!output || is_met[device] || !table_.inserted(one.type).empty()) continue;
      const auto count = host_elements(evidence_.device.tensor(*output));
      const auto found = count ? by_count.find({evidence_.place_of(one), *count}) : by_count.end();
      if (found == by_count.end()) continue;
      for (const SequencedOpId host : found->second) {
        if (++compared > kMostCompared) {
          evidence_.limits.insert(kComparedLimit);
          break;
        }
        const double value = likeness_of_output(*output, host, evidence_).value_or(0);
        if (value > kCertainlyAlike) pairs.push_back({value, device, host});
      }
    }
    for (const RatedPair& pair : best_pairs(std::move(pairs))) {
      by_values_.emplace(pair.a, pair.b);
      hosts_.take(SequencedOpId(pair.b));
    }
  }

  // ---- The result

  [[nodiscard]] std::vector<DeviceMatch> matches() {
    std::vector<DeviceMatch> matches(evidence_.device.operators.size());
    for (const OperatorClaim& claim : claims_) {
      if (claim.is_met()) add(claim, matches[claim.device]);
    }
    std::vector<uint32_t> claimed(hosts_.size(), 0);
    for (SequencedOpId device{0}; device < matches.size(); ++device) {
      add_others(device, matches[device]);
      for (const SequencedOpId host : matches[device].hosts) ++claimed[host];
    }
    for (DeviceMatch& match : matches) {
      match.is_split = match.is_split || std::any_of(match.hosts.begin(), match.hosts.end(),
                                                     [&](SequencedOpId host) { return claimed[host] > 1; });
    }
    return matches;
  }

  // Adds the operators that no claim names.
  void add_others(SequencedOpId device, DeviceMatch& match) const {
    if (const auto found = inside_.find(device); found != inside_.end())
      match.hosts.insert(match.hosts.begin(), found->second.begin(), found->second.end());
    if (const auto found = by_values_.find(device); found != by_values_.end()) {
      match.hosts.push_back(found->second);
      match.outputs_in_order = true;
    }
    if (const auto found = absorbed_.find(device); found != absorbed_.end())
      match.hosts.insert(match.hosts.end(), found->second.begin(), found->second.end());
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
  // By device operator, in the order of the data flow: the operators after its own, and between them.
  std::map<SequencedOpId, std::vector<SequencedOpId>> absorbed_, inside_;
  std::map<SequencedOpId, SequencedOpId> by_values_;  // by device operator
};

}  // namespace

std::vector<DeviceMatch> match_device(MatchEvidence& evidence) { return DeviceMatcher(evidence).run(); }

}  // namespace msdump
