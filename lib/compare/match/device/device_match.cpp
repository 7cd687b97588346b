#include "compare/match/device/device_match.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "compare/match/device/operators/absorbed.h"
#include "compare/match/device/operators/assignment.h"
#include "compare/match/device/operators/claims.h"
#include "compare/match/device/operators/host_neighbours.h"
#include "compare/match/device/operators/host_operators.h"
#include "compare/match/device/operators/rewrites.h"
#include "compare/match/device/operators/value_match.h"

namespace msdump {
namespace {

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
  // The last members first: their outputs can be compared. The others follow the data flow.
  void meet_in_scope(bool last) {
    std::vector<std::vector<uint32_t>> by_group(hosts_.groups());
    for (uint32_t i = claims_.size(); i-- > 0;) {
      const Claim& claim = claims_[i];
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

  // What the next member reads, directly or through operators that are fused in between and that no name says.
  bool meet_producer(Claim& claim, const Claim& next) {
    if (!next.is_met()) return false;
    for (std::vector<uint32_t> chain = {next.host}; chain.size() <= kMostAbsorbed;) {
      uint32_t before = kNoOperator;
      for (const uint32_t producer : neighbours_.producers_of(chain.back())) {
        if (hosts_.is_taken(producer)) continue;
        if (before == kNoOperator) before = producer;
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
      if (before == kNoOperator) return false;
      chain.push_back(before);
    }
    return false;
  }

  // Several device operators that are parts of one and carry its name.
  void join_parts_by_name() {
    using Name = std::tuple<std::optional<int64_t>, std::string_view, std::string_view, uint64_t>;
    std::map<Name, uint32_t> wanted;  // by claims that are not met, and the operators that others have met
    const auto name_of = [](const Claim& claim) {
      return Name(claim.key.rank, claim.original.scope, claim.original.type, claim.original.number);
    };
    for (const Claim& claim : claims_) {
      if (!claim.is_met() && !claim.original.type.empty()) wanted.emplace(name_of(claim), kNoOperator);
    }
    for (const Claim& claim : claims_) {
      const auto found = claim.is_met() ? wanted.find(name_of(claim)) : wanted.end();
      if (found != wanted.end() && found->second == kNoOperator) found->second = claim.host;
    }
    for (Claim& claim : claims_) {
      const auto found = claim.is_met() ? wanted.end() : wanted.find(name_of(claim));
      if (found == wanted.end() || found->second == kNoOperator) continue;
      claim.host = found->second;
      claim.is_part = true;
    }
  }

  // Those of one scope that the table knows as parts: one for each operator, in order.
  void join_parts_by_table() {
    std::map<OpKey, size_t> used;  // operators, by the key of the part
    for (Claim& claim : claims_) {
      if (claim.is_met()) continue;
      for (const ge::Rewrite& rewrite : table_.rewrites()) {
        if (rewrite.mindspore.size() != 1 || !table_.is_part_of(claim.key.family, rewrite.mindspore[0])) continue;
        const std::vector<uint32_t>& whole = hosts_.with_key({claim.key.rank, claim.key.scope, rewrite.mindspore[0]});
        size_t& next = used[claim.key];
        if (next >= whole.size()) continue;
        meet(claim, whole[next++], hosts_);
        claim.is_part = true;
        break;
      }
    }
  }

  // Operators whose scope differs: the same family, confirmed by values or by being the only ones.
  void meet_without_scope() {
    struct Family {
      std::vector<uint32_t> claims, hosts;
    };
    std::map<std::pair<std::optional<int64_t>, std::string>, Family> families;
    for (uint32_t i = 0; i < claims_.size(); ++i) {
      const Claim& claim = claims_[i];
      if (!claim.is_met() && claim.is_last) families[{claim.key.rank, claim.key.family}].claims.push_back(i);
    }
    for (uint32_t i = 0; i < hosts_.size(); ++i) {
      const auto found = families.find({hosts_.key(i).rank, hosts_.key(i).family});
      if (found != families.end() && !hosts_.is_taken(i)) found->second.hosts.push_back(i);
    }
    for (const auto& [key, family] : families) assigner_.assign(family.claims, family.hosts, Care::kConfirmed);
  }

  // ---- The result

  [[nodiscard]] std::vector<DeviceMatch> matches() {
    std::vector<DeviceMatch> matches(evidence_.device.operators.size());
    std::vector<uint32_t> claimed(hosts_.size(), 0);
    for (uint32_t device = 0; device < matches.size(); ++device) {
      matches[device] = match_of(device);
      for (const uint32_t host : matches[device].hosts) ++claimed[host];
    }
    for (DeviceMatch& match : matches) {
      match.is_split = match.is_split || std::any_of(match.hosts.begin(), match.hosts.end(),
                                                     [&](uint32_t host) { return claimed[host] > 1; });
    }
    return matches;
  }

  [[nodiscard]] DeviceMatch match_of(uint32_t device) {
    DeviceMatch match;
    for (const Claim& claim : claims_.of(device)) {
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

  void add(const Claim& claim, DeviceMatch& match) const {
    match.sure = true;
    if (claim.rewrite != nullptr) return add_rewritten(claim, match);
    match.hosts.push_back(claim.host);
    match.outputs_in_order = claim.is_last && !claim.is_part;
    match.is_split |= claim.is_part;
    if (!match.outputs_in_order) add_outputs_of_part(claim, match);
  }

  static void add_rewritten(const Claim& claim, DeviceMatch& match) {
    match.hosts.insert(match.hosts.end(), claim.rewritten.begin(), claim.rewritten.end());
    for (const ge::Rewrite::Output& output : claim.rewrite->outputs) {
      // The first output is that of the last member.
      if (output.device_op == claim.part && (output.device_output > 0 || claim.is_last))
        match.outputs.push_back({output.device_output, claim.rewritten[output.op], output.output});
    }
  }

  // A part of a split that is fused with what follows: its first output is the last operator's, the others its own.
  void add_outputs_of_part(const Claim& claim, DeviceMatch& match) const {
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
  std::map<uint32_t, std::vector<uint32_t>> absorbed_, inside_;  // by device operator: after its own, and between
  std::map<uint32_t, uint32_t> by_values_;                       // likewise
};

}  // namespace

std::vector<DeviceMatch> match_device(MatchEvidence& evidence) { return DeviceMatcher(evidence).run(); }

}  // namespace msdump
