#include "support/noisy_net/fault_kinds.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <map>
#include <string_view>

namespace msdump::noisy {
namespace {

bool is_one_of(const std::string& type, std::initializer_list<std::string_view> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

bool is_square(const Shape& shape) { return shape.size() == 2 && shape[0] == shape[1] && shape[0] > 1; }

// Computes nothing, or chooses.
bool only_moves(const std::string& type) {
  return is_one_of(type, {"Reshape", "Transpose", "Tile", "Slice", "Concat", "Split", "Gather", "Equal", "Cast"});
}

std::map<std::string, const NetNode*> by_key(const Net& net) {
  std::map<std::string, const NetNode*> result;
  for (const NetNode& node : net.nodes) result[node.key] = &node;
  return result;
}

bool same_constants(const Net& a, const NetNode& one, const Net& b, const NetNode& other) {
  if (one.epsilon != other.epsilon || one.inputs.size() != other.inputs.size()) return one.epsilon == other.epsilon;
  for (size_t slot = 0; slot < one.inputs.size(); ++slot) {
    const NetValue &left = a.values[one.inputs[slot]], &right = b.values[other.inputs[slot]];
    if (left.from == NetValue::From::kConstant && right.from == NetValue::From::kConstant &&
        left.initial != right.initial)
      return false;
  }
  return true;
}

// The operators that make its inputs and those that read its outputs.
std::vector<uint32_t> neighbours(const Net& net, const NetNode& node) {
  std::vector<uint32_t> result;
  for (const Ref input : node.inputs) {
    if (net.values[input].node != kAbsent) result.push_back(net.values[input].node);
  }
  for (const Ref output : node.outputs) {
    for (const uint32_t reader : net.readers(output)) result.push_back(reader);
  }
  return result;
}

// False where the operator does not lend itself.
bool set_change(const Net& net, const NetNode& node, ScriptFault& fault, std::mt19937_64& random) {
  const Shape &out = net.values[node.outputs[0]].shape, &in = net.values[node.inputs[0]].shape;
  Change& change = fault.change;
  if (fault.kind == "missing") {
    change.kind = Change::Kind::kMissing;
    return in == out && node.outputs.size() == 1 && !is_one_of(node.type, {"Reshape", "Square", "Exp"});
  }
  if (fault.kind == "added") {
    change.kind = Change::Kind::kAdded;
    change.type = random() % 2 == 0 ? "Tanh" : "Neg";
    return node.outputs.size() == 1 && elements(out) >= 8;
  }
  if (fault.kind == "exchanged") {
    change.kind = Change::Kind::kExchanged;
    if (node.inputs.size() < 2 || net.values[node.inputs[1]].from == NetValue::From::kConstant) return false;
    const bool of_order =
        is_one_of(node.type, {"Sub", "RealDiv", "Concat"}) || (node.type == "MatMul" && is_square(in));
    return of_order && net.values[node.inputs[1]].shape == in;
  }
  change.kind = Change::Kind::kConstant;
  if (fault.kind == "axis") {
    change.slot = 1;
    change.constant = static_cast<double>(in.size()) - 2;
    return node.type == "Softmax";
  }
  for (uint32_t slot = 0; slot < node.inputs.size(); ++slot) {
    const NetValue& value = net.values[node.inputs[slot]];
    if (value.from != NetValue::From::kConstant || value.kind != NumberKind::kFloat) continue;
    const bool epsilon = value.initial[0] < 1e-3;
    change.slot = slot;
    change.constant = static_cast<float>(epsilon ? 0.1 : value.initial[0] * (random() % 2 == 0 ? 2 : 0.8));
    return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> kinds_of_fault(const Net& net, const NetNode& node, bool full) {
  const std::string& type = node.type;
  const Shape& out = net.values[node.outputs[0]].shape;
  const Shape& in = net.values[node.inputs[0]].shape;
  if (only_moves(type) || elements(out) < 8) return {};
  std::vector<std::string> kinds{"factor"};
  if (type.find("Norm") != std::string::npos) kinds.insert(kinds.end(), {"epsilon", "mantissa"});
  if (is_one_of(type, {"MatMul", "BatchMatMul", "Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter", "Softmax",
                       "GeLU", "Tanh", "Exp", "ReduceSum", "GeLUGrad"}))
    kinds.emplace_back("mantissa");
  if (is_one_of(type, {"BiasAdd", "AddN"}) || (type == "Add" && in == out)) kinds.emplace_back("term");
  if (is_one_of(type,
                {"BiasAddGrad", "LayerNormGrad", "BatchNormGrad", "Conv2DBackpropFilter", "ReduceSum", "ReduceMean"}) ||
      (type == "MatMul" && node.backward && net.values[node.inputs[2]].initial[0] != 0))
    kinds.emplace_back("part");
  if (type == "MatMul" && is_square(net.values[node.inputs[1]].shape)) kinds.emplace_back("transposed");
  if (type == "Softmax" && in.size() > 1 && in[in.size() - 2] > 1) kinds.emplace_back("axis");
  if (full && !node.backward) kinds.emplace_back("nan");
  return kinds;
}

void fault_of_kind(const Net& net, const std::string& kind, std::mt19937_64& random, KernelFault& fault) {
  static constexpr double kFactors[] = {0.5, 1.1, 1.5, 2};
  if (kind == "factor") fault.twist.factor = kFactors[random() % 4];
  if (kind == "epsilon") fault.twist.epsilon = random() % 2 == 0 ? 1e-2 : 0.1;
  if (kind == "mantissa") fault.twist.mantissa = 3;
  if (kind == "term") fault.twist.no_term = true;
  if (kind == "part") fault.twist.part = true;
  if (kind == "transposed") fault.twist.transposed = true;
  if (kind == "axis") fault.twist.axis = static_cast<int>(net.values[net.nodes[fault.node].inputs[0]].shape.size()) - 2;
  if (kind == "nan") fault.nan = true;
}

void set_notch(Twist& twist, const std::string& kind, int notch) {
  if (kind == "epsilon") {
    twist.epsilon = std::pow(10, -8 + 0.25 * notch);
  } else {
    twist.mantissa = std::max(22 - notch / 2, 2);
  }
}

Numbers wrong_values(const NetValue& parameter, std::mt19937_64& random) {
  Numbers values = parameter.initial;
  const auto kind = random() % 3;
  if (is_square(parameter.shape) && kind == 0) {
    const auto width = static_cast<size_t>(parameter.shape[0]);
    for (size_t i = 0; i < values.size(); ++i) values[i] = parameter.initial[i % width * width + i / width];
  } else if (kind == 1 && values.size() > 1) {
    std::rotate(values.begin(), values.begin() + 1, values.end());
  } else {
    for (double& value : values) value = static_cast<float>(value * 1.25);
  }
  return values;
}

std::optional<ScriptFault> random_change(const Net& net, std::mt19937_64& random) {
  static constexpr const char* kKinds[] = {"missing", "added", "exchanged", "constant", "axis"};
  ScriptFault fault;
  fault.kind = kKinds[random() % std::size(kKinds)];
  for (int attempt = 0; attempt < 60; ++attempt) {
    fault.node = static_cast<uint32_t>(random() % net.nodes.size());
    const NetNode& node = net.nodes[fault.node];
    if (net.loops || node.key.find_first_not_of("0123456789") != std::string::npos) continue;
    fault.change.forward = static_cast<uint32_t>(std::stoul(node.key));
    if (set_change(net, node, fault, random)) return fault;
  }
  return std::nullopt;
}

Planted answers_to(const Net& reference, const Net& wrong, const Net& healthy, const ScriptFault& fault) {
  Planted planted;
  planted.kind = fault.kind;
  planted.where = reference.nodes[fault.node].name;
  const auto ours = by_key(wrong), theirs = by_key(reference), before = by_key(healthy);
  const auto answer = [&](const std::string& key) {
    if (ours.contains(key)) planted.in_candidate.insert(ours.at(key)->name);
    if (theirs.contains(key)) planted.in_reference.insert(theirs.at(key)->name);
  };
  const std::string key = reference.nodes[fault.node].key;
  answer(key);
  for (const auto& [one, node] : ours) {
    if (!before.contains(one) || !same_constants(wrong, *node, healthy, *before.at(one))) answer(one);
  }
  for (const auto& [one, node] : before) {
    if (!ours.contains(one)) answer(one);
  }
  if (fault.kind != "missing" && fault.kind != "added") return planted;
  for (const uint32_t one : neighbours(reference, *theirs.at(key))) answer(reference.nodes[one].key);
  for (const NetNode& node : wrong.nodes) {
    if (!node.key.starts_with(key + "+")) continue;
    for (const uint32_t one : neighbours(wrong, node)) answer(wrong.nodes[one].key);
  }
  return planted;
}

}  // namespace msdump::noisy
