// The rules that judge one tensor at a time, at most by the inputs of its operator.
#pragma once

#include <string>
#include <vector>

#include "check/checked_dump.h"
#include "check/rules/finding.h"
#include "check/rules/rules.h"
#include "check/values/facts_reader.h"
#include "check/values/health.h"

namespace msdump::check {

// Appends to `findings`, in the order of the list. All facts must have been read.
void judge_values(const CheckedDump& dump, const FactsReader& facts, const RuleSet& rules,
                  std::vector<Finding>& findings);

// The role of a tensor for the rules about one kind of tensor; those about tensors judge all of them.
[[nodiscard]] bool is_gradient(const CheckedDump& dump, uint32_t tensor);
[[nodiscard]] bool is_weight(const CheckedDump& dump, uint32_t tensor);
[[nodiscard]] bool is_activation(const CheckedDump& dump, uint32_t tensor);

// Is one of the limits ("abs_mean_gt", "max_lt", ..) of a rule exceeded? The message names it; empty: none.
struct LimitPassed {
  std::string message;
  double value = 0;
};
[[nodiscard]] LimitPassed judge_limits(const TensorFacts& facts, const RuleSet& rules, RuleId id);

// Rules that were requested by name but cannot be judged, because this dump lacks the numbers. A line for each.
[[nodiscard]] std::vector<std::string> unjudged_rules(const CheckedDump& dump, const FactsReader& facts,
                                                      const RuleSet& rules);

// The name of a tensor for messages: "output 0".
[[nodiscard]] std::string slot_text(const TensorRecord& tensor);
// A finding about a tensor, with its operator; without a message.
[[nodiscard]] Finding finding_of(const CheckedDump& dump, const RuleSet& rules, RuleId id, uint32_t tensor);

}  // namespace msdump::check
