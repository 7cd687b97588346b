#include "graph/lines/operator_lines.h"

#include <algorithm>

#include "graph/arguments/argument_value.h"
#include "ir/text/attributes.h"

namespace msdump {
namespace {

constexpr int kFarthestNeighbour = 4;
// Operators between one whose stack is shared and one whose line is known; of so many edges in each direction.
constexpr int kFarthestShared = 4;
constexpr size_t kMostEdges = 256;
// The gradients of one operator that are looked at: one for each stack.
constexpr size_t kMostGradients = 16;
// A region of more lines names no line.
constexpr uint64_t kMostLines = 400;

bool is_of_user(const SourceFrame* frame) { return frame != nullptr && !is_library_file(frame->file); }

// The frames of the chain that has `frame`, from it outwards.
std::span<const SourceFrame* const> outwards(std::span<const SourceFrame* const> stack, const SourceFrame* frame) {
  const auto begin = std::find(stack.begin(), stack.end(), frame);
  if (begin == stack.end()) return {};
  const auto end = std::find_if(begin + 1, stack.end(), [](const SourceFrame* one) { return one->begins_chain; });
  return {begin, end};
}

// The def that encloses a frame of the stack of `op`.
const SourceFrame* function_around(const OpGraph& graph, OpId op, const SourceFrame& frame) {
  const std::vector<const SourceFrame*> stack = stack_of(graph, op);
  const auto chain = outwards(stack, &frame);
  return chain.size() > 1 && is_def_frame(*chain[1]) && chain[1]->file == frame.file ? chain[1] : nullptr;
}

bool is_inside(const SourceFrame* function, const SourceFrame* frame) {
  return function != nullptr && frame != nullptr && frame->file == function->file && frame->line > function->line &&
         frame->line <= function->end_line;
}

// The names that calls have which lead to `own`, a frame of the script, and from it into the library.
CallSpelling spelling_of(const OpGraph& graph, OpId op, const SourceFrame& own) {
  CallSpelling spelling{python_symbol(graph.op_type(op)), {}};
  const std::vector<const SourceFrame*> stack = stack_of(graph, op);
  for (const SourceFrame* const frame : stack) {
    if (frame == &own) break;
    if (const auto name = function_name(frame->code); !name.empty()) spelling.names.push_back(name);
  }
  if (const SourceFrame* const function = function_around(graph, op, own)) {
    if (const auto name = function_name(function->code); !name.empty()) spelling.names.push_back(name);
  }
  return spelling;
}

}  // namespace

OperatorLines::OperatorLines(const OpGraph& graph)
    : graph_(&graph), origins_(graph.origins().size()), made_(std::make_unique<Made>()) {}

const OperatorLines::Nodes& OperatorLines::nodes_of(OpId op) const {
  OfOrigin& of = origins_[graph_->origin_index(op)];
  std::call_once(of.once, [&] { read(graph_->origin(op), of.nodes); });
  return of.nodes;
}

void OperatorLines::read(const Origin& origin, Nodes& nodes) const {
  if (origin.kind == OriginKind::kStackJson) return;  // of a real call, each
  const IrGraph& ir = origin.graph;
  nodes.calls = EqualStacks(ir);
  nodes.script = QuotedScript(ir);
  const auto each_edge = [&](auto&& visit) {
    for (uint32_t node = 0; node < ir.nodes.size(); ++node) {
      for (const IrOperand& operand : ir.operands_of(ir.nodes[node])) {
        if (operand.kind == IrOperand::Kind::kNode && !operand.control) visit(operand.value, node);
      }
    }
  };
  nodes.readers = EdgeLists<uint32_t>(ir.nodes.size(), each_edge);
  for (uint32_t node = 0; node < ir.nodes.size(); ++node) {
    if (ir.nodes[node].kind != IrNodeKind::kKernel) continue;
    const std::string_view forward = attribute_value(ir.text(ir.nodes[node].attributes), "forward_unique_id");
    if (forward.empty()) continue;
    std::vector<OpId>& gradients = nodes.forwards[forward].gradients;
    const auto has_its_stack = [&](OpId op) { return graph_->node(op).stack == ir.nodes[node].stack; };
    if (gradients.size() < kMostGradients && std::none_of(gradients.begin(), gradients.end(), has_its_stack))
      gradients.emplace_back(origin.first_operator + node);
  }
  for (const IrNode& node : ir.nodes) {
    if (nodes.forwards.empty() || node.kind != IrNodeKind::kKernel) continue;
    const auto found = nodes.forwards.find(attribute_value(ir.text(node.attributes), "unique_id"));
    if (found != nodes.forwards.end()) ++found->second.operators;
  }
}

OperatorLine OperatorLines::of(OpId op) const {
  if (graph_ == nullptr) return {};
  OperatorLine line;
  line.frame = best_frame(*graph_, op);
  if (is_of_user(line.frame)) {
    if (const SourceFrame* const right = by_gradients(op, line.frame); right != nullptr) return {right, false};
    const bool of_forward = line.frame->kind == FrameKind::kForward;  // the gradients of one operator share its lines
    line.one_of_several = !of_forward && nodes_of(op).calls.repeated(graph_->node(op));
    if (line.one_of_several) line.frame = between(op, *line.frame);
    return line;
  }
  const bool producer_first = graph_->op_type(op).ends_with("Cast");
  for (const bool producer : {producer_first, !producer_first}) {
    if (const SourceFrame* const near = by_neighbours(op, producer); near != nullptr) return {near, false};
  }
  return line;
}

// Null if no gradient names the operator.
const OperatorLines::Forward* OperatorLines::forward_of(OpId op) const {
  const Nodes& nodes = nodes_of(op);
  if (nodes.forwards.empty()) return nullptr;
  const auto found =
      nodes.forwards.find(attribute_value(graph_->ir(op).text(graph_->node(op).attributes), "unique_id"));
  return found == nodes.forwards.end() ? nullptr : &found->second;
}

// Null if the gradients have no frame to offer, or disagree.
const SourceFrame* OperatorLines::by_gradients(OpId op, const SourceFrame* own) const {
  const Forward* const forward = forward_of(op);
  if (forward == nullptr) return nullptr;
  const SourceFrame* const function = function_around(*graph_, op, *own);
  const bool is_anywhere = forward->operators == 1 && nodes_of(op).calls.repeated(graph_->node(op));
  const SourceFrame* right = nullptr;
  for (const OpId gradient : forward->gradients) {
    const SourceFrame* const frame = best_frame(*graph_, gradient);
    if (is_anywhere ? !is_of_user(frame) || frame->kind != FrameKind::kForward : !is_inside(function, frame)) continue;
    if (right != nullptr && (right->line != frame->line || right->file != frame->file)) return nullptr;
    right = frame;
  }
  return right;
}

// The calls that lead to an operator whose line is known; empty if it is not.
const ScriptCalls& OperatorLines::known_calls(OpId op) const {
  static const ScriptCalls kUnknown;
  if (!nodes_of(op).calls.repeated(graph_->node(op))) return calls_to(op);
  const Forward* const forward = forward_of(op);
  const bool is_known = forward != nullptr && forward->operators == 1 && by_gradients(op, best_frame(*graph_, op));
  return is_known ? calls_to(forward->gradients.front()) : kUnknown;
}

// The calls that the frames to show of an operator name; empty if they are not in the user's code.
const ScriptCalls& OperatorLines::calls_to(OpId op) const {
  const std::pair key = {graph_->origin_index(op), graph_->node(op).stack};
  const std::lock_guard lock(made_->mutex);
  const auto [at, is_new] = made_->calls.try_emplace(key);
  if (!is_new) return at->second;
  const SourceFrame* const frame = best_frame(*graph_, op);
  if (!is_of_user(frame)) return at->second;
  const std::vector<const SourceFrame*> stack = stack_of(*graph_, op);
  return at->second = calls_of(outwards(stack, frame));
}

// Searches the data flow from `op` for the nearest operators whose line is known: before it, or after it.
OperatorLines::Near OperatorLines::nearest_calls(OpId op, bool after) const {
  const Origin& origin = graph_->origin(op);
  const IrGraph& ir = origin.graph;
  const Nodes& nodes = nodes_of(op);
  std::vector<uint32_t> seen = {op - origin.first_operator};
  Near near;
  size_t begin = 0, edges = 0;
  for (; near.distance < kFarthestShared && near.calls.empty(); ++near.distance) {
    const size_t end = seen.size();
    const auto visit = [&](uint32_t node) {
      if (std::find(seen.begin(), seen.end(), node) != seen.end()) return;
      if (is_gradient_name(ir.scope(ir.nodes[node])) || ir.op_type(ir.nodes[node]) == "UpdateState") return;
      seen.push_back(node);
      if (const ScriptCalls& calls = known_calls(OpId(origin.first_operator + node)); !calls.empty())
        near.calls.push_back(&calls);
    };
    for (; begin < end; ++begin) {
      if (after) {
        for (const uint32_t reader : nodes.readers.of(seen[begin])) {
          if (edges++ >= kMostEdges) break;
          visit(reader);
        }
        continue;
      }
      for (const IrOperand& operand : ir.operands_of(ir.nodes[seen[begin]])) {
        if (edges++ >= kMostEdges) break;
        if (operand.kind == IrOperand::Kind::kNode && !operand.control) visit(operand.value);
      }
    }
  }
  static const ScriptCalls kNothing;
  if (near.calls.empty()) near.calls.push_back(&kNothing);
  return near;
}

// The likeliest line of an operator whose frames may be those of another call.
const SourceFrame* OperatorLines::between(OpId op, const SourceFrame& own) const {
  const CallSpelling spelling = spelling_of(*graph_, op, own);
  if (const SourceFrame* const line = by_operands(op, spelling); line != nullptr) return line;
  const Near before = nearest_calls(op, false), after = nearest_calls(op, true);
  const bool last = before.calls.front()->empty() || after.distance < before.distance;
  const ScriptCalls& nearest = *(last && !after.calls.front()->empty() ? after : before).calls.front();
  if (nearest.empty()) return &own;
  std::vector<LineRange> region;
  for (const ScriptCalls* const from : before.calls) {
    for (const ScriptCalls* const to : after.calls) {
      std::vector<LineRange> lines = lines_between(*from, *to);
      if (!lines.empty() && (region.empty() || lines_in(lines) < lines_in(region))) region = std::move(lines);
    }
  }
  if (!region.empty() && lines_in(region) <= kMostLines) {
    if (const SourceFrame* const line = chosen_line(op, own, region, spelling, last); line != nullptr) return line;
  }
  // The nearest operator is in the function of the own frame: a loop or several cells of one class call it.
  if (own.file == nearest.back().file && own.line > nearest.back().def && own.line <= nearest.back().end) return &own;
  return frame_of(nodes_of(op), {nearest.back().file, nearest.back().line});
}

const SourceFrame* OperatorLines::chosen_line(OpId op, const SourceFrame& own, std::span<const LineRange> region,
                                              const CallSpelling& spelling, bool last) const {
  if (std::any_of(region.begin(), region.end(), [&](const LineRange& range) { return range.has(own.file, own.line); }))
    return &own;
  const Nodes& nodes = nodes_of(op);
  std::vector<ScriptLine> calling, unquoted;
  for (const LineRange& range : region) {
    for (uint64_t line = range.first; line <= range.last; ++line) {
      const ScriptLine at = {range.file, static_cast<uint32_t>(line)};
      const std::string_view code = nodes.script.code(at);
      if (code.empty()) unquoted.push_back(at);
      if (spelling.occurs_in(code)) calling.push_back(at);
    }
  }
  if (calling.empty() && unquoted.size() != 1) return nullptr;
  return frame_of(nodes, calling.empty() ? unquoted.front() : last ? calling.back() : calling.front());
}

// The only quoted line that calls the operator with one of the fractions or parameters that it reads. Null if there is
// none.
const SourceFrame* OperatorLines::by_operands(OpId op, const CallSpelling& spelling) const {
  const IrGraph& ir = graph_->ir(op);
  const QuotedScript& script = nodes_of(op).script;
  for (IrOperand operand : ir.operands_of(graph_->node(op))) {
    if (operand.kind == IrOperand::Kind::kNode && ir.op_type(ir.nodes[operand.value]) == "Load") {
      const auto loaded = ir.operands_of(ir.nodes[operand.value]);
      if (!loaded.empty()) operand = loaded.front();
    }
    std::vector<ScriptLine> lines;
    if (operand.kind == IrOperand::Kind::kConstant) {
      const std::optional<ArgumentValue> value = parse_argument(literal_of(ir.text(Text{operand.value})));
      if (value && value->numbers.size() == 1) lines = script.lines_with(value->numbers.front());
    } else if (operand.kind == IrOperand::Kind::kParameter) {
      const std::string_view name = ir.text(ir.parameters[operand.value].name);
      lines = script.lines_with_attribute(name.substr(name.rfind('.') + 1));
    }
    std::erase_if(lines, [&](const ScriptLine& line) { return !spelling.occurs_in(script.code(line)); });
    if (lines.size() == 1) return frame_of(nodes_of(op), lines.front());
  }
  return nullptr;
}

const SourceFrame* OperatorLines::frame_of(const Nodes& nodes, const ScriptLine& at) const {
  const SourceFrame frame{.file = at.file, .code = nodes.script.code(at), .line = at.line, .end_line = at.line};
  const std::lock_guard lock(made_->mutex);
  return &made_->frames.try_emplace(at, frame).first->second;
}

const SourceFrame* OperatorLines::by_neighbours(OpId op, bool producer) const {
  const Origin& origin = graph_->origin(op);
  const Nodes& nodes = nodes_of(op);
  if (nodes.readers.empty()) return nullptr;
  uint32_t node = op - origin.first_operator;
  for (int step = 0; step < kFarthestNeighbour && node != kNoIndex; ++step) {
    if (producer) {
      const auto operands = origin.graph.operands_of(origin.graph.nodes[node]);
      const bool made = !operands.empty() && operands.front().kind == IrOperand::Kind::kNode;
      node = made ? operands.front().value : kNoIndex;
    } else {
      const auto readers = nodes.readers.of(node);
      node = readers.empty() ? kNoIndex : readers.front();
    }
    if (node == kNoIndex) break;
    const SourceFrame* const frame = best_frame(*graph_, OpId(origin.first_operator + node));
    if (is_of_user(frame)) return frame;
  }
  return nullptr;
}

}  // namespace msdump
