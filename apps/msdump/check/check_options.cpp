#include "check/check_options.h"

#include "frame/usage.h"

namespace msdump::cli {

Result<check::RuleSet> rules_of(const CheckOptions& options) {
  check::RuleSet rules = check::RuleSet::defaults();
  if (!options.rules_file.empty()) {
    MSDUMP_TRY(rules, check::RuleSet::read(options.rules_file));
  }
  for (const std::string& text : options.rules) {
    const Status applied = rules.apply(text);
    if (!applied) throw UsageError("--rule: " + applied.error().message, applied.error().hint);
  }
  const bool is_golden = !options.golden.empty() || options.standard;
  if (options.recompute != recompute::Extent::kIfCheap || is_golden) (void)rules.apply("wrong_output");
  if (options.standard) (void)rules.apply("standard");
  if (options.no_recompute) (void)rules.apply("wrong_output:off");
  if (const Status complete = rules.check_complete(); !complete)
    throw UsageError(complete.error().message, complete.error().hint);
  return rules;
}

}  // namespace msdump::cli
