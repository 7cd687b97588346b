#include "check/check_share.h"

#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "check/ranks/collective_rules.h"
#include "check/ranks/replica_rules.h"
#include "check/values/range_rules.h"
#include "check/values/weight_rules.h"

namespace msdump::check {
namespace {

constexpr uint64_t kLeastUnits = 4;  // of a share

bool judges_exchanges(const CheckRun& run) {
  return run.facts.has_digests() && run.rules.on(RuleId::kCollectiveMismatch);
}

bool judges_replicas(const CheckRun& run) { return run.facts.has_digests() && run.rules.on(RuleId::kReplicaMismatch); }

// By tensor: the number of the exchange that it is part of; kNone: of none, or nobody asks.
std::vector<uint32_t> exchanges_of(const CheckRun& run) {
  std::vector<uint32_t> of(run.dump.tensors(), kNone);
  if (!judges_exchanges(run)) return of;
  const JoinedCalls joined(run.dump);
  for (uint32_t i = 0; i < joined.exchanges.size(); ++i) {
    for (const uint32_t tensor : joined.tensors_of(joined.exchanges[i])) of[tensor] = i;
  }
  return of;
}

bool is_read(const CheckRun& run, uint32_t tensor) {
  const TensorRecord& record = run.dump.record(tensor);
  return !run.facts.has_read(tensor) && record.has_elements && !record.broken;
}

uint64_t bytes_of(const CheckRun& run, uint32_t tensor) {
  const TensorRecord& record = run.dump.record(tensor);
  return record.bytes.value_or(run.dump.index().files()[record.file].size);
}

// Operators whose tensors of all ranks are small enough to stay together.
std::set<std::string_view> names_kept_together(const CheckRun& run, uint32_t shards) {
  std::set<std::string_view> names;
  if (!judges_replicas(run)) return names;
  std::map<std::string_view, uint64_t> bytes;
  uint64_t all = 0;
  for (uint32_t tensor = 0; tensor < run.dump.tensors(); ++tensor) {
    if (!is_read(run, tensor)) continue;
    bytes[run.dump.record(tensor).name.op_name] += bytes_of(run, tensor);
    all += bytes_of(run, tensor);
  }
  for (const auto& [name, own] : bytes) {
    if (own <= all / shards / kLeastUnits) names.insert(name);
  }
  return names;
}

}  // namespace

CheckUnits check_units(const CheckRun& run, uint32_t shards) {
  CheckUnits units;
  units.of.assign(run.dump.tensors(), kNone);
  using Key = std::tuple<uint32_t, std::string_view, std::optional<int64_t>>;  // exchange; else name, and rank if alone
  std::map<Key, uint32_t> by_key;
  const std::vector<uint32_t> exchanges = exchanges_of(run);
  const std::set<std::string_view> together = names_kept_together(run, shards);
  for (uint32_t tensor = 0; tensor < units.of.size(); ++tensor) {
    if (!is_read(run, tensor)) continue;
    Key key(exchanges[tensor], {}, {});
    if (exchanges[tensor] == kNone) {
      const std::string_view name = run.dump.record(tensor).name.op_name;
      key = {kNone, name, together.contains(name) ? std::nullopt : run.dump.identity(tensor).rank};
    }
    const auto [found, is_new] = by_key.try_emplace(key, static_cast<uint32_t>(units.bytes.size()));
    if (is_new) units.bytes.push_back(0);
    units.of[tensor] = found->second;
    units.bytes[found->second] += bytes_of(run, tensor);
  }
  return units;
}

Status find_facts(CheckRun& run, const std::vector<bool>& tensors, const RunContext& context) {
  run.facts.limit_to(tensors);
  MSDUMP_CHECK_OK(run.facts.read_all(context));
  std::vector<Finding> unused;
  std::vector<Error> failures;
  if (judges_exchanges(run)) MSDUMP_CHECK_OK(find_exchanges(run.dump, run.facts, tensors, context));
  if (judges_replicas(run)) MSDUMP_CHECK_OK(judge_replicas(run.dump, run.facts, run.rules, context, unused));
  MSDUMP_CHECK_OK(judge_weights(run.dump, run.facts, run.rules, context, unused, failures));
  return judge_ranges(run.dump, run.facts, run.rules, context, unused, failures);
}

}  // namespace msdump::check
