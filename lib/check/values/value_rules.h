// The rules that judge one tensor at a time, at most by the inputs of its operator.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "check/checked_dump.h"
#include "check/nonfinite/nonfinite.h"
#include "check/rules/finding.h"
#include "check/rules/rules.h"
#include "check/values/tensor_facts.h"

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

// The rules about the range of a tensor: how many of its elements lie in it, and how far max and min are apart. Off by
// default: counting reads each tensor again.

// All facts must have been read. Tensors that cannot be read again are in `failures`; an error only when interrupted.
Status judge_ranges(const CheckedDump& dump, const FactsReader& facts, const RuleSet& rules, const RunContext& context,
                    std::vector<Finding>& findings, std::vector<Error>& failures);

}  // namespace msdump::check
