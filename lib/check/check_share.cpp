#include "check/check_share.h"

#include <map>
#include <string_view>

#include "check/values/range_rules.h"
#include "check/values/weight_rules.h"

namespace msdump::check {

CheckUnits check_units(const CheckRun& run) {
  CheckUnits units;
  units.of.assign(run.dump.tensors(), kNone);
  std::map<std::string_view, uint32_t> by_name;
  for (uint32_t tensor = 0; tensor < units.of.size(); ++tensor) {
    const TensorRecord& record = run.dump.record(tensor);
    if (run.facts.has_read(tensor) || !record.has_elements || record.broken) continue;
    const auto [found, is_new] = by_name.try_emplace(record.name.op_name, static_cast<uint32_t>(units.bytes.size()));
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
