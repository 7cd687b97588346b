#include "ir/text/references.h"

#include <optional>

#include "base/text.h"
#include "ir/model/scan.h"
#include "ir/text/file_head.h"

namespace msdump {
namespace {

// N of "%N".
std::optional<uint32_t> number_of(std::string_view text) {
  if (text.size() < 2 || text.size() > 10 || text[0] != '%') return std::nullopt;
  uint32_t number = 0;
  for (const char c : text.substr(1)) {
    if (!is_digit(c)) return std::nullopt;
    number = number * 10 + static_cast<uint32_t>(c - '0');
  }
  return number;
}

}  // namespace

void References::begin_graph() {
  resolve_numbers();
  by_number_.clear();
  by_large_number_.clear();
  numbered_ = 0;
}

void References::add_node(uint32_t number, uint32_t index) {
  if (number == kNoIndex) return;
  if (number < 4 * numbered_ + 64) {
    if (number >= by_number_.size()) by_number_.resize(size_t{number} + 1, kNoIndex);
    by_number_[number] = index;
  } else {
    by_large_number_[number] = index;
  }
  ++numbered_;
}

void References::add_parameter(const IrParameter& parameter, uint32_t index) {
  parameters_.set(static_cast<uint32_t>(parameter.text), index);
  if (parameter.number > 0) numbered_parameters_.set(parameter.number, index);
}

uint32_t References::node_of(uint32_t number) const {
  if (number < by_number_.size() && by_number_[number] != kNoIndex) return by_number_[number];
  if (by_large_number_.empty()) return kNoIndex;
  const auto found = by_large_number_.find(number);
  return found == by_large_number_.end() ? kNoIndex : found->second;
}

IrOperand References::operand(std::string_view text, size_t place) {
  if (text.starts_with('%')) {
    if (const auto number = number_of(text)) {
      const uint32_t node = node_of(*number);
      if (node != kNoIndex) return {IrOperand::Kind::kNode, false, node};
      return unresolved(text, place, pending_);
    }
    const Text name = builder_->intern(text.substr(1));
    if (const auto parameter = parameters_.find(static_cast<uint32_t>(name))) {
      return {IrOperand::Kind::kParameter, false, *parameter};
    }
    return unresolved(text, place, pending_parameters_);
  }
  if (text.starts_with("$(") || text.starts_with('@')) return unresolved(text, place, pending_outside_);
  return {IrOperand::Kind::kConstant, false, static_cast<uint32_t>(builder_->intern(text))};
}

IrOperand References::unresolved(std::string_view text, size_t place, std::vector<uint32_t>& pending) {
  pending.push_back(static_cast<uint32_t>(place));
  return {IrOperand::Kind::kUnresolved, false, static_cast<uint32_t>(builder_->intern(text))};
}

void References::resolve_numbers() {
  IrGraph& ir = builder_->graph();
  for (const uint32_t place : pending_) {
    if (place >= ir.operands.size()) continue;
    IrOperand& operand = ir.operands[place];
    const auto number = number_of(ir.text(Text{operand.value}));
    const uint32_t node = number ? node_of(*number) : kNoIndex;
    if (node != kNoIndex) operand = {IrOperand::Kind::kNode, false, node};
  }
  pending_.clear();
}

void References::finish() {
  begin_graph();
  IrGraph& ir = builder_->graph();
  for (uint32_t i = 0; i < ir.graphs.size(); ++i) {
    const auto name = static_cast<uint32_t>(ir.graphs[i].name);
    if (name != 0 && !graphs_.find(name)) graphs_.set(name, i);
  }
  for (const uint32_t place : pending_outside_) {
    if (place < ir.operands.size()) resolve_outside(ir.operands[place]);
  }
  for (const uint32_t place : pending_parameters_) {
    if (place < ir.operands.size()) resolve_parameter(ir.operands[place]);
  }
  find_parents();
}

// "%para1_x"
void References::resolve_parameter(IrOperand& operand) {
  const std::string_view text = builder_->graph().text(Text{operand.value}).substr(1);
  auto parameter = parameters_.find(static_cast<uint32_t>(builder_->intern(text)));
  ParameterLine line;
  if (!parameter && parse_parameter(builder_->graph().text(Text{operand.value}), line) && line.number > 0) {
    parameter = numbered_parameters_.find(line.number);
  }
  if (parameter) operand = {IrOperand::Kind::kParameter, false, *parameter};
}

// "@g", "$(@g:x)", "$(g:x)".
void References::resolve_outside(IrOperand& operand) {
  std::string_view text = builder_->graph().text(Text{operand.value});
  const bool inside = text.starts_with("$(") && text.ends_with(')');
  if (inside) text = text.substr(2, text.size() - 3);
  if (text.starts_with('@')) text.remove_prefix(1);
  const size_t colon = inside ? text.find(':') : std::string_view::npos;
  const Text name = builder_->intern(text.substr(0, colon));
  const auto graph = graphs_.find(static_cast<uint32_t>(name));
  if (!graph) return;
  if (!inside) {
    operand = {IrOperand::Kind::kGraph, false, *graph};
  } else if (colon != std::string_view::npos) {
    const Labels& labels = labels_of(*graph);
    const auto found = labels.find(text.substr(colon + 1));
    if (found != labels.end()) operand = found->second;
  }
}

// Debug names and parameters of a graph; the first of equal ones. The parameters of the entry graph are in the head.
const References::Labels& References::labels_of(uint32_t graph) {
  const auto place = labels_.try_emplace(graph);
  Labels& labels = place.first->second;
  if (!place.second) return labels;
  const IrGraph& ir = builder_->graph();
  const IrSubgraph& subgraph = ir.graphs[graph];
  const auto add_parameter = [&](uint32_t i) {
    labels.try_emplace(ir.text(ir.parameters[i].text), IrOperand{IrOperand::Kind::kParameter, false, i});
  };
  for (uint32_t i = 0; i < subgraph.parameter_count; ++i) add_parameter(subgraph.first_parameter + i);
  if (subgraph.name == ir.facts.entry) {
    for (uint32_t i = 0; i < ir.parameters.size() && ir.parameters[i].graph == kNoIndex; ++i) add_parameter(i);
  }
  for (uint32_t i = subgraph.first_node; i < subgraph.first_node + subgraph.node_count; ++i) {
    if (ir.nodes[i].debug_name == Text::kEmpty) continue;
    labels.try_emplace(ir.text(ir.nodes[i].debug_name), IrOperand{IrOperand::Kind::kNode, false, i});
  }
  return labels;
}

void References::find_parents() {
  for (IrSubgraph& graph : builder_->graph().graphs) {
    const auto parent = graphs_.find(static_cast<uint32_t>(graph.parent_name));
    if (graph.parent_name != Text::kEmpty && parent) graph.parent = *parent;
  }
}

}  // namespace msdump
