#include "support/noisy_net/gradients.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include <fmt/format.h>

namespace msdump::noisy {
namespace {

std::vector<int64_t> axes_to_sum(const Shape& from, const Shape& to) {
  std::vector<int64_t> axes;
  const size_t more = from.size() - to.size();
  for (size_t i = 0; i < from.size(); ++i) {
    if (i < more || (to[i - more] == 1 && from[i] != 1)) axes.push_back(static_cast<int64_t>(i));
  }
  return axes;
}

class Backward {
 public:
  explicit Backward(NetBuilder& net) : net_(net), needed_(net.net_.values.size()) {
    for (size_t i = 0; i < needed_.size(); ++i) needed_[i] = net.net_.values[i].trained;
    for (const NetNode& node : net.net_.nodes) {
      const bool any = std::any_of(node.inputs.begin(), node.inputs.end(), [&](Ref input) { return needed_[input]; });
      for (const Ref output : node.outputs) needed_[output] = any;
    }
  }

  void run(Ref loss) {
    const size_t forward = net_.net_.nodes.size();
    parts_[loss] = {net_.number(1)};
    for (size_t i = forward; i-- > 0;) step(net_.net_.nodes[i]);
  }

  // The sum of what reached it.
  Ref of(Ref value) {
    const auto found = parts_.find(value);
    if (found == parts_.end()) return kAbsent;
    if (found->second.size() > 1) {
      net_.scope = "Gradients/Default/net-Net";
      const NetValue& summed = net_.net_.values[value];
      net_.prefix_of_key = summed.node == kAbsent
                               ? "p" + summed.name
                               : fmt::format("{}.{}s", net_.net_.nodes[summed.node].key, summed.slot);
      const Ref sum = net_.op("AddN", found->second, net_.shape(value));
      found->second = {sum};
    }
    return found->second[0];
  }

 private:
  void give(Ref value, const std::function<Ref()>& gradient) {
    if (needed_[value]) parts_[value].push_back(gradient());
  }

  // Of a gradient with the shape of the result, where `to` was broadcast.
  Ref reduced(Ref gradient, Ref to) {
    const Shape shape = net_.shape(to);
    const auto axes = axes_to_sum(net_.shape(gradient), shape);
    if (axes.empty()) return gradient;
    Shape kept;
    const Shape from = net_.shape(gradient);
    for (size_t i = 0; i < from.size(); ++i) {
      if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) == axes.end()) kept.push_back(from[i]);
    }
    const Ref sum = net_.op(
        "ReduceSum", {gradient, net_.tuple(axes), net_.scalar(0, NumberKind::kBool), net_.scalar(0, NumberKind::kBool)},
        kept);
    return kept == shape ? sum : reshape(sum, shape);
  }
  Ref reshape(Ref x, const Shape& shape) { return net_.op("Reshape", {x, net_.tuple(shape)}, shape); }

  // The gradient of a reduction, with the shape of what was reduced.
  Ref spread(Ref gradient, const NetNode& node) {
    const Shape whole = net_.shape(node.inputs[0]);
    Shape ones = whole;
    for (const double axis : net_.net_.values[node.inputs[1]].initial)
      ones[static_cast<size_t>(axis < 0 ? axis + static_cast<double>(ones.size()) : axis)] = 1;
    std::vector<int64_t> times;
    for (size_t i = 0; i < whole.size(); ++i) times.push_back(whole[i] / ones[i]);
    const Ref shaped = net_.shape(gradient) == ones ? gradient : reshape(gradient, ones);
    return net_.op("Tile", {shaped, net_.tuple(times)}, whole);
  }

  void products(const NetNode& node, Ref dy) {
    const std::string type = node.type;
    const Ref a = node.inputs[0], b = node.inputs[1];
    const bool ta = net_.net_.values[node.inputs[2]].initial[0] != 0;
    const bool tb = net_.net_.values[node.inputs[3]].initial[0] != 0;
    const auto product = [&](Ref left, Ref right, bool first, bool second, Ref like) {
      return net_.op(type, {left, right, net_.scalar(first, NumberKind::kBool), net_.scalar(second, NumberKind::kBool)},
                     net_.shape(like));
    };
    give(a, [&] { return ta ? product(b, dy, tb, true, a) : product(dy, b, false, !tb, a); });
    give(b, [&] { return tb ? product(dy, a, true, ta, b) : product(a, dy, !ta, false, b); });
  }

  void elementwise(const NetNode& node, Ref dy) {
    const std::string& type = node.type;
    const Ref x = node.inputs[0];
    const Ref y = node.outputs[0];
    if (type == "Neg") give(x, [&] { return net_.unary("Neg", dy); });
    if (type == "Exp") give(x, [&] { return net_.binary("Mul", y, dy); });
    if (type == "Log") give(x, [&] { return net_.binary("RealDiv", dy, x); });
    if (type == "Square") give(x, [&] { return net_.binary("Mul", dy, net_.binary("Mul", x, net_.number(2))); });
    if (type == "ReLU") give(x, [&] { return net_.op("ReluGrad", {dy, y}, net_.shape(x)); });
    if (type == "GeLU") give(x, [&] { return net_.op("GeLUGrad", {dy, x, y}, net_.shape(x)); });
    for (const std::string_view one : {"Tanh", "Sigmoid", "Sqrt", "Rsqrt"}) {
      if (type == one) give(x, [&] { return net_.op(fmt::format("{}Grad", one), {y, dy}, net_.shape(x)); });
    }
    if (node.inputs.size() < 2) return;
    const Ref other = node.inputs[1];
    if (type == "Add" || type == "Sub") {
      give(x, [&] { return reduced(dy, x); });
      give(other, [&] { return reduced(type == "Add" ? dy : net_.unary("Neg", dy), other); });
    } else if (type == "Mul") {
      give(x, [&] { return reduced(net_.binary("Mul", dy, other), x); });
      give(other, [&] { return reduced(net_.binary("Mul", dy, x), other); });
    } else if (type == "RealDiv") {
      give(x, [&] { return reduced(net_.binary("RealDiv", dy, other), x); });
      give(other, [&] {
        const Ref part = net_.binary("RealDiv", net_.binary("Mul", dy, y), other);
        return reduced(net_.unary("Neg", part), other);
      });
    }
  }

  void normalisation(const NetNode& node, Ref dy) {
    const std::vector<Ref> in = node.inputs, out = node.outputs;
    std::vector<Ref> operands;
    std::string type = node.type + "Grad";
    const double epsilon = net_.net_.values[node.type == "LayerNorm" ? in[5] : in[6]].initial[0];
    if (node.type == "LayerNorm") {
      operands = {in[0], dy, out[2], out[1], in[1], in[3], in[4]};
    } else {
      operands = {dy, in[0], in[1], out[3], out[4], out[2], in[5], in[6], in[8]};
    }
    NetNode& made = net_.node(type, operands, {net_.shape(in[0]), net_.shape(in[1]), net_.shape(in[1])});
    made.epsilon = epsilon;
    const std::vector<Ref> results = made.outputs;
    for (size_t i = 0; i < 3; ++i) give(in[i], [&] { return results[i]; });
  }

  void pieces(const NetNode& node, Ref dy) {
    const std::vector<Ref> in = node.inputs;
    const auto axis = static_cast<size_t>(net_.net_.values[in.back()].initial[0]);
    std::vector<int64_t> begin(net_.shape(dy).size());
    for (size_t i = 0; i + 1 < in.size(); ++i) {
      const Shape shape = net_.shape(in[i]);
      give(in[i], [&] { return net_.op("Slice", {dy, net_.tuple(begin), net_.tuple(shape)}, shape); });
      begin[axis] += shape[axis];
    }
  }

  void split(const NetNode& node) {
    std::vector<Ref> parts;
    for (const Ref output : node.outputs) {
      const Ref part = of(output);
      if (part == kAbsent) return;
      parts.push_back(part);
    }
    enter(node);
    parts.push_back(node.inputs[1]);
    give(node.inputs[0], [&] { return net_.op("Concat", parts, net_.shape(node.inputs[0])); });
  }

  void softmax(const NetNode& node, Ref dy) {
    const Ref y = node.outputs[0];
    net_.scope = "Expand/_SoftmaxBackward";
    const Ref product = net_.binary("Mul", dy, y);
    Shape ones = net_.shape(y);
    const auto axis = static_cast<int64_t>(net_.net_.values[node.inputs[1]].initial[0]);
    ones[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(ones.size()) : axis)] = 1;
    const Ref sum = net_.op(
        "ReduceSum",
        {product, net_.tuple({axis}), net_.scalar(1, NumberKind::kBool), net_.scalar(0, NumberKind::kBool)}, ones);
    const Ref left = net_.binary("Sub", dy, sum);
    give(node.inputs[0], [&] { return net_.binary("Mul", y, left); });
  }

  void others(const NetNode& node, Ref dy) {
    const std::string& type = node.type;
    const std::vector<Ref> in = node.inputs, out = node.outputs;
    const auto shape = [&](size_t i) { return net_.shape(in[i]); };
    if (type == "BiasAdd") {
      give(in[0], [&] { return dy; });
      give(in[1], [&] { return net_.op("BiasAddGrad", {dy, in[2]}, shape(1)); });
    } else if (type == "Reshape") {
      give(in[0], [&] { return reshape(dy, shape(0)); });
    } else if (type == "Transpose") {
      std::vector<int64_t> back(shape(0).size());
      for (size_t i = 0; i < back.size(); ++i)
        back[static_cast<size_t>(net_.net_.values[in[1]].initial[i])] = static_cast<int64_t>(i);
      give(in[0], [&] { return net_.op("Transpose", {dy, net_.tuple(back)}, shape(0)); });
    } else if (type == "Gather") {
      const Shape rows{net_.net_.values[in[1]].shape[0], shape(0)[1]};
      give(in[0], [&] {
        return net_.op("UnsortedSegmentSum",
                       {net_.shape(dy) == rows ? dy : reshape(dy, rows), in[1],
                        net_.scalar(static_cast<double>(shape(0)[0]), NumberKind::kInt64)},
                       shape(0));
      });
    } else if (type == "ReduceSum") {
      give(in[0], [&] { return spread(dy, node); });
    } else if (type == "ReduceMean") {
      const double share = static_cast<double>(net_.net_.size(in[0])) / static_cast<double>(net_.net_.size(out[0]));
      give(in[0], [&] { return net_.binary("RealDiv", spread(dy, node), net_.number(share)); });
    } else if (type == "ReduceMax") {
      give(in[0], [&] {
        const Ref equal = net_.node("Equal", {in[0], spread(out[0], node)}, {shape(0)}, NumberKind::kBool).outputs[0];
        const Ref mask = net_.op("Cast", {equal, net_.scalar(43, NumberKind::kInt64)}, shape(0));
        return net_.binary("Mul", spread(dy, node), mask);
      });
    } else if (type == "Conv2D") {
      give(in[0], [&] { return net_.op("Conv2DBackpropInput", {dy, in[1], net_.tuple(shape(0))}, shape(0)); });
      give(in[1], [&] { return net_.op("Conv2DBackpropFilter", {dy, in[0], net_.tuple(shape(1))}, shape(1)); });
    } else if (type == "MaxPool") {
      give(in[0], [&] { return net_.op("MaxPoolGrad", {in[0], out[0], dy}, shape(0)); });
    } else if (type == "SigmoidCrossEntropyWithLogits") {
      give(in[0], [&] { return net_.op("SigmoidCrossEntropyWithLogitsGrad", {in[0], in[1], dy}, shape(0)); });
    } else if (type == "SoftmaxCrossEntropyWithLogits") {
      give(in[0], [&] { return net_.binary("Mul", out[1], reshape(dy, {shape(0)[0], 1})); });
    }
  }

  void enter(const NetNode& node) {
    net_.prefix_of_key = node.key + ".g";
    net_.line = node.line;
    net_.scope = fmt::format("Gradients/{}/Grad_{}", node.scope, node.type);
  }

  void step(const NetNode& by_reference) {
    const NetNode node = by_reference;  // operators are appended
    if (!needed_[node.outputs[0]]) return;
    if (node.type == "Split") return split(node);
    const Ref dy = of(node.outputs[0]);
    if (dy == kAbsent) return;
    enter(node);
    if (node.type == "MatMul" || node.type == "BatchMatMul") {
      products(node, dy);
    } else if (node.type == "LayerNorm" || node.type == "BatchNorm") {
      normalisation(node, dy);
    } else if (node.type == "Concat") {
      pieces(node, dy);
    } else if (node.type == "Softmax") {
      softmax(node, dy);
    } else {
      elementwise(node, dy);
      others(node, dy);
    }
  }

  NetBuilder& net_;
  std::vector<bool> needed_;
  std::map<Ref, std::vector<Ref>> parts_;
};

}  // namespace

void add_training(NetBuilder& net, Ref loss, Optimizer optimizer, double loss_scale) {
  Backward backward(net);
  const size_t values = net.net_.values.size();
  backward.run(loss);
  const Ref rate = net.parameter("learning_rate", {}, {0.01F}, false);
  const Ref momentum = optimizer == Optimizer::kMomentum ? net.parameter("momentum", {}, {0.9F}, false) : kAbsent;
  const Ref power1 = optimizer == Optimizer::kAdam ? net.parameter("beta1_power", {}, {0.9F}, false) : kAbsent;
  const Ref power2 = optimizer == Optimizer::kAdam ? net.parameter("beta2_power", {}, {0.999F}, false) : kAbsent;
  for (Ref weight = 0; weight < values; ++weight) {
    if (!net.net_.values[weight].trained) continue;
    Ref gradient = backward.of(weight);
    if (gradient == kAbsent) continue;
    const std::string name = net.net_.values[weight].name;
    const Shape shape = net.shape(weight);
    net.prefix_of_key = "o" + name;
    net.line = 900;
    net.scope = "Default";
    if (loss_scale != 1) gradient = net.binary("Mul", gradient, net.number(1 / loss_scale));
    const Numbers zeros(static_cast<size_t>(elements(shape)));
    if (optimizer == Optimizer::kMomentum) {
      net.scope = "Default/opt-Momentum";
      const Ref moments = net.parameter("moments." + name, shape, zeros, false);
      net.node("ApplyMomentum", {weight, moments, rate, gradient, momentum}, {shape}).updates = {{0, 0}, {1, kAbsent}};
    } else {
      const bool decays = optimizer == Optimizer::kAdamWeightDecay;
      net.scope = decays ? "Default/opt-AdamWeightDecay" : "Default/opt-Adam";
      const Ref first = net.parameter("moment1." + name, shape, zeros, false);
      const Ref second = net.parameter("moment2." + name, shape, zeros, false);
      std::vector<Ref> operands{weight, first, second};
      if (!decays) operands.insert(operands.end(), {power1, power2});
      operands.insert(operands.end(), {rate, net.number(0.9), net.number(0.999), net.number(1e-8)});
      if (decays) operands.push_back(net.number(0.02));
      operands.push_back(gradient);
      net.node(decays ? "AdamWeightDecay" : "Adam", operands, {shape, shape, shape}).updates = {{0, 0}, {1, 1}, {2, 2}};
    }
  }
}

}  // namespace msdump::noisy
