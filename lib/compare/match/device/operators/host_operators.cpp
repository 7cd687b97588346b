#include "compare/match/device/operators/host_operators.h"

#include <algorithm>
#include <iterator>

#include "compare/match/device/device_name.h"
#include "ge/operators/operator_table.h"

namespace msdump {

namespace {

uint64_t hash_of(const OpKey& key) {
  const uint64_t text = mix_hash(text_hash(key.scope), text_hash(key.family));
  return mix_hash(text, static_cast<uint64_t>(key.rank.value_or(-1)));
}

}  // namespace

HostOperators::HostOperators(const MatchEvidence& evidence)
    : group_of_key_(evidence.host.operators.size() / 4), taken_(evidence.host.operators.size(), false) {
  const std::vector<SequencedOp>& operators = evidence.host.operators;
  group_of_.reserve(operators.size());
  for (uint32_t i = 0; i < operators.size(); ++i) {
    const SequencedOp& one = operators[i];
    const DeviceName name = parse_device_name(one.name);
    OpKey key{evidence.rank_of(one), name.originals.empty() ? one.name : name.originals.back().scope,
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

const std::vector<uint32_t>& HostOperators::with_key(const OpKey& key) const {
  static const std::vector<uint32_t> none;
  const uint32_t group = find_group(key);
  return group == HashSlots::kNone ? none : in_group(group);
}

uint32_t HostOperators::find_group(const OpKey& key) const {
  return group_of_key_.find(hash_of(key), [&](uint32_t known) { return groups_[known].key == key; });
}

std::vector<uint32_t> HostOperators::free_of(const std::vector<uint32_t>& hosts) const {
  std::vector<uint32_t> free;
  std::copy_if(hosts.begin(), hosts.end(), std::back_inserter(free), [&](uint32_t host) { return !taken_[host]; });
  return free;
}

}  // namespace msdump
