#include "graph/lines/source_lines.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "ir/text/attributes.h"

namespace msdump {
namespace {

constexpr std::string_view kPackageFolders[] = {"/site-packages/", "/dist-packages/"};
// Below a folder "mindspore": a user's folder of that name has others.
constexpr std::string_view kMindSporeFolders[] = {"nn/",       "ops/",   "train/", "_extends/", "common/",
                                                  "parallel/", "mint/",  "numpy/", "boost/",    "rewrite/",
                                                  "python/",   "ccsrc/", "scipy/", "amp.py",    "hal/"};

bool is_space(char c) { return c == ' ' || c == '\t'; }

bool is_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

// "self.relu" and "self.fc1" of "x = self.relu(self.fc1(x))"; only the first few, as the line may be anything.
std::vector<std::string_view> called_names(std::string_view code) {
  constexpr size_t kMostNames = 16;
  std::vector<std::string_view> names;
  for (size_t end = code.find('('); end != std::string_view::npos && names.size() < kMostNames;
       end = code.find('(', end + 1)) {
    size_t begin = end;
    while (begin > 0 && is_in_name(code[begin - 1])) --begin;
    if (begin < end) names.push_back(code.substr(begin, end - begin));
  }
  return names;
}

bool calls(std::string_view code, std::string_view name) {
  for (size_t at = code.find(name); at != std::string_view::npos; at = code.find(name, at + 1)) {
    const bool whole = at == 0 || !is_in_name(code[at - 1]);
    if (whole && code.substr(at + name.size()).starts_with('(')) return true;
  }
  return false;
}

}  // namespace

bool is_library_file(std::string_view path) {
  for (const std::string_view folder : kPackageFolders) {
    if (path.find(folder) != std::string_view::npos) return true;
  }
  constexpr std::string_view kMindSpore = "mindspore/";
  for (size_t at = path.find(kMindSpore); at != std::string_view::npos; at = path.find(kMindSpore, at + 1)) {
    if (at > 0 && path[at - 1] != '/') continue;
    const std::string_view rest = path.substr(at + kMindSpore.size());
    if (std::any_of(std::begin(kMindSporeFolders), std::end(kMindSporeFolders),
                    [&](std::string_view folder) { return rest.starts_with(folder); }))
      return true;
  }
  return false;
}

bool is_def_frame(const SourceFrame& frame) {
  std::string_view code = frame.code;
  while (!code.empty() && is_space(code.front())) code.remove_prefix(1);
  if (code.starts_with("async ")) code.remove_prefix(6);
  return code.starts_with("def ") || code.starts_with("@");
}

bool is_of_other_call(std::span<const SourceFrame* const> stack, size_t at) {
  constexpr size_t kFarthest = 1000;  // frames outwards: a crafted stack may be long
  const auto is_outer = [&](size_t i) { return i < stack.size() && i <= at + kFarthest && !stack[i]->begins_chain; };
  if (!is_outer(at + 1)) return false;
  const SourceFrame &frame = *stack[at], &caller = *stack[at + 1];
  const bool is_last = frame.begins_chain;
  if (!is_last && (at == 0 || stack[at - 1]->file != caller.file || stack[at - 1]->line == caller.line)) return false;
  const auto names = called_names(frame.code);
  for (size_t i = at + 1; is_outer(i) && !is_def_frame(*stack[i]); ++i) {
    const SourceFrame& outer = *stack[i];
    const bool other_line = i > at + 1 && outer.line != frame.line && outer.file == frame.file;
    if (other_line && std::any_of(names.begin(), names.end(), [&](auto name) { return calls(outer.code, name); }))
      return true;
  }
  return false;
}

std::vector<const SourceFrame*> stack_of(const OpGraph& graph, OpId op) {
  const IrGraph& ir = graph.ir(op);
  std::vector<const SourceFrame*> own, others;
  for (const uint32_t index : ir.stack(graph.node(op))) {
    const SourceFrame& frame = ir.frames[index];
    (frame.kind == FrameKind::kOwn ? own : others).push_back(&frame);
  }
  return own.empty() ? others : own;
}

const SourceFrame* best_frame(const OpGraph& graph, OpId op) {
  const std::vector<const SourceFrame*> stack = stack_of(graph, op);
  if (stack.empty()) return nullptr;
  const auto in_user_code = [](const SourceFrame* frame) { return !is_library_file(frame->file); };
  const bool of_ir = graph.origin(op).kind != OriginKind::kStackJson;
  for (size_t i = 0; i < stack.size(); ++i) {
    if (in_user_code(stack[i]) && !is_def_frame(*stack[i]) && !(of_ir && is_of_other_call(stack, i))) return stack[i];
  }
  const auto any = std::find_if(stack.begin(), stack.end(), in_user_code);
  return any != stack.end() ? *any : stack.front();
}

namespace {

constexpr int kFarthestNeighbour = 4;
// Operators between one whose stack is shared and one with its own; of so many a level.
constexpr int kFarthestShared = 2;
constexpr size_t kMostShared = 16;

bool is_of_user(const SourceFrame* frame) { return frame != nullptr && !is_library_file(frame->file); }

// The def that encloses a frame of the stack of `op`.
const SourceFrame* function_around(const OpGraph& graph, OpId op, const SourceFrame& frame) {
  const std::vector<const SourceFrame*> stack = stack_of(graph, op);
  auto at = std::find(stack.begin(), stack.end(), &frame);
  if (at == stack.end()) return nullptr;
  ++at;
  return at != stack.end() && !(*at)->begins_chain && is_def_frame(**at) && (*at)->file == frame.file ? *at : nullptr;
}

bool is_cast(std::string_view type) { return type.ends_with("Cast"); }

}  // namespace

EqualStacks::EqualStacks(const IrGraph& ir) {
  for (const IrNode& node : ir.nodes) {
    if (node.kind == IrNodeKind::kKernel && node.stack != List::kEmpty) ++counts_[key(node)];
  }
}

bool EqualStacks::repeated(const IrNode& node) const {
  const auto found = counts_.find(key(node));
  return found != counts_.end() && found->second > 1;
}

OperatorLines::OperatorLines(const OpGraph& graph) : graph_(&graph), origins_(graph.origins().size()) {
  for (size_t i = 0; i < origins_.size(); ++i) {
    const Origin& origin = graph.origins()[i];
    if (origin.kind == OriginKind::kStackJson) continue;  // of a real call, each
    const IrGraph& ir = origin.graph;
    Nodes& nodes = origins_[i];
    nodes.calls = EqualStacks(ir);
    nodes.readers.assign(ir.nodes.size(), kNoIndex);
    for (uint32_t node = 0; node < ir.nodes.size(); ++node) {
      for (const IrOperand& operand : ir.operands_of(ir.nodes[node])) {
        if (operand.kind == IrOperand::Kind::kNode && !operand.control && nodes.readers[operand.value] == kNoIndex)
          nodes.readers[operand.value] = node;
      }
      if (ir.nodes[node].kind != IrNodeKind::kKernel) continue;
      const std::string_view forward = attribute_value(ir.text(ir.nodes[node].attributes), "forward_unique_id");
      if (!forward.empty()) nodes.gradients[forward].emplace_back(origin.first_operator + node);
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
    const bool of_forward = line.frame->kind == FrameKind::kForward;  // the gradients of one operator share its lines
    line.one_of_several = !of_forward && nodes.calls.repeated(graph_->node(op));
    if (line.one_of_several) {
      if (const SourceFrame* const near = around(op, line.frame); near != nullptr) line.frame = near;
    }
    return line;
  }
  const bool producer_first = is_cast(graph_->op_type(op));
  for (const bool producer : {producer_first, !producer_first}) {
    if (const SourceFrame* const near = by_neighbours(op, producer); near != nullptr) return {near, false};
  }
  return line;
}

// Null if the gradients have no frame in the function, or disagree.
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

// The line of the nearest operator before or after with a stack of its own. Null if that is in the function of `own`: then a
// loop or several cells call it, and its line is right.
const SourceFrame* OperatorLines::around(OpId op, const SourceFrame* own) const {
  const Origin& origin = graph_->origin(op);
  const IrGraph& ir = origin.graph;
  const Nodes& nodes = origins_[graph_->origin_index(op)];
  const SourceFrame* const function = function_around(*graph_, op, *own);
  std::vector<uint32_t> level = {op - origin.first_operator}, next;
  for (int step = 0; step < kFarthestShared; ++step) {
    for (const uint32_t node : level) {
      for (const IrOperand& operand : ir.operands_of(ir.nodes[node])) {
        if (operand.kind == IrOperand::Kind::kNode && !operand.control) next.push_back(operand.value);
      }
      if (nodes.readers[node] != kNoIndex) next.push_back(nodes.readers[node]);
    }
    level.clear();
    for (const uint32_t node : std::exchange(next, {})) {
      const IrNode& near = ir.nodes[node];
      if (is_gradient_name(ir.scope(near))) continue;
      if (near.stack == List::kEmpty || nodes.calls.repeated(near)) {
        level.push_back(node);
        continue;
      }
      const SourceFrame* const frame = best_frame(*graph_, OpId(origin.first_operator + node));
      if (!is_of_user(frame) || frame->kind == FrameKind::kForward) continue;
      const bool inside = function != nullptr && frame->file == function->file && frame->line > function->line &&
                          frame->line <= function->end_line;
      return inside ? nullptr : frame;
    }
    if (level.size() > kMostShared) break;
  }
  return nullptr;
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
    const SourceFrame* const frame = best_frame(*graph_, OpId(origin.first_operator + node));
    if (is_of_user(frame)) return frame;
  }
  return nullptr;
}

std::string nearest_operator(const OpGraph& graph, std::string_view typed, OperatorText text) {
  if (typed.find_first_of("*?") != std::string_view::npos) return {};
  if (text == OperatorText::kName) typed.remove_prefix(typed.rfind('/') + 1);
  std::set<std::string_view> distinct;
  for (OpId op{0}; op < graph.size(); ++op) {
    if (graph.has_kernel(op)) distinct.insert(text == OperatorText::kType ? graph.op_type(op) : graph.leaf(op));
  }
  distinct.erase("");
  const auto found = distinct.find(typed);
  if (found != distinct.end()) return text == OperatorText::kType ? std::string() : "*" + std::string(*found);
  return closest_match(typed, std::vector<std::string>(distinct.begin(), distinct.end())).value_or("");
}

}  // namespace msdump
