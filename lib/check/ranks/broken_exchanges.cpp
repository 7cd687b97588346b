#include "check/ranks/broken_exchanges.h"

#include "check/checked_dump.h"
#include "check/ranks/collective_rules.h"
#include "check/ranks/exchange.h"
#include "check/rules/rules.h"
#include "check/values/facts_reader.h"

namespace msdump::check {

Result<std::vector<Finding>> broken_exchanges(const DumpWithGraph& dump, const RunContext& context) {
  const CheckedDump checked(dump);
  FactsReader facts(*dump.index, *dump.tensors, {.digests = true});
  const JoinedCalls joined(checked);
  std::vector<uint32_t> exchanged;
  for (const Exchange& exchange : joined.exchanges) {
    const std::vector<uint32_t> tensors = joined.tensors_of(exchange);
    exchanged.insert(exchanged.end(), tensors.begin(), tensors.end());
  }
  MSDUMP_CHECK_OK(facts.read(exchanged, context));
  std::vector<Finding> findings;
  MSDUMP_CHECK_OK(judge_collectives(checked, facts, RuleSet::defaults(), context, findings));
  std::erase_if(findings, [](const Finding& finding) { return finding.severity != Severity::kError; });
  return findings;
}

}  // namespace msdump::check
