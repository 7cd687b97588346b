#include "support/noisy_net/net.h"

#include <algorithm>

#include <fmt/format.h>

namespace msdump::noisy {

int64_t elements(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t dim : shape) count *= dim;
  return count;
}

Shape broadcast(const Shape& left, const Shape& right) {
  Shape result = left.size() >= right.size() ? left : right;
  const Shape& other = left.size() >= right.size() ? right : left;
  for (size_t i = 0; i < other.size(); ++i) {
    int64_t& dim = result[result.size() - other.size() + i];
    dim = std::max(dim, other[i]);
  }
  return result;
}

std::vector<uint32_t> Net::readers(Ref value) const {
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    if (std::find(nodes[i].inputs.begin(), nodes[i].inputs.end(), value) != nodes[i].inputs.end()) found.push_back(i);
  }
  return found;
}

int64_t Net::size(Ref value) const { return elements(values[value].shape); }

Ref NetBuilder::add(NetValue value) {
  net_.values.push_back(std::move(value));
  return static_cast<Ref>(net_.values.size() - 1);
}

Ref NetBuilder::input(const std::string& name, Shape shape, Numbers values, NumberKind kind) {
  NetValue value;
  value.from = NetValue::From::kInput;
  value.kind = kind;
  value.shape = std::move(shape);
  value.name = name;
  value.initial = std::move(values);
  return add(std::move(value));
}

Ref NetBuilder::parameter(const std::string& name, Shape shape, Numbers values, bool trained) {
  const Ref made = input(name, std::move(shape), std::move(values));
  net_.values[made].from = NetValue::From::kParameter;
  net_.values[made].trained = trained;
  return made;
}

Ref NetBuilder::scalar(double value, NumberKind kind) {
  const Ref made = input({}, {}, {value}, kind);
  net_.values[made].from = NetValue::From::kConstant;
  return made;
}

Ref NetBuilder::number(double value) {
  const Ref made = scalar(static_cast<float>(value), NumberKind::kFloat);
  net_.values[made].written = false;
  return made;
}

Ref NetBuilder::tuple(const std::vector<int64_t>& values) {
  const Ref made = scalar(0, NumberKind::kInt64);
  net_.values[made].shape = {static_cast<int64_t>(values.size())};
  net_.values[made].initial.assign(values.begin(), values.end());
  return made;
}

// Forward operators are numbered within their scope, those of the gradient by type.
std::string NetBuilder::new_name(const NetNode& node) {
  const std::string last = node.scope.substr(node.scope.rfind('/') + 1);
  const std::string where = node.backward ? "Gradients/" + last : node.scope;
  return fmt::format("{}/{}-op{}", node.scope, node.type, names_[where + "/" + node.type]++);
}

NetNode& NetBuilder::node(std::string_view type, std::vector<Ref> inputs, const std::vector<Shape>& outputs,
                          NumberKind kind) {
  const uint32_t forward = prefix_of_key.empty() ? forward_++ : kAbsent;
  const bool changed = forward != kAbsent && forward == change_.forward;
  if (changed && change_.kind == Change::Kind::kExchanged) std::swap(inputs[0], inputs[1]);
  if (changed && change_.kind == Change::Kind::kConstant) {
    NetValue other = net_.values[inputs[change_.slot]];
    other.initial[0] = change_.constant;
    inputs[change_.slot] = add(std::move(other));
  }
  NetNode made;
  made.type = type;
  made.scope = scope;
  made.line = line++;
  made.backward = scope.starts_with("Gradients");
  made.key = forward != kAbsent ? fmt::format("{}", forward)
                                : fmt::format("{}.{}{}", prefix_of_key, type, keys_[prefix_of_key + made.type]++);
  made.name = loop ? fmt::format("{}/{}-op0", scope, type) : new_name(made);
  const auto index = static_cast<uint32_t>(net_.nodes.size());
  for (uint32_t slot = 0; slot < outputs.size(); ++slot) {
    NetValue value;
    value.shape = outputs[slot];
    value.kind = slot == 0 ? kind : NumberKind::kFloat;
    value.node = index;
    value.slot = slot;
    made.outputs.push_back(add(std::move(value)));
  }
  made.inputs = std::move(inputs);
  if (changed && change_.kind == Change::Kind::kMissing) {
    // What would have read the result reads the input. The caller sees an operator that is in no list.
    static thread_local NetNode none;
    none = std::move(made);
    none.outputs[0] = none.inputs[0];
    return none;
  }
  net_.nodes.push_back(std::move(made));
  if (changed && change_.kind == Change::Kind::kAdded) {
    static thread_local NetNode shown;
    shown = net_.nodes.back();
    prefix_of_key = fmt::format("{}+", forward);
    shown.outputs[0] = op(change_.type, {shown.outputs[0]}, outputs[0]);
    prefix_of_key.clear();
    return shown;
  }
  return net_.nodes.back();
}

Ref NetBuilder::binary(std::string_view type, Ref left, Ref right) {
  return op(type, {left, right}, broadcast(shape(left), shape(right)));
}

}  // namespace msdump::noisy
