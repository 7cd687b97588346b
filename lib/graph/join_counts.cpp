#include "graph/join_counts.h"

#include <algorithm>

namespace msdump {
namespace {

// By group: is it selected, through an operator of it or by its own name?
std::vector<bool> selected_groups(const OpenedGraph& opened) {
  const FileJoin& join = opened.joined->join;
  std::vector<bool> selected(join.groups().size(), opened.operators.everything());
  if (opened.operators.everything()) return selected;
  for (const JoinPair& pair : join.pairs()) selected[pair.group] = selected[pair.group] || opened.selects(pair.op);
  for (size_t i = 0; i < selected.size(); ++i) {
    const bool alone = join.rule_of(join.groups()[i]) == JoinRule::kUnmatched;
    if (alone) selected[i] = opened.selects(join.groups()[i]);
  }
  return selected;
}

// Counts the selected files; a dump file that holds several tensors counts once.
size_t files_in(const OpenedGraph& opened, const TensorGroup& group) {
  std::vector<uint32_t> files;
  for (const uint32_t place : opened.joined->join.tensors_of(group)) {
    const TensorRecord& tensor = opened.catalogue->list.tensors()[place];
    if (opened.selects(tensor)) files.push_back(tensor.file);
  }
  std::sort(files.begin(), files.end());
  return static_cast<size_t>(std::unique(files.begin(), files.end()) - files.begin());
}

}  // namespace

JoinCounts count_joined(const OpenedGraph& opened) {
  JoinCounts counts;
  if (!opened.joined) return counts;
  const FileJoin& join = opened.joined->join;
  for (OpId op = 0; op < opened.graph().size(); ++op) {
    if (!opened.graph().has_kernel(op) || !opened.selects(op)) continue;
    ++(join.pairs_of(op).empty() ? counts.unmatched_operators : counts.matched_operators);
  }
  const std::vector<bool> selected = selected_groups(opened);
  for (size_t i = 0; i < selected.size(); ++i) {
    if (!selected[i]) continue;
    const TensorGroup& group = join.groups()[i];
    const bool alone = join.rule_of(group) == JoinRule::kUnmatched;
    (alone ? counts.unmatched_files : counts.matched_files) += files_in(opened, group);
    if (alone) counts.unmatched_groups.push_back(static_cast<uint32_t>(i));
  }
  return counts;
}

}  // namespace msdump
