// Completeness of a dump. Each finding has the probable cause and the setting that would help. Faults are
//   * files that are cut or empty
//   * steps and ranks with less than others
//   * operators without tensors, tensors without an operator
//   * a dump that ended in the middle
// No faults are
//   * operators that dump_mode 1 or an overflow or exception dump leaves out
//   * operators without a kernel (virtual nodes, a Reshape that moves no data)
//   * slots that input_output leaves out, steps that iteration leaves out
//   * branches that one step takes and another does not
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
#include "check/rules/rule_context.h"
#include "check/tree/dump_settings.h"
#include "dump/index/selection.h"
#include "dump/index/tensor_list.h"
#include "info/tree_facts.h"

namespace msdump::check {

struct TreeInput {
  const DumpSettings& settings;
  const ExecutionOrders& orders;
  const Selection& selection;                     // the requested ranks, graphs and steps
  const std::vector<const Error*>& failures;      // of files and tensors that could not be read
  const std::vector<TreeFinding>& tree_findings;  // of the index
};

void judge_completeness(RuleContext& context, const TreeInput& tree);

// Parts of judge_completeness().
void judge_files(RuleContext& context, const TreeInput& tree);
void judge_shards(RuleContext& context, const TreeInput& tree);
void judge_operators(RuleContext& context, const TreeInput& tree);
void judge_msprobe(RuleContext& context);
void judge_slots(RuleContext& context);
void judge_steps(RuleContext& context, const TreeInput& tree);
void judge_ranks(RuleContext& context, const TreeInput& tree);

// Marks the operators of one graph (`ops`, ascending) that were not dumped and that no dumped operator reads, directly or
// through others. They come after the point at which the run ended: operators that are missing for other reasons have
// readers that were dumped. By position in `ops`.
[[nodiscard]] std::vector<bool> unread_of_missing(const CheckedDump& dump, const std::vector<OperatorId>& ops,
                                                  const std::function<bool(OperatorId)>& is_dumped);
// All operators of the IR that contains an operator; only the operator if no IR has it.
[[nodiscard]] std::vector<OperatorId> operators_of_same_graph(const CheckedDump& dump, OperatorId op);
// The operator of the tensor with the latest time stamp, in one step or in all; kNoId: no tensor has one.
[[nodiscard]] OperatorId last_in_time(const CheckedDump& dump, const std::vector<OperatorId>& ops,
                                      std::optional<int64_t> step);

[[nodiscard]] std::string first_names(const std::vector<std::string>& names);  // "a, b, c, .."
using RankStep = std::pair<std::optional<int64_t>, int64_t>;
// Rank and step of the findings of these rules.
[[nodiscard]] std::set<RankStep> places_of(const std::vector<Finding>& findings, std::span<const RuleId> rules);

}  // namespace msdump::check
