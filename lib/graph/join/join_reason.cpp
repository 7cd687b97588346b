#include <algorithm>
#include <string>
#include <string_view>

#include "graph/join/file_join.h"

namespace msdump {

std::string_view explanation(JoinRule rule) {
  switch (rule) {
    case JoinRule::kUnmatched: return "";
    case JoinRule::kFullName: return "by its full name";
    case JoinRule::kLastComponent: return "by the last part of its name";
    case JoinRule::kTypeDecided: return "by the last part of its name and its type; others have that name, too";
    case JoinRule::kAmbiguous: return "several operators have that name";
    case JoinRule::kFused: return "the file's name is that of several operators, fused";
    case JoinRule::kDerived: return "the file's name begins with its name; the graph engine appended the rest";
    case JoinRule::kCut: return "the file's name is the beginning of its name, cut off";
    case JoinRule::kParameter: return "a parameter or constant of the graph";
  }
  return "";
}

std::string FileJoin::reason(OpId op) const {
  const IrNode& node = graph_->node(op);
  if (node.kind == IrNodeKind::kCall) return "calls another graph, has no kernel of its own";
  if (node.kind == IrNodeKind::kVirtual) return "for the compiler only, has no kernel";
  if (node.leaf == Text::kEmpty) return "the IR has no full name for it";
  if (!dumped_[graph_->origin_index(op)])
    return "no tensor of its graph is here: it did not run, was not dumped, or is not selected";
  if (graph_->origin(op).kind == OriginKind::kStackJson)
    return "no tensor has its name: called, but not selected for the dump";
  return "no file has its name: not selected for the dump, without a kernel of its own, or fused into another operator";
}

std::string FileJoin::reason(const TensorGroup& group) const {
  if (rule_of(group) == JoinRule::kParameter) return std::string(explanation(JoinRule::kParameter));
  if (group.parameter) return "a parameter or constant that no graph here names";
  const bool graph_known = std::any_of(graph_->origins().begin(), graph_->origins().end(),
                                       [&](const Origin& origin) { return same_place(origin, group); });
  if (!graph_known) return "there is no IR of its graph";
  for (const std::string_view word :
       {"trans_TransData", "trans_Cast", "atomic_addr_clean", "MemSet", "PartitionedCall"}) {
    if (group.op_name.find(word) != std::string_view::npos)
      return "inserted by the graph engine; the IR has no such operator";
  }
  const bool of_msprobe = std::any_of(graph_->origins().begin(), graph_->origins().end(),
                                      [](const Origin& origin) { return origin.kind == OriginKind::kStackJson; });
  return of_msprobe ? "stack.json has no call of this name" : "no operator of the IR has this name";
}

}  // namespace msdump
