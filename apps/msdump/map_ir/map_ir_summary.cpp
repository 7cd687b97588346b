#include "map_ir/map_ir_summary.h"

#include <algorithm>

#include <fmt/format.h>

#include "shared/graph_rows.h"
#include "shared/identity_row.h"

namespace msdump::cli {
namespace {

constexpr size_t kUnmatchedShown = 20;

}  // namespace

JoinSummary::JoinSummary(const OpenedGraph& opened) : opened_(opened) {
  if (!opened.joined) return;
  const FileJoin& join = opened.joined->join;
  for (OpId op = 0; op < opened.graph().size(); ++op) {
    if (!opened.graph().has_kernel(op) || !opened.selects(op)) continue;
    ++(join.pairs_of(op).empty() ? unmatched_operators_ : matched_operators_);
  }
  const std::vector<bool> selected = selected_groups();
  for (size_t i = 0; i < selected.size(); ++i) {
    if (!selected[i]) continue;
    const TensorGroup& group = join.groups()[i];
    const bool alone = join.rule_of(group) == JoinRule::kUnmatched;
    (alone ? unmatched_files_ : matched_files_) += files_in(group);
    if (alone) unmatched_groups_.push_back(static_cast<uint32_t>(i));
  }
}

// By group: does it belong to what is selected, as an operator's or by its own name?
std::vector<bool> JoinSummary::selected_groups() const {
  const FileJoin& join = opened_.joined->join;
  std::vector<bool> selected(join.groups().size(), opened_.operators.everything());
  if (opened_.operators.everything()) return selected;
  for (const JoinPair& pair : join.pairs()) selected[pair.group] = selected[pair.group] || opened_.selects(pair.op);
  for (size_t i = 0; i < selected.size(); ++i) {
    const bool alone = join.rule_of(join.groups()[i]) == JoinRule::kUnmatched;
    if (alone) selected[i] = opened_.selects(join.groups()[i]);
  }
  return selected;
}

// Selected ones; a dump file that holds several tensors is one.
size_t JoinSummary::files_in(const TensorGroup& group) const {
  std::vector<uint32_t> files;
  for (const uint32_t place : opened_.joined->join.tensors_of(group)) {
    const TensorRecord& tensor = opened_.catalogue->list.tensors()[place];
    if (opened_.selects(tensor)) files.push_back(tensor.file);
  }
  std::sort(files.begin(), files.end());
  return static_cast<size_t>(std::unique(files.begin(), files.end()) - files.begin());
}

report::Object JoinSummary::counts() const {
  report::Object counts;
  counts.add("parsed", opened_.loaded->parsed).add("nodes", opened_.loaded->expected);
  counts.add("matched_operators", matched_operators_).add("unmatched_operators", unmatched_operators_);
  counts.add("matched_files", matched_files_).add("unmatched_files", unmatched_files_);
  return counts;
}

report::Object JoinSummary::further(const RunContext& context, OpenedGraph& opened) const {
  report::Object further;
  if (!opened_.joined) return further;
  const Numbering& choice = opened_.joined->join.numbering();
  report::Object numbering;
  numbering.add("renumbered", choice.renumbered).add("confidence", choice.confidence);
  numbering.add("agreeing", choice.agreeing).add("contradicting", choice.contradicting);
  numbering.add("evidence", choice.evidence.empty() ? report::Value() : report::Value(choice.evidence));
  further.add("numbering", std::move(numbering));
  report::List unmatched;
  const FileJoin& join = opened_.joined->join;
  context.pool.ordered_for(
      static_cast<int64_t>(unmatched_groups_.size()),
      [&](int64_t i) {
        if (context.cancel.cancelled()) return OperatorFiles();
        return files_of_groups(opened_, {unmatched_groups_[static_cast<size_t>(i)]}, Detail::kHeaders);
      },
      [&](int64_t i, OperatorFiles&& files) {
        opened.add_failures(std::move(files.failures));
        const std::string reason = join.reason(join.groups()[unmatched_groups_[static_cast<size_t>(i)]]);
        for (const TensorRecord& tensor : files.tensors) {
          report::Object file = identity_object(opened_.catalogue->index, tensor);
          file.add("reason", reason);
          unmatched.emplace_back(std::move(file));
        }
      });
  further.add("unmatched_files", std::move(unmatched));
  return further;
}

std::string JoinSummary::text() const {
  std::string text = fmt::format("parsed {} of {}", opened_.loaded->parsed, opened_.loaded->expected);
  if (!opened_.joined) return text;
  return text + fmt::format("; {} of {} operators have files, {} of {} files have an operator", matched_operators_,
                            matched_operators_ + unmatched_operators_, matched_files_,
                            matched_files_ + unmatched_files_);
}

void JoinSummary::name_unmatched_files(Session& session) const {
  for (size_t i = 0; i < unmatched_groups_.size() && i < kUnmatchedShown; ++i) {
    const TensorGroup& group = opened_.joined->join.groups()[unmatched_groups_[i]];
    const std::string place = group.rank ? fmt::format(" of rank {}", *group.rank) : std::string();
    session.messages.note(fmt::format("{}{}: {}", group.op_name, place, opened_.joined->join.reason(group)));
  }
}

}  // namespace msdump::cli
