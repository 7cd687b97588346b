#include "check/check_share.h"

#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "check/values/range_rules.h"
#include "check/values/weight_rules.h"
#include "graph/flow/communication.h"

namespace msdump::check {

CheckUnits check_units(const CheckRun& run) {
  CheckUnits units;
  units.of.assign(run.dump.tensors(), kNone);
  using Key = std::pair<std::string_view, std::optional<int64_t>>;  // name, rank
  std::map<Key, uint32_t> by_key;
  for (uint32_t tensor = 0; tensor < units.of.size(); ++tensor) {
    const TensorRecord& record = run.dump.record(tensor);
    if (run.facts.has_read(tensor) || !record.has_elements || record.broken) continue;
    const bool exchanges =
        is_communication(record.name.op_type) || is_communication(run.op_type(run.dump.op_of(tensor)));
    const Key key{record.name.op_name, exchanges ? std::nullopt : run.dump.identity(tensor).rank};
    const auto [found, is_new] = by_key.try_emplace(key, static_cast<uint32_t>(units.bytes.size()));
    if (is_new) units.bytes.push_back(0);
    units.of[tensor] = found->second;
    units.bytes[found->second] += record.bytes.value_or(run.dump.index().files()[record.file].size);
  }
  return units;
}

Status find_facts(CheckRun& run, const std::vector<bool>& tensors, const RunContext& context) {
  run.facts.limit_to(tensors);
  MSDUMP_CHECK_OK(run.facts.read_all(context));
  std::vector<Finding> unused;
  std::vector<Error> failures;
  MSDUMP_CHECK_OK(judge_weights(run.dump, run.facts, run.rules, context, unused, failures));
  return judge_ranges(run.dump, run.facts, run.rules, context, unused, failures);
}

}  // namespace msdump::check
