#include "compare/match/device/operators/host_operators.h"

#include <algorithm>
#include <iterator>

#include "compare/match/device/device_name.h"
#include "ge/operators/operator_table.h"

namespace msdump {

HostOperators::HostOperators(const MatchEvidence& evidence) : taken_(evidence.host.operators.size(), false) {
  const std::vector<SequencedOp>& operators = evidence.host.operators;
  keys_.reserve(operators.size());
  for (uint32_t i = 0; i < operators.size(); ++i) {
    const SequencedOp& one = operators[i];
    const DeviceName name = parse_device_name(one.name);
    OpKey key{evidence.rank_of(one), name.originals.empty() ? one.name : name.originals.back().scope,
              ge::OperatorTable::get().family(one.type)};
    by_key_[key].push_back(i);
    families_.insert(key.family);
    keys_.push_back(std::move(key));
  }
}

const std::vector<uint32_t>& HostOperators::with_key(const OpKey& key) const {
  static const std::vector<uint32_t> none;
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? none : found->second;
}

std::vector<uint32_t> HostOperators::free_of(const std::vector<uint32_t>& hosts) const {
  std::vector<uint32_t> free;
  std::copy_if(hosts.begin(), hosts.end(), std::back_inserter(free), [&](uint32_t host) { return !taken_[host]; });
  return free;
}

}  // namespace msdump
