#include "graph/load/stack_graph.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/model/ir_builder.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

// Of gradients of parameters, too: Cell.fc.Dense.parameters_grad.0 belongs to Cell.fc.Dense.forward.0.
std::optional<std::string> forward_of(std::string_view name) {
  constexpr std::string_view kGradients = ".parameters_grad";
  const size_t at = name.rfind(kGradients);
  if (at == std::string_view::npos) return forward_entry_of(name);
  const std::string_view call = name.substr(at + kGradients.size());
  return std::string(name.substr(0, at)) + ".forward" + (call.empty() ? ".0" : std::string(call));
}

class StackGraph {
 public:
  StackGraph(const StackJson& stacks, const std::set<std::string_view>& dumped_ops)
      : stacks_(stacks), dumped_ops_(dumped_ops) {
    graph_ = builder_.begin_graph("", "", 0);
  }

  Result<IrGraph> run() {
    for (const StackJson::Op& op : stacks_.ops) add(op.name, op, FrameKind::kOwn);
    for (const std::string_view name : dumped_ops_) {
      if (stacks_.find(name) != nullptr) continue;
      const auto forward = forward_of(name);
      const StackJson::Op* const op = forward ? stacks_.find(*forward) : nullptr;
      if (op != nullptr) add(name, *op, FrameKind::kForward);
    }
    return builder_.finish();
  }

 private:
  void add(std::string_view name, const StackJson::Op& op, FrameKind kind) {
    IrNode node;
    node.graph = graph_;
    const auto entry = parse_msprobe_entry(name);
    node.op = builder_.intern(entry ? entry->op_type : name);
    node.leaf = builder_.keep(name);
    node.stack = stack(op, kind);
    builder_.add_node(node, {});
  }

  // Thousands of operators may share a stack of thousands of frames: it is made once.
  List stack(const StackJson::Op& op, FrameKind kind) {
    if (op.count == 0) return List::kEmpty;
    const auto [known, added] = lists_[kind == FrameKind::kForward ? 1 : 0].try_emplace(op.begin, List::kEmpty);
    if (!added) return known->second;
    std::vector<uint32_t> frames;
    for (const uint32_t index : stacks_.stack_of(op)) frames.push_back(frame(index, kind, frames.empty()));
    return known->second = builder_.stack(frames);
  }

  uint32_t frame(uint32_t index, FrameKind kind, bool begins_chain) {
    auto& known = frames_[static_cast<size_t>(kind == FrameKind::kForward) * 2 + static_cast<size_t>(begins_chain)];
    if (known.empty()) known.assign(stacks_.frames.size(), kNoIndex);
    if (known[index] != kNoIndex) return known[index];
    const MsprobeFrame& from = stacks_.frames[index];
    IrGraph& ir = builder_.graph();
    SourceFrame to;
    to.file = ir.pool.view(builder_.intern(from.file));
    to.code = ir.pool.view(builder_.intern(from.code));
    to.line = to.end_line = static_cast<uint32_t>(std::min<int64_t>(std::max<int64_t>(from.line, 0), kNoIndex - 1));
    to.kind = kind;
    to.begins_chain = begins_chain;
    ir.frames.push_back(to);
    return known[index] = static_cast<uint32_t>(ir.frames.size() - 1);
  }

  const StackJson& stacks_;
  const std::set<std::string_view>& dumped_ops_;
  IrGraphBuilder builder_;
  uint32_t graph_ = kNoIndex;
  std::unordered_map<size_t, List> lists_[2];  // by kind: the stack that begins there in frame_ids
  std::vector<uint32_t> frames_[4];            // by kind and begins_chain: indices in the graph
};

}  // namespace

Result<IrGraph> graph_of_stacks(const StackJson& stacks, const std::set<std::string_view>& dumped_ops) {
  return StackGraph(stacks, dumped_ops).run();
}

}  // namespace msdump
