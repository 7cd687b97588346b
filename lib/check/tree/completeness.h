// Is the dump complete? Files that are cut or empty, steps and ranks with less than others, operators without tensors,
// tensors without an operator, a dump that ended in the middle; each with the probable cause, and the setting that
// would help.
//
// These are not faults: operators of dump_mode 1, of an overflow or exception dump, and those without a kernel (virtual nodes,
// a Reshape that costs nothing); slots that input_output leaves out; steps that iteration leaves out; branches that one
// step takes and another does not.
// Source: reference/dump-layouts-and-statistics.md sections 5 and 7, verified-on-real-mindspore.md 2.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "check/checked_dump.h"
#include "check/rules/finding.h"
#include "check/rules/rules.h"
#include "check/tree/dump_settings.h"
#include "dump/index/selection.h"
#include "dump/index/tensor_list.h"
#include "info/tree_facts.h"

namespace msdump::check {

struct CompletenessInput {
  const CheckedDump& dump;
  const DumpSettings& settings;
  const ExecutionOrders& orders;
  const Selection& selection;                 // the requested ranks, graphs and steps
  const std::vector<const Error*>& failures;  // of files and tensors that could not be read
  const std::vector<Oddity>& oddities;        // of the index
};

void judge_completeness(const CompletenessInput& input, const RuleSet& rules, std::vector<Finding>& findings);

// Parts of it.
void judge_files(const CompletenessInput& input, const RuleSet& rules, std::vector<Finding>& findings);
void judge_steps(const CompletenessInput& input, const RuleSet& rules, std::vector<Finding>& findings);
void judge_slots(const CompletenessInput& input, const RuleSet& rules, std::vector<Finding>& findings);
void judge_ranks(const CompletenessInput& input, const RuleSet& rules, std::vector<Finding>& findings);
void judge_msprobe(const CompletenessInput& input, const RuleSet& rules, std::vector<Finding>& findings);
void judge_shards(const CompletenessInput& input, const RuleSet& rules, std::vector<Finding>& findings);
void judge_operators(const CompletenessInput& input, const RuleSet& rules, std::vector<Finding>& findings);

// The operators of one graph (`ops`, ascending) that were not dumped and that nothing dumped has read, directly or
// through others: those after the place where a run ended. Operators missing for other reasons have readers that were
// dumped. By place in `ops`.
[[nodiscard]] std::vector<bool> unread_of_missing(const CheckedDump& dump, const std::vector<uint32_t>& ops,
                                                  const std::function<bool(uint32_t)>& is_dumped);
// All operators of the IR that contains an operator; only the operator if no IR has it.
[[nodiscard]] std::vector<uint32_t> operators_of_same_graph(const CheckedDump& dump, uint32_t op);
// The operator of the tensor with the latest time stamp, in one step or in all; kNone: no tensor has one.
[[nodiscard]] uint32_t last_in_time(const CheckedDump& dump, const std::vector<uint32_t>& ops,
                                    std::optional<int64_t> step);

[[nodiscard]] std::string first_names(const std::vector<std::string>& names);  // "a, b, c, .."
// Rank and step of the findings of these rules.
using RankStep = std::pair<std::optional<int64_t>, int64_t>;
[[nodiscard]] std::set<RankStep> places_of(const std::vector<Finding>& findings, std::span<const RuleId> rules);
// A finding about a place in the tree.
[[nodiscard]] Finding tree_finding(const RuleSet& rules, RuleId id, std::string message);

}  // namespace msdump::check
