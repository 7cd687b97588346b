// Rules that judge one tensor, at most with the inputs of its operator.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "check/checked_dump.h"
#include "check/nonfinite/nonfinite.h"
#include "check/rules/rule_context.h"
#include "check/values/tensor_facts.h"

namespace msdump::check {

// Reports in the order of the list. All facts must have been read.
void judge_values(RuleContext& context);
// The rules about the elements in a range, and about max - min. Counting reads a tensor again. A tensor that cannot be read
// is a failure of the context; an error only when interrupted.
Status judge_ranges(RuleContext& context);

[[nodiscard]] bool is_gradient(const CheckedDump& dump, TensorId tensor);
[[nodiscard]] bool is_weight(const CheckedDump& dump, TensorId tensor);
// True if rules of this target judge the tensor. Those of tensors judge all.
[[nodiscard]] bool is_target(const CheckedDump& dump, TensorId tensor, Target target);

// The limit ("abs_mean_gt", "max_lt", ..) of a rule that the tensor exceeds; an empty message if none.
struct LimitPassed {
  std::string message;
  double value = 0;
};
[[nodiscard]] LimitPassed judge_limits(const TensorFacts& facts, const RuleSet& rules, RuleId id);

// Lines about rules that were requested by name and cannot be judged, because the dump lacks the numbers.
[[nodiscard]] std::vector<std::string> unjudged_rules(const CheckedDump& dump, const FactsReader& facts,
                                                      const RuleSet& rules);

// The name of a tensor for messages: "output 0".
[[nodiscard]] std::string slot_text(const TensorRecord& tensor);

}  // namespace msdump::check
