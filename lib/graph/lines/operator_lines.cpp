#include "graph/lines/operator_lines.h"

#include <algorithm>
#include <string_view>

#include "graph/lines/source_lines.h"
#include "ir/text/attributes.h"

namespace msdump {
namespace {

constexpr int kFarthestNeighbour = 4;

bool is_of_user(const SourceFrame* frame) { return frame != nullptr && !is_library_file(frame->file); }

uint64_t call_key(const IrNode& node) {
  return static_cast<uint64_t>(node.stack) << 32 | static_cast<uint64_t>(static_cast<uint32_t>(node.op));
}

// The def around a frame of the stack of `op`.
const SourceFrame* function_around(const OpGraph& graph, OpId op, const SourceFrame& frame) {
  const std::vector<const SourceFrame*> stack = stack_of(graph, op);
  auto at = std::find(stack.begin(), stack.end(), &frame);
  if (at == stack.end()) return nullptr;
  ++at;
  return at != stack.end() && !(*at)->begins_chain && is_def_frame(**at) && (*at)->file == frame.file ? *at : nullptr;
}

bool is_cast(std::string_view type) { return type.ends_with("Cast"); }

}  // namespace

OperatorLines::OperatorLines(const OpGraph& graph) : graph_(&graph), origins_(graph.origins().size()) {
  for (size_t i = 0; i < origins_.size(); ++i) {
    const Origin& origin = graph.origins()[i];
    if (origin.kind == OriginKind::kStackJson) continue;  // of a real call, each
    const IrGraph& ir = origin.graph;
    Nodes& nodes = origins_[i];
    nodes.readers.assign(ir.nodes.size(), kNoIndex);
    for (uint32_t node = 0; node < ir.nodes.size(); ++node) {
      for (const IrOperand& operand : ir.operands_of(ir.nodes[node])) {
        if (operand.kind == IrOperand::Kind::kNode && !operand.control && nodes.readers[operand.value] == kNoIndex)
          nodes.readers[operand.value] = node;
      }
      if (ir.nodes[node].kind != IrNodeKind::kKernel) continue;
      if (ir.nodes[node].stack != List::kEmpty) ++nodes.calls[call_key(ir.nodes[node])];
      const std::string_view forward = attribute_value(ir.text(ir.nodes[node].attributes), "forward_unique_id");
      if (!forward.empty()) nodes.gradients[forward].push_back(origin.first_operator + node);
    }
  }
}

OperatorLine OperatorLines::of(OpId op) const {
  if (graph_ == nullptr) return {};
  OperatorLine line;
  line.frame = best_frame(*graph_, op);
  if (is_of_user(line.frame)) {
    if (const SourceFrame* const right = by_gradients(op, line.frame); right != nullptr) return {right, false};
    const Nodes& nodes = origins_[graph_->origin_index(op)];
    const bool own = line.frame->kind == FrameKind::kOwn;  // the gradients of one operator share its lines
    const auto calls = nodes.calls.find(call_key(graph_->node(op)));
    line.one_of_several = own && calls != nodes.calls.end() && calls->second > 1;
    return line;
  }
  const bool producer_first = is_cast(graph_->op_type(op));
  for (const bool producer : {producer_first, !producer_first}) {
    if (const SourceFrame* const near = by_neighbours(op, producer); near != nullptr) return {near, false};
  }
  return line;
}

// Null where the gradients say nothing, or different lines.
const SourceFrame* OperatorLines::by_gradients(OpId op, const SourceFrame* own) const {
  const Nodes& nodes = origins_[graph_->origin_index(op)];
  const std::string_view id = attribute_value(graph_->ir(op).text(graph_->node(op).attributes), "unique_id");
  const auto found = id.empty() ? nodes.gradients.end() : nodes.gradients.find(id);
  if (found == nodes.gradients.end()) return nullptr;
  const SourceFrame* const function = function_around(*graph_, op, *own);
  if (function == nullptr) return nullptr;
  const SourceFrame* right = nullptr;
  for (const OpId gradient : found->second) {
    const SourceFrame* const frame = best_frame(*graph_, gradient);
    const bool inside = frame != nullptr && frame->file == function->file && frame->line > function->line &&
                        frame->line <= function->end_line;
    if (!inside) continue;  // of a call around it, or of another operator
    if (right != nullptr && right->line != frame->line) return nullptr;
    right = frame;
  }
  return right;
}

const SourceFrame* OperatorLines::by_neighbours(OpId op, bool producer) const {
  const Origin& origin = graph_->origin(op);
  const Nodes& nodes = origins_[graph_->origin_index(op)];
  if (nodes.readers.empty()) return nullptr;
  uint32_t node = op - origin.first_operator;
  for (int step = 0; step < kFarthestNeighbour && node != kNoIndex; ++step) {
    if (producer) {
      const auto operands = origin.graph.operands_of(origin.graph.nodes[node]);
      const bool made = !operands.empty() && operands.front().kind == IrOperand::Kind::kNode;
      node = made ? operands.front().value : kNoIndex;
    } else {
      node = nodes.readers[node];
    }
    if (node == kNoIndex) break;
    const SourceFrame* const frame = best_frame(*graph_, origin.first_operator + node);
    if (is_of_user(frame)) return frame;
  }
  return nullptr;
}

}  // namespace msdump
