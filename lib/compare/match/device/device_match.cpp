#include "compare/match/device/device_match.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "base/text.h"
#include "compare/match/device/device_name.h"

namespace msdump {
namespace {

using Rank = std::optional<int64_t>;

constexpr double kAlike = 0.9, kUnlike = 0.7;  // correlations
// By how much a later output must fit better to be the fused one, where it is alike and where a fault has changed it.
constexpr double kBetter = 0.01, kMuchBetter = 0.1;
constexpr size_t kMostCompared = size_t{1} << 20, kMostComparedByInputs = size_t{1} << 14;
constexpr uint32_t kMostAbsorbed = 6;
constexpr double kHalfOfInputs = 0.45;  // share: one of two, of which the other may be wrong
constexpr uint32_t kNear = 64;          // operators

// What a claim and an operator of the host have in common.
struct Key {
  Rank rank;
  std::string scope, family;
  auto operator<=>(const Key&) const = default;
};

struct Claim {
  uint32_t device = 0, member = 0;
  Key key;
  OriginalName original;  // empty type: of a parameter
  uint32_t host = kNoOperator;
  const ge::Rewrite* rewrite = nullptr;
  uint32_t part = 0;                // which of the rewrite's device operators
  std::vector<uint32_t> rewritten;  // the rewrite's operators of the host
  bool is_part = false;             // of an operator that another claim has met
};

class DeviceMatcher {
 public:
  explicit DeviceMatcher(MatchEvidence& evidence)
      : evidence_(evidence),
        device_(evidence.device),
        host_(evidence.host),
        device_tensors_(evidence.device_tensors),
        host_tensors_(evidence.host_tensors),
        flow_(evidence.host_flow),
        taken_(host_.operators.size(), false) {}

  std::vector<DeviceMatch> run() {
    collect_hosts();
    collect_claims();
    apply_rewrites();
    meet_claims(true);
    meet_claims(false);
    join_parts();
    meet_without_scope();
    absorb();
    match_by_values();
    return matches();
  }

 private:
  // ---- Claims and operators of the host

  void collect_hosts() {
    keys_.reserve(host_.operators.size());
    for (uint32_t i = 0; i < host_.operators.size(); ++i) {
      const SequencedOp& one = host_.operators[i];
      const DeviceName name = parse_device_name(one.name);
      Key key{rank_of(one), name.originals.empty() ? one.name : name.originals.back().scope, table_.family(one.type)};
      hosts_[key].push_back(i);
      families_.insert(key.family);
      keys_.push_back(std::move(key));
    }
  }

  // A single rank on each side is compared whatever its number is.
  [[nodiscard]] Rank rank_of(const SequencedOp& one) const { return several_ranks() ? one.rank : std::nullopt; }
  [[nodiscard]] bool several_ranks() const {
    const auto several = [](const std::vector<SequencedOp>& operators) {
      return std::any_of(operators.begin(), operators.end(),
                         [&](const SequencedOp& one) { return one.rank != operators.front().rank; });
    };
    if (!several_) several_ = several(device_.operators) || several(host_.operators);
    return *several_;
  }

  void collect_claims() {
    for (uint32_t i = 0; i < device_.operators.size(); ++i) {
      first_claim_.push_back(static_cast<uint32_t>(claims_.size()));
      const SequencedOp& one = device_.operators[i];
      if (one.tensors.empty()) continue;
      if (one.type == "Parameter") {
        add_claim(i, {rank_of(one), one.name, table_.family(one.type)}, {});
        continue;
      }
      const DeviceName name = parse_device_name(one.name);
      if (name.is_part && !table_.inserted(one.type).empty()) continue;
      if (name.originals.size() == 1) {
        claim_one(i, name);
      } else {
        for (const OriginalName& original : name.originals) {
          Key key = key_of(one, original);
          if (original.is_part) key.family = table_.family(one.type);
          add_claim(i, std::move(key), original);
        }
      }
      claim_original(i);
    }
    first_claim_.push_back(static_cast<uint32_t>(claims_.size()));
  }

  [[nodiscard]] Key key_of(const SequencedOp& one, const OriginalName& original) const {
    return {rank_of(one), original.scope, table_.family(original.type)};
  }

  // A name of one operator. Where the type is another's, that one is fused with what the name says: it comes first.
  void claim_one(uint32_t device, const DeviceName& name) {
    const SequencedOp& one = device_.operators[device];
    const OriginalName& original = name.originals.front();
    Key by_name = key_of(one, original), by_type = by_name;
    by_type.family = table_.family(one.type);
    const bool known = hosts_.contains(by_name);
    if (name.is_part || !known) return add_claim(device, by_type, original);
    if (by_type.family != by_name.family && may_be_inside(by_type.family)) add_claim(device, by_type, {});
    add_claim(device, by_name, original);
  }

  // Has the host operators of this family, or of one that is split into it?
  [[nodiscard]] bool may_be_inside(const std::string& family) const {
    if (families_.contains(family)) return true;
    return std::any_of(table_.rewrites().begin(), table_.rewrites().end(), [&](const ge::Rewrite& rewrite) {
      return rewrite.device.size() > 1 &&
             std::find(rewrite.device.begin(), rewrite.device.end(), family) != rewrite.device.end();
    });
  }

  // What the file of the first output says it was, unless the name ends in that.
  void claim_original(uint32_t device) {
    const SequencedOp& one = device_.operators[device];
    for (const uint32_t tensor : one.tensors) {
      const TensorRecord& record = (*device_.dump.tensors)[tensor];
      if (record.name.io != Io::kOutput || record.name.slot != "0") continue;
      if (record.original == nullptr) return;
      const DeviceName name = parse_device_name(record.original->op);
      if (name.originals.empty() || !table_.inserted(one.type).empty()) return;
      Key key = key_of(one, name.originals.back());
      const bool open = first_claim_[device] < claims_.size();
      if (!hosts_.contains(key)) return;
      if (open && (claims_.back().key == key || is_part_of(claims_.back().key.family, key.family))) return;
      // Nothing but its type says where the fused operators begin.
      Key by_type = {key.rank, key.scope, table_.family(one.type)};
      if (!open && by_type.family != key.family && may_be_inside(by_type.family)) add_claim(device, by_type, {});
      add_claim(device, std::move(key), name.originals.back());
      return;
    }
  }

  // Does the table know operators of this family as parts of the other?
  [[nodiscard]] bool is_part_of(const std::string& part, const std::string& whole) const {
    return std::any_of(table_.rewrites().begin(), table_.rewrites().end(), [&](const ge::Rewrite& rewrite) {
      return rewrite.mindspore.size() == 1 && rewrite.mindspore[0] == whole &&
             std::find(rewrite.device.begin(), rewrite.device.end(), part) != rewrite.device.end();
    });
  }

  void add_claim(uint32_t device, Key key, const OriginalName& original) {
    Claim claim;
    claim.device = device;
    claim.member = static_cast<uint32_t>(claims_.size()) - first_claim_[device];
    claim.key = std::move(key);
    claim.original = original;
    claims_.push_back(std::move(claim));
  }

  [[nodiscard]] bool is_last(const Claim& claim) const {
    return first_claim_[claim.device] + claim.member + 1 == first_claim_[claim.device + 1];
  }
  [[nodiscard]] Claim* last_claim(uint32_t device) {
    return first_claim_[device] == first_claim_[device + 1] ? nullptr : &claims_[first_claim_[device + 1] - 1];
  }

  void meet(Claim& claim, uint32_t host) {
    claim.host = host;
    taken_[host] = true;
  }

  // ---- Neighbours in the data flow

  // Without a graph: an operator near by that has the same values. Only those that nothing has taken.
  [[nodiscard]] std::vector<uint32_t> producers_of(uint32_t host) {
    std::vector<uint32_t> found;
    for (const auto& [slot, producer] : flow_.producers(host)) found.push_back(producer);
    for (uint32_t before = host; !flow_.known() && before-- > 0 && host - before < kNear;) {
      if (!taken_[before] && feeds(before, host)) found.push_back(before);
    }
    return found;
  }
  [[nodiscard]] std::vector<uint32_t> consumers_of(uint32_t host) {
    const auto known = flow_.consumers(host);
    std::vector<uint32_t> found(known.begin(), known.end());
    for (uint32_t after = host + 1; !flow_.known() && after < keys_.size() && after - host < kNear; ++after) {
      if (!taken_[after] && feeds(host, after)) found.push_back(after);
    }
    return found;
  }
  [[nodiscard]] bool feeds(uint32_t producer, uint32_t consumer) {
    const auto output = host_tensors_.largest(producer, Io::kOutput);
    if (!output || keys_[producer].rank != keys_[consumer].rank) return false;
    const auto& tensors = *host_.dump.tensors;
    const std::vector<uint32_t>& inputs = host_.operators[consumer].tensors;
    return std::any_of(inputs.begin(), inputs.end(), [&](uint32_t input) {
      return tensors[input].name.io == Io::kInput && same_elements(tensors[*output], tensors[input]) &&
             evidence_.host_values.is_same(*output, input);
    });
  }

  // ---- Rewrites

  // The operators of one scope that nothing has claimed yet, by family.
  struct Scope {
    std::map<std::string, std::vector<uint32_t>> claims, hosts;
  };

  void apply_rewrites() {
    std::map<std::pair<Rank, std::string>, Scope> scopes;
    for (uint32_t i = 0; i < claims_.size(); ++i)
      scopes[{claims_[i].key.rank, claims_[i].key.scope}].claims[claims_[i].key.family].push_back(i);
    for (uint32_t i = 0; i < keys_.size(); ++i) {
      const auto found = scopes.find({keys_[i].rank, keys_[i].scope});
      if (found != scopes.end()) found->second.hosts[keys_[i].family].push_back(i);
    }
    std::multimap<std::string, const ge::Rewrite*> by_family;
    for (const ge::Rewrite& rewrite : table_.rewrites()) by_family.emplace(rewrite.device.front(), &rewrite);
    for (auto& [place, scope] : scopes) {
      std::vector<const ge::Rewrite*> possible;
      for (const auto& [family, claims] : scope.claims) {
        const auto [first, last] = by_family.equal_range(family);
        for (auto at = first; at != last; ++at) possible.push_back(at->second);
      }
      for (const ge::Rewrite* const rewrite : possible) apply(*rewrite, scope);
    }
  }

  // How often a scope has these families more often on this side than on the other; families of both are not looked at.
  template <class Here, class There>
  static size_t surplus(const std::vector<std::string>& families, const std::vector<std::string>& others,
                        const Here& here, const There& there) {
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

  void apply(const ge::Rewrite& rewrite, Scope& scope) {
    size_t times = surplus(rewrite.device, rewrite.mindspore, scope.claims, scope.hosts);
    if (times == 0) return;
    const std::vector<std::string> last = {rewrite.mindspore.back()};
    times = std::min(times, surplus(last, rewrite.device, scope.hosts, scope.claims));
    if (times == 0) return;
    std::vector<uint32_t> ends = free_of(scope.hosts[last.front()]);
    for (uint32_t part = static_cast<uint32_t>(rewrite.device.size()); part-- > 0;)
      ends = apply_part(rewrite, part, scope.claims[rewrite.device[part]], ends, times);
    if (ends.empty()) return;
    for (auto& [family, claims] : scope.claims)
      std::erase_if(claims, [&](uint32_t claim) { return claims_[claim].host != kNoOperator; });
    for (auto& [family, hosts] : scope.hosts) std::erase_if(hosts, [&](uint32_t host) { return taken_[host]; });
  }

  // Which of these claims is that part of which rewriting, that ends in which of `ends`: what values confirm, then in
  // order. The last part, which comes first, finds the operators that are rewritten. Returns the ends that it has met.
  std::vector<uint32_t> apply_part(const ge::Rewrite& rewrite, uint32_t part, const std::vector<uint32_t>& claims,
                                   const std::vector<uint32_t>& ends, size_t times) {
    const bool finds = part + 1 == rewrite.device.size();
    std::set<uint32_t> met;
    const auto take = [&](Claim& claim, uint32_t end) {
      if (claim.host != kNoOperator || met.contains(end) || (finds && taken_[end])) return false;
      if (finds) rewritten_[end] = chain_that_ends(rewrite.mindspore, end);
      if (rewritten_[end].empty()) return false;
      claim.rewritten = rewritten_[end];
      for (const uint32_t host : claim.rewritten) taken_[host] = true;
      claim.host = end;
      claim.rewrite = &rewrite;
      claim.part = part;
      met.insert(end);
      return true;
    };
    for (const bool by_inputs : {false, true}) {
      for (const auto& [value, claim, end] : fits_of_part(rewrite, part, claims, ends, by_inputs)) {
        if (met.size() < times) take(claims_[claim], end);
      }
    }
    auto next = ends.begin();
    for (const uint32_t claim : claims) {
      if (claims_[claim].host != kNoOperator) continue;
      while (met.size() < times && next != ends.end() && !take(claims_[claim], *next)) ++next;
    }
    return {met.begin(), met.end()};
  }

  using Fits = std::vector<std::tuple<double, uint32_t, uint32_t>>;  // minus the value; claim; operator of the host

  [[nodiscard]] Fits fits_of_part(const ge::Rewrite& rewrite, uint32_t part, const std::vector<uint32_t>& claims,
                                  const std::vector<uint32_t>& ends, bool by_inputs) {
    Fits fits;
    if (claims.size() * ends.size() > (by_inputs ? kMostComparedByInputs : kMostCompared)) return fits;
    for (const uint32_t end : ends) {
      if (part + 1 == rewrite.device.size() && taken_[end]) continue;
      const std::vector<uint32_t> chain =
          by_inputs ? chain_that_ends(rewrite.mindspore, end) : std::vector<uint32_t>{end};
      for (const uint32_t claim : claims) {
        if (chain.empty() || claims_[claim].host != kNoOperator) continue;
        const double value = by_inputs ? similarity_of_inputs(claims_[claim].device, chain.front())
                                       : similarity_of_output(rewrite, part, claims_[claim], end);
        if (value >= (by_inputs ? kHalfOfInputs : kAlike)) fits.emplace_back(-value, claim, end);
      }
    }
    std::sort(fits.begin(), fits.end());
    return fits;
  }

  // Of an output of a part that is one of the last operator's; 0 where nothing is known.
  [[nodiscard]] double similarity_of_output(const ge::Rewrite& rewrite, uint32_t part, const Claim& claim,
                                            uint32_t end) {
    for (const ge::Rewrite::Output& output : rewrite.outputs) {
      if (output.device_op != part || output.op + 1 != rewrite.mindspore.size()) continue;
      if (output.device_output == 0 && !is_last(claim)) continue;
      const auto a = output_of(device_, claim.device, output.device_output), b = output_of(host_, end, output.output);
      if (a && b && same_count(*a, *b)) return evidence_.values.similarity(*a, *b).value_or(0);
    }
    return 0;
  }

  [[nodiscard]] static std::optional<uint32_t> output_of(const MatchSide& side, uint32_t op, uint32_t slot) {
    for (const uint32_t tensor : side.operators[op].tensors) {
      const NameFacts& name = (*side.dump.tensors)[tensor].name;
      if (name.io == Io::kOutput && parse_u64(name.slot) == slot) return tensor;
    }
    return std::nullopt;
  }

  // Operators of these families, each of which feeds a later one; empty when there are none. Without a data flow, and
  // without values that show it, the nearest before.
  [[nodiscard]] std::vector<uint32_t> chain_that_ends(const std::vector<std::string>& families, uint32_t end) {
    std::vector<uint32_t> chain = {end};
    for (size_t i = families.size() - 1; i-- > 0;) {
      const auto fits = [&](uint32_t host) {
        const bool used = taken_[host] || std::find(chain.begin(), chain.end(), host) != chain.end();
        return !used && keys_[host].family == families[i] && keys_[host].rank == keys_[end].rank;
      };
      uint32_t found = kNoOperator;
      for (const uint32_t later : chain) {
        for (const uint32_t producer : producers_of(later)) {
          if (fits(producer)) found = producer;
        }
      }
      for (uint32_t before = end; !flow_.known() && found == kNoOperator && before-- > 0 && end - before < kNear;) {
        if (fits(before)) found = before;
      }
      if (found == kNoOperator) return {};
      chain.insert(chain.begin(), found);
    }
    return chain;
  }

  // ---- Claims in their scope

  // The last members first: their outputs can be compared. The others follow the data flow.
  void meet_claims(bool last) {
    std::map<Key, std::vector<uint32_t>> by_key;
    for (uint32_t i = static_cast<uint32_t>(claims_.size()); i-- > 0;) {
      const Claim& claim = claims_[i];
      if (claim.host != kNoOperator || is_last(claim) != last) continue;
      if (!last && meet_producer(i)) continue;
      by_key[claim.key].push_back(i);
    }
    for (auto& [key, claims] : by_key) {
      std::reverse(claims.begin(), claims.end());
      const auto found = hosts_.find(key);
      if (found == hosts_.end()) continue;
      assign(claims, free_of(found->second), false);
    }
  }

  [[nodiscard]] std::vector<uint32_t> free_of(const std::vector<uint32_t>& hosts) const {
    std::vector<uint32_t> free;
    std::copy_if(hosts.begin(), hosts.end(), std::back_inserter(free), [&](uint32_t host) { return !taken_[host]; });
    return free;
  }

  // A member that the next one reads.
  bool meet_producer(uint32_t index) {
    Claim& claim = claims_[index];
    const uint32_t next = claims_[index + 1].host;
    if (next == kNoOperator) return false;
    for (std::vector<uint32_t> chain = {next}; chain.size() <= kMostAbsorbed;) {
      uint32_t before = kNoOperator;
      for (const uint32_t producer : producers_of(chain.back())) {
        if (taken_[producer]) continue;
        if (before == kNoOperator) before = producer;
        if (keys_[producer].family != claim.key.family && !is_split_into(producer, claim)) continue;
        meet(claim, producer);
        for (size_t i = 1; i < chain.size(); ++i) absorb_before(claim.device, chain[i]);
        return true;
      }
      if (before == kNoOperator) return false;
      chain.push_back(before);
    }
    return false;
  }

  // An operator that is fused in between and that the device operator does not name.
  void absorb_before(uint32_t device, uint32_t host) {
    taken_[host] = true;
    inside_[device].push_back(host);
  }

  [[nodiscard]] bool is_split_into(uint32_t host, const Claim& claim) const {
    return is_part_of(claim.key.family, keys_[host].family);
  }

  // Several device operators that are parts of one: those that carry its name, and in its scope those that the table
  // knows as parts, one for each in order.
  void join_parts() {
    std::map<std::tuple<Rank, std::string, std::string, uint64_t>, uint32_t> met;  // by original name
    const auto name_of = [](const Claim& claim) {
      return std::tuple(claim.key.rank, claim.original.scope, claim.original.type, claim.original.number);
    };
    for (const Claim& claim : claims_) {
      if (claim.host != kNoOperator && !claim.original.type.empty()) met.emplace(name_of(claim), claim.host);
    }
    for (Claim& claim : claims_) {
      const auto found = claim.host == kNoOperator ? met.find(name_of(claim)) : met.end();
      if (found == met.end()) continue;
      claim.host = found->second;
      claim.is_part = true;
    }
    std::map<Key, size_t> used;  // of the operators of a key, by the family of a part
    for (Claim& claim : claims_) {
      if (claim.host != kNoOperator) continue;
      for (const ge::Rewrite& rewrite : table_.rewrites()) {
        if (rewrite.mindspore.size() != 1 || !is_part_of(claim.key.family, rewrite.mindspore[0])) continue;
        const auto whole = hosts_.find({claim.key.rank, claim.key.scope, rewrite.mindspore[0]});
        size_t& next = used[claim.key];
        if (whole == hosts_.end() || next >= whole->second.size()) continue;
        meet(claim, whole->second[next++]);
        claim.is_part = true;
        break;
      }
    }
  }

  // Operators whose scope differs: the same family, confirmed by values or by being the only ones.
  void meet_without_scope() {
    std::map<std::pair<Rank, std::string>, std::pair<std::vector<uint32_t>, std::vector<uint32_t>>> families;
    for (uint32_t i = 0; i < claims_.size(); ++i) {
      if (claims_[i].host == kNoOperator && is_last(claims_[i]))
        families[{claims_[i].key.rank, claims_[i].key.family}].first.push_back(i);
    }
    for (uint32_t i = 0; i < keys_.size(); ++i) {
      const auto found = families.find({keys_[i].rank, keys_[i].family});
      if (found != families.end() && !taken_[i]) found->second.second.push_back(i);
    }
    for (auto& [family, both] : families) assign(both.first, both.second, true);
  }

  struct Fit {
    bool shapes = true;
    std::optional<double> values;
  };

  // Of the output of a claim's operator where it is the last member, else of the inputs.
  [[nodiscard]] Fit fit(const Claim& claim, uint32_t host) {
    Fit result;
    for (const Io io : {Io::kOutput, Io::kInput}) {
      if (io == Io::kOutput && !is_last(claim)) continue;
      const auto a = device_tensors_.largest(claim.device, io), b = host_tensors_.largest(host, io);
      if (!a || !b) continue;
      if (io == Io::kOutput) result.shapes = same_count(*a, *b);
      if (!result.shapes) return result;
      result.values = evidence_.values.similarity(*a, *b);
      if (result.values) return result;
    }
    return result;
  }

  [[nodiscard]] bool same_count(uint32_t device, uint32_t host) const {
    return same_elements((*device_.dump.tensors)[device], (*host_.dump.tensors)[host]);
  }

  // `careful`: only what values confirm, or what stands alone on both sides.
  void assign(std::vector<uint32_t> claims, std::vector<uint32_t> hosts, bool careful) {
    if (claims.empty() || hosts.empty()) return;
    if (claims.size() == hosts.size()) {
      std::vector<uint32_t> open_claims, open_hosts;
      for (size_t i = 0; i < claims.size(); ++i) {
        const Fit found = fit(claims_[claims[i]], hosts[i]);
        const bool alone = claims.size() == 1;
        const bool bad = !found.shapes || (found.values && *found.values < kUnlike);
        if (careful ? !bad && (alone || found.values.has_value()) : alone || !bad) {
          meet(claims_[claims[i]], hosts[i]);
        } else {
          open_claims.push_back(claims[i]);
          open_hosts.push_back(hosts[i]);
        }
      }
      claims = std::move(open_claims);
      hosts = std::move(open_hosts);
    }
    assign_by_values(claims, hosts, careful);
    if (!careful) assign_in_order(claims, hosts);
  }

  // The best first; what has been met is taken off the lists.
  void assign_by_values(std::vector<uint32_t>& claims, std::vector<uint32_t>& hosts, bool careful) {
    if (claims.size() * hosts.size() > kMostCompared) return;
    Fits fits;
    for (const uint32_t claim : claims) {
      for (const uint32_t host : hosts) {
        const Fit found = fit(claims_[claim], host);
        if (found.shapes && found.values && *found.values >= kAlike) fits.emplace_back(-*found.values, claim, host);
      }
    }
    meet_best(fits, claims, hosts);
    // An output that is like no other may be wrong, or that of an operator that is fused with this one.
    if (claims.size() * hosts.size() > kMostComparedByInputs) return;
    fits.clear();
    for (const uint32_t claim : claims) {
      for (const uint32_t host : hosts) {
        const double value = similarity_of_inputs(claims_[claim].device, host);
        if (value >= (careful ? kAlike : kHalfOfInputs)) fits.emplace_back(-value, claim, host);
      }
    }
    meet_best(fits, claims, hosts);
  }

  void meet_best(Fits& fits, std::vector<uint32_t>& claims, std::vector<uint32_t>& hosts) {
    std::sort(fits.begin(), fits.end());
    for (const auto& [value, claim, host] : fits) {
      if (claims_[claim].host == kNoOperator && !taken_[host]) meet(claims_[claim], host);
    }
    std::erase_if(claims, [&](uint32_t claim) { return claims_[claim].host != kNoOperator; });
    std::erase_if(hosts, [&](uint32_t host) { return taken_[host]; });
  }

  // How many of the inputs of the one that has fewer are among those of the other, as a share; what is not alike counts
  // a little. 0 where nothing is known.
  [[nodiscard]] double similarity_of_inputs(uint32_t device, uint32_t host) {
    const std::vector<uint32_t> a = compared_inputs(device_, device), b = compared_inputs(host_, host);
    if (a.empty() || b.empty()) return 0;
    const bool by_device = a.size() <= b.size();
    double sum = 0;
    for (const uint32_t one : by_device ? a : b) {
      double best = 0;
      for (const uint32_t other : by_device ? b : a) {
        const uint32_t x = by_device ? one : other, y = by_device ? other : one;
        if (same_count(x, y)) best = std::max(best, evidence_.values.similarity(x, y).value_or(0));
      }
      sum += best >= kAlike ? best : best / 10;
    }
    return sum / static_cast<double>(std::min(a.size(), b.size()));
  }

  // Without attributes; the first of many.
  [[nodiscard]] static std::vector<uint32_t> compared_inputs(const MatchSide& side, uint32_t op) {
    constexpr size_t kMost = 8;
    std::vector<uint32_t> inputs;
    for (const uint32_t tensor : side.operators[op].tensors) {
      const TensorRecord& record = (*side.dump.tensors)[tensor];
      if (record.name.io == Io::kInput && !may_be_attribute(record) && inputs.size() < kMost) inputs.push_back(tensor);
    }
    return inputs;
  }

  // In order, each with the next that its shape does not exclude.
  void assign_in_order(const std::vector<uint32_t>& claims, const std::vector<uint32_t>& hosts) {
    size_t next = 0;
    for (size_t i = 0; i < claims.size(); ++i) {
      const size_t behind = hosts.size() - std::min(hosts.size(), claims.size() - i);  // leave some for the others
      for (size_t at = next; at < hosts.size() && at <= std::max(next, behind); ++at) {
        const Fit found = fit(claims_[claims[i]], hosts[at]);
        if (!found.shapes && claims.size() != hosts.size()) continue;
        meet(claims_[claims[i]], hosts[at]);
        next = at + 1;
        break;
      }
    }
  }

  // ---- Operators that their producer has taken in

  void absorb() {
    for (uint32_t device = 0; device < device_.operators.size(); ++device) {
      Claim* const claim = last_claim(device);
      if (claim == nullptr || claim->host == kNoOperator || claim->rewrite != nullptr) continue;
      const std::vector<uint32_t> chain = absorbed_after(*claim);
      for (const uint32_t host : chain) taken_[host] = true;
      if (!chain.empty()) absorbed_[device] = chain;
    }
  }

  // The operators after the claim's that have no claim themselves, up to the one whose output the device has.
  [[nodiscard]] std::vector<uint32_t> absorbed_after(const Claim& claim) {
    std::vector<uint32_t> chain, best;
    const auto output = device_tensors_.largest(claim.device, Io::kOutput);
    if (!output) return best;
    std::optional<double> value = similarity(*output, claim.host), first;
    for (uint32_t at = claim.host; chain.size() < kMostAbsorbed;) {
      at = only_free_consumer(at);
      if (at == kNoOperator) break;
      chain.push_back(at);
      const std::optional<double> next = similarity(*output, at);
      if (chain.size() == 1) first = next;
      const bool alike = next && *next >= kAlike && (!value || *next > *value + kBetter);
      if (alike || (next && value && *next > *value + kMuchBetter)) {
        best = chain;
        value = next;
      }
    }
    // Values may not decide: a bias of zeros, statistics alone. An input more than the operator itself takes is a bias.
    if (!best.empty() || chain.empty() || !is_bias(keys_[chain.front()].family)) return best;
    const bool more = device_tensors_.count(claim.device, Io::kInput) > host_tensors_.tensor_inputs(claim.host);
    if (more && (!value || !first || *first > *value - kBetter)) best = {chain.front()};
    return best;
  }

  static bool is_bias(std::string_view family) { return family == "biasadd" || family == "add"; }

  [[nodiscard]] std::optional<double> similarity(uint32_t device_tensor, uint32_t host) {
    const auto output = host_tensors_.largest(host, Io::kOutput);
    return output ? evidence_.values.similarity(device_tensor, *output) : std::nullopt;
  }

  [[nodiscard]] uint32_t only_free_consumer(uint32_t host) {
    uint32_t found = kNoOperator;
    for (const uint32_t consumer : consumers_of(host)) {
      if (taken_[consumer] || consumer == found) continue;
      if (found != kNoOperator) return kNoOperator;
      found = consumer;
    }
    return found;
  }

  // ---- Values alone

  void match_by_values() {
    std::map<std::pair<Rank, int64_t>, std::vector<uint32_t>> by_count;  // operators of the host without a partner
    for (uint32_t host = 0; host < keys_.size(); ++host) {
      const auto output = host_tensors_.largest(host, Io::kOutput);
      if (taken_[host] || !output) continue;
      const auto count = host_elements((*host_.dump.tensors)[*output]);
      if (count && *count > 8) by_count[{keys_[host].rank, *count}].push_back(host);
    }
    size_t compared = 0;
    for (uint32_t device = 0; device < device_.operators.size(); ++device) {
      const SequencedOp& one = device_.operators[device];
      Claim* const claim = last_claim(device);
      const bool open = table_.inserted(one.type).empty() && (claim == nullptr || claim->host == kNoOperator);
      const auto output = device_tensors_.largest(device, Io::kOutput);
      if (!open || !output) continue;
      const auto count = host_elements((*device_.dump.tensors)[*output]);
      const auto found = count ? by_count.find({rank_of(one), *count}) : by_count.end();
      if (found == by_count.end()) continue;
      double best = 0.99;
      uint32_t host = kNoOperator;
      for (const uint32_t candidate : found->second) {
        if (taken_[candidate] || ++compared > kMostCompared) continue;
        const auto value = similarity(*output, candidate);
        if (!value || *value <= best) continue;
        best = *value;
        host = candidate;
      }
      if (host == kNoOperator) continue;
      taken_[host] = true;
      by_values_[device] = host;
    }
  }

  // ---- The result

  [[nodiscard]] std::vector<DeviceMatch> matches() {
    std::vector<DeviceMatch> matches(device_.operators.size());
    std::vector<uint32_t> claimed(host_.operators.size(), 0);
    for (uint32_t device = 0; device < matches.size(); ++device) {
      DeviceMatch& match = matches[device];
      for (uint32_t i = first_claim_[device]; i < first_claim_[device + 1]; ++i) add(claims_[i], match);
      if (const auto found = inside_.find(device); found != inside_.end())
        match.hosts.insert(match.hosts.begin(), found->second.begin(), found->second.end());
      if (const auto found = by_values_.find(device); found != by_values_.end()) {
        match.hosts.push_back(found->second);
        match.outputs_in_order = true;
      }
      if (const auto found = absorbed_.find(device); found != absorbed_.end())
        match.hosts.insert(match.hosts.end(), found->second.begin(), found->second.end());
      for (const uint32_t host : match.hosts) ++claimed[host];
    }
    for (DeviceMatch& match : matches) {
      match.is_split = match.is_split || std::any_of(match.hosts.begin(), match.hosts.end(),
                                                     [&](uint32_t host) { return claimed[host] > 1; });
    }
    return matches;
  }

  void add(const Claim& claim, DeviceMatch& match) const {
    if (claim.host == kNoOperator) return;
    match.sure = true;
    if (claim.rewrite == nullptr) {
      match.hosts.push_back(claim.host);
      match.outputs_in_order = is_last(claim) && !claim.is_part;
      match.is_split = claim.is_part;
      if (!match.outputs_in_order) add_outputs_of_part(claim, match);
      return;
    }
    match.hosts.insert(match.hosts.end(), claim.rewritten.begin(), claim.rewritten.end());
    for (const ge::Rewrite::Output& output : claim.rewrite->outputs) {
      // The first output is that of the last member.
      if (output.device_op == claim.part && (output.device_output > 0 || is_last(claim)))
        match.outputs.push_back({output.device_output, claim.rewritten[output.op], output.output});
    }
  }

  // A part of a split that is fused with what follows: its first output is the last operator's, the others its own.
  void add_outputs_of_part(const Claim& claim, DeviceMatch& match) const {
    const std::string family = table_.family(device_.operators[claim.device].type);
    for (const ge::Rewrite& rewrite : table_.rewrites()) {
      if (rewrite.mindspore.size() != 1 || rewrite.mindspore.front() != keys_[claim.host].family) continue;
      for (const ge::Rewrite::Output& output : rewrite.outputs) {
        const std::string& part = rewrite.device[output.device_op];
        const bool own = part == family || part == claim.key.family;
        if (own && (output.device_output > 0 || is_last(claim)))
          match.outputs.push_back({output.device_output, claim.host, output.output});
      }
      if (!match.outputs.empty()) return;
    }
  }

  MatchEvidence& evidence_;
  const MatchSide &device_, &host_;
  const ge::OperatorTable& table_ = ge::OperatorTable::get();
  const OpTensors &device_tensors_, &host_tensors_;
  const SequenceFlow& flow_;
  mutable std::optional<bool> several_;
  std::vector<Key> keys_;                                        // by operator of the host
  std::map<Key, std::vector<uint32_t>> hosts_;                   // in their order
  std::set<std::string> families_;                               // of the host
  std::vector<bool> taken_;                                      // by operator of the host
  std::vector<Claim> claims_;                                    // by device operator
  std::vector<uint32_t> first_claim_;                            // of each, and one more
  std::map<uint32_t, std::vector<uint32_t>> absorbed_, inside_;  // by device operator: after its own, and between
  std::map<uint32_t, uint32_t> by_values_;
  std::map<uint32_t, std::vector<uint32_t>> rewritten_;  // by the last of them
};

}  // namespace

std::vector<DeviceMatch> match_device(MatchEvidence& evidence) { return DeviceMatcher(evidence).run(); }

DeviceSigns device_signs(const std::vector<SequencedOp>& operators) {
  const ge::OperatorTable& table = ge::OperatorTable::get();
  std::set<std::string_view> types;
  for (const SequencedOp& one : operators) {
    if (one.tensors.empty()) continue;
    if (one.type == "TransData" || parse_device_name(one.name).originals.size() > 1) return DeviceSigns::kCertain;
    if (table.is_of_device(one.type)) types.insert(one.type);
  }
  return types.size() > 2 ? DeviceSigns::kTypes : DeviceSigns::kNone;
}

}  // namespace msdump
