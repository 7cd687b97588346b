#include "compare/match/device/operator_claims.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "compare/limits.h"
#include "compare/match/device/device_name.h"
#include "ge/operators/operator_table.h"

namespace msdump {
namespace {

uint64_t hash_of(const OpKey& key) {
  const uint64_t text = mix_hash(text_hash(key.scope), text_hash(key.family));
  return mix_hash(text, hash_of(key.place));
}

}  // namespace

HostOperators::HostOperators(const MatchEvidence& evidence)
    : group_of_key_(evidence.host.operators.size() / 4), taken_(evidence.host.operators.size(), false) {
  const std::vector<SequencedOp>& operators = evidence.host.operators;
  group_of_.reserve(operators.size());
  for (SequencedOpId i{0}; i < operators.size(); ++i) {
    const SequencedOp& one = operators[i];
    const DeviceName name = parse_device_name(one.name);
    OpKey key{evidence.place_of(one), name.originals.empty() ? std::string(one.name) : name.originals.back().scope,
              ge::OperatorTable::get().family(one.type)};
    const uint32_t group =
        group_of_key_.find_or_add(hash_of(key), groups(), [&](uint32_t known) { return groups_[known].key == key; });
    if (group == groups_.size()) {
      families_.insert(key.family);
      groups_.push_back({std::move(key), {}});
    }
    groups_[group].operators.push_back(i);
    group_of_.push_back(group);
  }
}

const std::vector<SequencedOpId>& HostOperators::with_key(const OpKey& key) const {
  static const std::vector<SequencedOpId> none;
  const uint32_t group = find_group(key);
  return group == HashSlots::kNone ? none : in_group(group);
}

uint32_t HostOperators::find_group(const OpKey& key) const {
  return group_of_key_.find(hash_of(key), [&](uint32_t known) { return groups_[known].key == key; });
}

std::vector<SequencedOpId> HostOperators::free_of(const std::vector<SequencedOpId>& hosts) const {
  std::vector<SequencedOpId> free;
  std::copy_if(hosts.begin(), hosts.end(), std::back_inserter(free), [&](SequencedOpId host) { return !taken_[host]; });
  return free;
}

std::vector<SequencedOpId> HostNeighbours::producers_of(SequencedOpId host) {
  std::vector<SequencedOpId> found;
  for (const auto& [slot, producer] : evidence_.host_flow.producers(host)) found.push_back(producer);
  if (evidence_.host_flow.known()) return found;
  for (SequencedOpId before = host; before-- > 0 && host - before < kMostTried;) {
    if (!hosts_.is_taken(before) && feeds(before, host)) found.push_back(before);
  }
  return found;
}

SequencedOpId HostNeighbours::only_free_consumer(SequencedOpId host) {
  const auto known = evidence_.host_flow.consumers(host);
  std::vector<SequencedOpId> consumers(known.begin(), known.end());
  const bool guess = !evidence_.host_flow.known();
  for (SequencedOpId after(host + 1); guess && after < hosts_.size() && after - host < kMostTried; ++after) {
    if (!hosts_.is_taken(after) && feeds(host, after)) consumers.push_back(after);
  }
  SequencedOpId found;
  for (const SequencedOpId consumer : consumers) {
    if (hosts_.is_taken(consumer) || consumer == found) continue;
    if (found != kNoId) return kNoId;
    found = consumer;
  }
  return found;
}

bool HostNeighbours::feeds(SequencedOpId producer, SequencedOpId consumer) {
  const auto output = evidence_.host_tensors.largest(producer, Io::kOutput);
  if (!output || hosts_.key(producer).place != hosts_.key(consumer).place) return false;
  const MatchSide& side = evidence_.host;
  const std::vector<RecordId>& inputs = side.operators[consumer].tensors;
  return std::any_of(inputs.begin(), inputs.end(), [&](RecordId input) {
    return side.tensor(input).name.io == Io::kInput && evidence_.is_same(*output, input);
  });
}

std::vector<SequencedOpId> HostNeighbours::chain_that_ends(const std::vector<std::string>& families,
                                                           SequencedOpId end) {
  std::vector<SequencedOpId> chain = {end};
  for (size_t i = families.size() - 1; i-- > 0;) {
    const auto fits = [&](SequencedOpId host) {
      const bool used = hosts_.is_taken(host) || std::find(chain.begin(), chain.end(), host) != chain.end();
      return !used && hosts_.key(host).family == families[i] && hosts_.key(host).place == hosts_.key(end).place;
    };
    SequencedOpId found;
    for (const SequencedOpId later : chain) {
      for (const SequencedOpId producer : producers_of(later)) {
        if (fits(producer)) found = producer;
      }
    }
    const bool guess = !evidence_.host_flow.known();
    for (SequencedOpId before = end; guess && found == kNoId && before-- > 0 && end - before < kMostTried;) {
      if (fits(before)) found = before;
    }
    if (found == kNoId) return {};
    chain.insert(chain.begin(), found);
  }
  return chain;
}

namespace {

class ClaimReader {
 public:
  ClaimReader(const MatchEvidence& evidence, const HostOperators& hosts, SequencedOpId device)
      : evidence_(evidence),
        hosts_(hosts),
        device_(device),
        one_(evidence.device.operators[device]),
        family_(table_.family(one_.type)) {}

  std::vector<OperatorClaim> read() {
    if (one_.tensors.empty()) return {};
    if (one_.type == "Parameter") {
      add({evidence_.place_of(one_), one_.name, family_}, {});
    } else if (DeviceName name = parse_device_name(one_.name); !name.is_part || !is_inserted()) {
      claim_names(std::move(name));
      claim_original();
    }
    if (!claims_.empty()) claims_.back().is_last = true;
    return std::move(claims_);
  }

 private:
  void add(OpKey key, OriginalName original) {
    OperatorClaim claim;
    claim.device = device_;
    claim.key = std::move(key);
    claim.original = std::move(original);
    claims_.push_back(std::move(claim));
  }

  [[nodiscard]] bool is_inserted() const { return !table_.inserted(one_.type).empty(); }

  [[nodiscard]] OpKey key_of(const OriginalName& original) const {
    return {evidence_.place_of(one_), original.scope, table_.family(original.type)};
  }

  void claim_names(DeviceName&& name) {
    if (name.originals.size() == 1) return claim_name(std::move(name.originals.front()), name.is_part);
    for (OriginalName& original : name.originals) {
      OpKey key = key_of(original);
      if (original.is_part) key.family = family_;
      add(std::move(key), std::move(original));
    }
  }

  void claim_name(OriginalName original, bool is_part) {
    OpKey key = key_of(original);
    if (is_part || !hosts_.has_key(key)) {
      key.family = family_;
    } else if (key.family != family_ && may_be_inside()) {
      add({key.place, key.scope, family_}, {});
    }
    add(std::move(key), std::move(original));
  }

  // True if the host has operators of this family, or of one that is split into it.
  [[nodiscard]] bool may_be_inside() const {
    const auto& rewrites = table_.rewrites();
    return hosts_.has_family(family_) || std::any_of(rewrites.begin(), rewrites.end(), [&](const ge::Rewrite& rewrite) {
             return rewrite.device.size() > 1 &&
                    std::find(rewrite.device.begin(), rewrite.device.end(), family_) != rewrite.device.end();
           });
  }

  // Adds the operator that the file of the first output names, unless the name ends in it.
  void claim_original() {
    const TensorRecord* const output = first_output();
    if (output == nullptr || output->original == nullptr || is_inserted()) return;
    const DeviceName name = parse_device_name(output->original->op);
    if (name.originals.empty()) return;
    OpKey key = key_of(name.originals.back());
    if (!hosts_.has_key(key)) return;
    if (!claims_.empty()) {
      const OpKey& last = claims_.back().key;
      if (last == key || table_.is_part_of(last.family, key.family)) return;
    } else if (family_ != key.family && may_be_inside()) {
      // Only the type names the first of the fused operators.
      add({key.place, key.scope, family_}, {});
    }
    add(std::move(key), name.originals.back());
  }

  [[nodiscard]] const TensorRecord* first_output() const {
    for (const RecordId tensor : one_.tensors) {
      const TensorRecord& record = evidence_.device.tensor(tensor);
      if (record.name.io == Io::kOutput && record.name.slot == "0") return &record;
    }
    return nullptr;
  }

  const ge::OperatorTable& table_ = ge::OperatorTable::get();
  const MatchEvidence& evidence_;
  const HostOperators& hosts_;
  const SequencedOpId device_;
  const SequencedOp& one_;
  const std::string family_;
  std::vector<OperatorClaim> claims_;
};

}  // namespace

Claims claims_of(const MatchEvidence& evidence, const HostOperators& hosts) {
  Claims all;
  for (SequencedOpId device{0}; device < evidence.device.operators.size(); ++device) {
    for (OperatorClaim& claim : ClaimReader(evidence, hosts, device).read()) all.push_back(std::move(claim));
  }
  return all;
}

namespace {

// The first inputs that are no attributes.
std::vector<RecordId> compared_inputs(const MatchSide& side, SequencedOpId op) {
  std::vector<RecordId> inputs;
  for (const RecordId tensor : side.operators[op].tensors) {
    const TensorRecord& record = side.tensor(tensor);
    if (record.name.io == Io::kInput && !may_be_attribute(record) && inputs.size() < kFewTried)
      inputs.push_back(tensor);
  }
  return inputs;
}

}  // namespace

Fit fit_of(const OperatorClaim& claim, SequencedOpId host, MatchEvidence& evidence) {
  Fit fit;
  for (const Io io : {Io::kOutput, Io::kInput}) {
    if (io == Io::kOutput && !claim.is_last) continue;
    const auto a = evidence.device_tensors.largest(claim.device, io), b = evidence.host_tensors.largest(host, io);
    if (!a || !b) continue;
    if (io == Io::kOutput) fit.shapes = same_elements(evidence.device.tensor(*a), evidence.host.tensor(*b));
    if (!fit.shapes) return fit;
    fit.values = evidence.likeness_of(*a, *b);
    if (fit.values) return fit;
  }
  return fit;
}

std::optional<double> likeness_of_output(RecordId device_tensor, SequencedOpId host, MatchEvidence& evidence) {
  const auto output = evidence.host_tensors.largest(host, Io::kOutput);
  return output ? evidence.likeness_of(device_tensor, *output) : std::nullopt;
}

double likeness_of_inputs(SequencedOpId device, SequencedOpId host, MatchEvidence& evidence) {
  const std::vector<RecordId> a = compared_inputs(evidence.device, device), b = compared_inputs(evidence.host, host);
  if (a.empty() || b.empty()) return 0;
  const bool by_device = a.size() <= b.size();
  double sum = 0;
  for (const RecordId one : by_device ? a : b) {
    double best = 0;
    for (const RecordId other : by_device ? b : a) {
      const auto value = by_device ? evidence.likeness_of(one, other) : evidence.likeness_of(other, one);
      best = std::max(best, value.value_or(0));
    }
    sum += best >= kAlike ? best : best / 10;
  }
  return sum / static_cast<double>(std::min(a.size(), b.size()));
}

}  // namespace msdump
