#include "graph/arguments/questions.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/containers.h"
#include "ge/operators/operator_properties.h"
#include "ge/operators/operator_table.h"
#include "graph/arguments/argument_value.h"
#include "ir/text/attributes.h"

namespace msdump {
namespace {

using From = InputEdge::From;

const ge::OperatorTable& types() { return ge::OperatorTable::get(); }

std::optional<Shape> shape_of(const IrGraph& ir, std::span<const uint32_t> list) {
  return list.empty() ? std::nullopt : ir.types[list.front()].shape;
}

// An argument as two graphs may write it: an axis from the front or the back, a number with more digits or fewer.
std::string canonical(std::string_view literal, const ge::Argument* known, std::optional<size_t> rank) {
  std::optional<ArgumentValue> value = parse_argument(literal_of(literal));
  if (!value) return std::string(literal);
  const bool is_axis = known != nullptr && known->kind == ge::ArgumentKind::kAxis;
  std::string text;
  if (is_axis) {
    for (double& axis : value->numbers) {
      if (axis < 0 && rank) axis += static_cast<double>(*rank);
    }
    std::sort(value->numbers.begin(), value->numbers.end());
  }
  for (const double number : value->numbers) text += fmt::format("{:.5g},", number);
  return text;
}

// An argument of an operator: an attribute, or a constant in a slot that stands for one.
struct Argument {
  std::string name;
  const ge::Argument* known = nullptr;
  std::string_view value;
};

std::vector<Argument> arguments_of(const OpGraph& graph, OpId op, const std::vector<InputEdge>& edges,
                                   std::vector<bool>& is_argument) {
  const IrGraph& ir = graph.ir(op);
  std::vector<Argument> arguments;
  std::vector<IrAttribute> attributes;
  parse_attributes(ir.text(graph.node(op).arguments), attributes);
  for (const IrAttribute& one : attributes) {
    const ge::Argument* const known = types().argument(one.key);
    arguments.push_back({std::string(known != nullptr ? known->name : one.key), known, one.value});
  }
  is_argument.assign(edges.size(), false);
  for (size_t i = 0; i < edges.size(); ++i) {
    if (edges[i].from != From::kConstant || edges[i].constant.empty()) continue;
    const ge::Argument* const known =
        types().argument_at(graph.op_type(op), edges[i].slot, static_cast<uint32_t>(edges.size()));
    if (known == nullptr) continue;
    is_argument[i] = true;
    arguments.push_back({std::string(known->name), known, edges[i].constant});
  }
  return arguments;
}

// True for types that a compiler inserts to hand a value on, in another place or layout.
bool hands_on(std::string_view type) {
  const std::string_view effect = types().inserted(type);
  return effect == "identity" || effect == "layout only";
}

bool is_float(const IrGraph& ir, std::span<const uint32_t> list) {
  const auto dtype = list.empty() ? std::nullopt : ir.types[list.front()].known_dtype();
  return dtype && kind_of(*dtype) == DTypeKind::kFloat;
}

std::string type_text(const IrGraph& ir, const IrParameter& parameter) {
  if (parameter.host == kNoIndex) return {};
  const IrType& type = ir.types[parameter.host];
  return type.shape ? fmt::format("{} {}", type.dtype, fmt::join(*type.shape, "x")) : std::string(type.dtype);
}

// The names of parameters. Values between the graphs of one network have numbers, which mean nothing in another run.
std::set<std::string_view> parameter_names(const OpGraph& graph) {
  std::set<std::string_view> names;
  for (const Origin& origin : graph.origins()) {
    for (const IrParameter& one : origin.graph.parameters) {
      const std::string_view name = origin.graph.text(one.name);
      if (name.find_first_not_of("_0123456789") != std::string_view::npos) names.insert(name);
    }
  }
  return names;
}

// The weights that only this graph has, by type, in the order of the graph.
std::map<std::string, std::vector<std::string_view>> weights_alone(const OpGraph& graph,
                                                                   const std::set<std::string_view>& others) {
  std::map<std::string, std::vector<std::string_view>> result;
  std::set<std::string_view> seen;
  for (const Origin& origin : graph.origins()) {
    const IrGraph& ir = origin.graph;
    for (const IrParameter& one : ir.parameters) {
      const std::string_view name = ir.text(one.name);
      if (is_kept(ir, one) && others.count(name) == 0 && seen.insert(name).second)
        result[type_text(ir, one)].push_back(name);
    }
  }
  return result;
}

void collect_arguments(const OpGraph& graph, std::set<std::pair<std::string, std::string>>& into) {
  std::vector<bool> is_argument;
  for (OpId op{0}; op < graph.size(); ++op) {
    if (!graph.has_kernel(op)) continue;
    for (Argument& one : arguments_of(graph, op, inputs_of(graph, op), is_argument))
      into.emplace(types().family(graph.op_type(op)), std::move(one.name));
  }
}

}  // namespace

bool of_one_compiler(const OpGraph& a, const OpGraph& b) {
  const auto is_of_ge = [](const OpGraph& graph) {
    return std::any_of(graph.origins().begin(), graph.origins().end(),
                       [](const Origin& origin) { return origin.kind == OriginKind::kGeGraph; });
  };
  return is_of_ge(a) == is_of_ge(b);
}

QuestionTerms common_terms(const OpGraph& a, const OpGraph& b) {
  QuestionTerms terms;
  std::set<std::pair<std::string, std::string>> of_a, of_b;
  collect_arguments(a, of_a);
  collect_arguments(b, of_b);
  std::set_intersection(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                        std::inserter(terms.arguments, terms.arguments.end()));
  const std::set<std::string_view> names_a = parameter_names(a), names_b = parameter_names(b);
  std::set_intersection(names_a.begin(), names_a.end(), names_b.begin(), names_b.end(),
                        std::inserter(terms.parameters, terms.parameters.end()));
  const auto alone_a = weights_alone(a, names_b), alone_b = weights_alone(b, names_a);
  uint64_t number = 0;
  for (const auto& [type, names] : alone_a) {
    const auto others = alone_b.find(type);
    if (others == alone_b.end() || others->second.size() != names.size()) continue;
    for (size_t i = 0; i < names.size(); ++i) {
      ++number;
      terms.renamed.emplace(names[i], number);
      terms.renamed.emplace(others->second[i], number);
    }
  }
  return terms;
}

GraphQuestions::GraphQuestions(const OpGraph& graph, const QuestionTerms& terms, const SameValues& same)
    : graph_(graph), terms_(terms), same_(same), questions_(graph.size()), passed_on_(graph.size()) {
  enum class State : uint8_t { kNew, kOpen, kDone };
  std::vector<State> states(graph.size(), State::kNew);
  std::vector<OpId> open;
  for (OpId first{0}; first < graph.size(); ++first) {
    if (states[first] != State::kNew || !graph.has_kernel(first)) continue;
    open.push_back(first);
    while (!open.empty()) {
      const OpId op = open.back();
      if (states[op] == State::kNew) {
        states[op] = State::kOpen;
        for (const InputEdge& edge : inputs_of(graph, op)) {
          if (edge.from == From::kOperator && states[edge.op] == State::kNew) open.push_back(edge.op);
        }
        continue;
      }
      open.pop_back();
      if (states[op] == State::kDone) continue;
      states[op] = State::kDone;
      ask(op);
    }
  }
}

void GraphQuestions::ask(OpId op) {
  const std::vector<InputEdge> edges = inputs_of(graph_, op);
  passed_on_[op] = passed_on(op, edges);
  questions_[op] = question_of(op, edges);
  all_.insert(questions_[op]);
}

uint64_t GraphQuestions::of(OpId op, const InputEdge& edge) const {
  if (const auto known = same_.find({op, edge.slot}); known != same_.end()) return known->second;
  switch (edge.from) {
    case From::kOperator:
      if (passed_on_[edge.op] && edge.output == 0) return *passed_on_[edge.op];
      return mix_hash(questions_[edge.op], edge.output + 1);
    case From::kParameter: {
      const IrGraph& ir = graph_.ir(op);
      const IrParameter& parameter = ir.parameters[edge.parameter];
      const std::string_view name = ir.text(parameter.name);
      const auto renamed = terms_.renamed.find(name);
      const bool is_named = is_kept(ir, parameter) || terms_.parameters.count(name) > 0;
      const uint64_t number = renamed != terms_.renamed.end() ? renamed->second
                              : is_named                      ? text_hash(name)
                                                              : text_hash(type_text(ir, parameter));
      return mix_hash(text_hash("parameter"), number);
    }
    case From::kConstant: return mix_hash(text_hash("constant"), text_hash(canonical(edge.constant, nullptr, {})));
    case From::kUnknown: break;
  }
  return text_hash("unknown");
}

std::optional<uint64_t> GraphQuestions::passed_on(OpId op, const std::vector<InputEdge>& edges) const {
  if (edges.empty() || edges.front().from == From::kConstant) return std::nullopt;
  const std::string_view type = graph_.op_type(op);
  const IrGraph& ir = graph_.ir(op);
  const Signature host = graph_.node(op).host;
  const bool is_rounding = ge::has_property(type, ge::OperatorProperty::kCasts) && is_float(ir, ir.inputs(host)) &&
                           is_float(ir, ir.outputs(host));
  const auto from = shape_of(ir, ir.inputs(host)), to = shape_of(ir, ir.outputs(host));
  const bool keeps_shape = ge::has_property(type, ge::OperatorProperty::kChangesShape) && from && from == to;
  if (!is_rounding && !keeps_shape && !hands_on(type)) return std::nullopt;
  return of(op, edges.front());
}

uint64_t GraphQuestions::question_of(OpId op, const std::vector<InputEdge>& edges) const {
  const std::string_view type = graph_.op_type(op);
  const IrGraph& ir = graph_.ir(op);
  const Signature host = graph_.node(op).host;
  // Reshapes and squeezes of a value to one shape are one question, however many there are.
  if (ge::has_property(type, ge::OperatorProperty::kChangesShape) && !edges.empty()) {
    uint64_t question = mix_hash(text_hash("reshape"), of(op, edges.front()));
    if (const auto shape = shape_of(ir, ir.outputs(host)))
      for (const int64_t size : *shape) question = mix_hash(question, static_cast<uint64_t>(size));
    return question;
  }
  const std::string family = types().family(type);
  uint64_t question = text_hash(family);
  std::vector<bool> is_argument;
  const auto shape = shape_of(ir, ir.inputs(host));
  const auto rank = shape ? std::optional(shape->size()) : std::nullopt;
  std::set<std::pair<std::string, std::string>> arguments;
  for (Argument& one : arguments_of(graph_, op, edges, is_argument)) {
    if (terms_.arguments.count({family, one.name}) == 0) continue;
    arguments.emplace(std::move(one.name), canonical(one.value, one.known, rank));
  }
  for (const auto& [name, value] : arguments)
    question = mix_hash(mix_hash(question, text_hash(name)), text_hash(value));
  std::vector<uint64_t> read;
  for (size_t i = 0; i < edges.size(); ++i) {
    if (!is_argument[i]) read.push_back(of(op, edges[i]));
  }
  if (ge::has_property(type, ge::OperatorProperty::kCommutes)) std::sort(read.begin(), read.end());
  for (const uint64_t one : read) question = mix_hash(question, one);
  return question;
}

}  // namespace msdump
