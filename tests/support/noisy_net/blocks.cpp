#include "support/noisy_net/blocks.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace msdump::noisy {

Numbers Blocks::normal(int64_t count, double scale) {
  Numbers numbers(static_cast<size_t>(count));
  for (double& number : numbers) {
    double sum = -6;  // of twelve uniform numbers: the same on every machine
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(random_() >> 11) * 0x1p-53;
    number = static_cast<float>(sum * scale);
  }
  return numbers;
}

Ref Blocks::data(const std::string& name, const Shape& shape) {
  return net_.input(name, shape, normal(elements(shape), 1));
}

// "Default/net-Net/block0-Block/fc-Dense" has the weight "block0.fc.weight".
Ref Blocks::weight(const std::string& scope, const std::string& name, const Shape& shape, double scale, double mean) {
  std::string path;
  size_t from = 0;
  while (from < scope.size()) {
    const size_t end = std::min(scope.find('/', from), scope.size());
    const std::string part = scope.substr(from, end - from);
    if (part != "net-Net") path += part.substr(0, part.find('-')) + ".";
    from = end + 1;
  }
  Numbers numbers = normal(elements(shape), scale);
  for (double& number : numbers) number = static_cast<float>(number + mean);
  return net_.parameter(path + name, shape, std::move(numbers));
}

Ref Blocks::reduce(std::string_view type, Ref x, int64_t axis, bool keep) {
  Shape shape = net_.shape(x);
  const auto place = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis);
  if (keep) {
    shape[place] = 1;
  } else {
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(place));
  }
  std::vector<Ref> operands{x, net_.tuple({axis}), net_.scalar(keep, NumberKind::kBool)};
  if (type == "ReduceSum") operands.push_back(net_.scalar(0, NumberKind::kBool));
  return net_.op(type, operands, shape);
}

Ref Blocks::matmul(Ref a, Ref b, bool ta, bool tb, bool batched) {
  Shape shape = net_.shape(a);
  const Shape other = net_.shape(b);
  const size_t last = shape.size() - 1;
  shape[last - 1] = ta ? shape[last] : shape[last - 1];
  shape[last] = tb ? other[last - 1] : other[last];
  return net_.op(batched ? "BatchMatMul" : "MatMul",
                 {a, b, net_.scalar(ta, NumberKind::kBool), net_.scalar(tb, NumberKind::kBool)}, shape);
}

Ref Blocks::activation(Ref x, bool smooth) {
  static constexpr const char* kKinds[] = {"Tanh", "GeLU", "Sigmoid", "ReLU"};
  return net_.unary(kKinds[below(smooth ? 3 : 4)], x);
}

Ref Blocks::dense(Ref x, int64_t out, const std::string& scope, int line) {
  const Place place(net_, scope, line);
  Shape shape = net_.shape(x);
  const int64_t in = shape.back();
  const Ref flat = shape.size() == 2 ? x : reshape(x, {elements(shape) / in, in});
  const Ref kernel = weight(scope, "weight", {out, in}, 1 / std::sqrt(static_cast<double>(in)));
  const Ref bias = weight(scope, "bias", {out}, 0.1);
  const Ref product = matmul(flat, kernel, false, true);
  const Ref sum = net_.op("BiasAdd", {product, bias, net_.scalar(0, NumberKind::kInt64)}, net_.shape(product));
  shape.back() = out;
  return shape.size() == 2 ? sum : reshape(sum, shape);
}

Ref Blocks::layer(Ref x, const std::string& scope, bool smooth) {
  const Place place(net_, scope, 50);
  return activation(dense(x, net_.shape(x).back(), scope + "/fc-Dense", 20), smooth);
}

Ref Blocks::residual(Ref x, const std::string& scope, bool smooth) {
  const Place place(net_, scope, 60);
  const int64_t width = net_.shape(x).back();
  Ref y = layer_norm(x, scope + "/norm-LayerNorm");
  y = dense(y, 2 * width, scope + "/fc1-Dense", 20);
  y = net_.unary(smooth ? "GeLU" : "ReLU", y);
  y = dense(y, width, scope + "/fc2-Dense", 20);
  return net_.binary("Add", x, y);
}

Ref Blocks::layer_norm(Ref x, const std::string& scope) {
  const Place place(net_, scope, 70);
  const Shape shape = net_.shape(x);
  Shape ones = shape;
  ones.back() = 1;
  const Ref gamma = weight(scope, "gamma", {shape.back()}, 0.1, 1), beta = weight(scope, "beta", {shape.back()}, 0.1);
  const Ref axis = net_.scalar(-1, NumberKind::kInt64);
  return net_
      .node("LayerNorm", {x, gamma, beta, axis, axis, net_.scalar(1e-5F, NumberKind::kFloat)}, {shape, ones, ones})
      .outputs[0];
}

Ref Blocks::gate(Ref x, const std::string& scope) {
  const Place place(net_, scope, 80);
  const int64_t width = net_.shape(x).back();
  const Ref open = net_.unary("Sigmoid", dense(x, width, scope + "/gate-Dense", 20));
  const Ref value = dense(x, width, scope + "/value-Dense", 20);
  return net_.binary("Add", x, net_.binary("Mul", open, value));
}

Ref Blocks::unit_length(Ref x, const std::string& scope) {
  const Place place(net_, scope, 90);
  const Ref sum = reduce("ReduceSum", net_.unary("Square", x), -1, true);
  const Ref length = net_.unary("Sqrt", net_.binary("Add", sum, net_.number(1e-6)));
  return net_.binary("Mul", net_.binary("RealDiv", x, length), net_.number(3));
}

Ref Blocks::log_sum(Ref x, const std::string& scope, bool smooth) {
  const Place place(net_, scope, 100);
  Ref shifted = smooth ? net_.unary("Tanh", x) : net_.binary("Sub", x, reduce("ReduceMax", x, -1, true));
  const Ref total = net_.unary("Log", reduce("ReduceSum", net_.unary("Exp", shifted), -1, true));
  return net_.binary("Sub", shifted, total);
}

Ref Blocks::root_mean_square(Ref x, const std::string& scope) {
  const Place place(net_, scope, 110);
  const Ref mean = reduce("ReduceMean", net_.unary("Square", x), -1, true);
  const Ref scale = net_.unary("Rsqrt", net_.binary("Add", mean, net_.number(1e-5)));
  return net_.binary("Mul", net_.binary("Mul", x, scale), weight(scope, "gamma", {net_.shape(x).back()}, 0.1, 1));
}

// The mask is data here: both sides draw the same.
Ref Blocks::dropout(Ref x, const std::string& scope) {
  const Place place(net_, scope, 120);
  Numbers keep(static_cast<size_t>(elements(net_.shape(x))));
  for (double& one : keep) one = chance(4) ? 0 : 1;
  const Ref mask = net_.input(fmt::format("keep{}", net_.net_.values.size()), net_.shape(x), std::move(keep));
  return net_.binary("Mul", net_.binary("Mul", x, mask), net_.number(4.0 / 3));
}

Ref Blocks::branches(Ref x, const std::string& scope) {
  const Place place(net_, scope, 130);
  const int64_t width = net_.shape(x).back();
  const Ref left = net_.unary("Tanh", dense(x, width / 2, scope + "/left-Dense", 20));
  const Ref right = net_.unary("ReLU", dense(x, width - width / 2, scope + "/right-Dense", 20));
  Shape shape = net_.shape(x);
  return net_.op("Concat", {left, right, net_.scalar(1, NumberKind::kInt64)}, shape);
}

Ref Blocks::mean(Ref x, const std::vector<int64_t>& axes, const std::string& scope) {
  const Place place(net_, scope, 12);
  Shape shape;
  const Shape from = net_.shape(x);
  for (size_t i = 0; i < from.size(); ++i) {
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) == axes.end()) shape.push_back(from[i]);
  }
  return net_.op("ReduceMean", {x, net_.tuple(axes), net_.scalar(0, NumberKind::kBool)}, shape);
}

Ref Blocks::loss(Ref logits) {
  const Shape shape = net_.shape(logits);
  const int64_t kind = below(3);
  Numbers labels(static_cast<size_t>(elements(shape)));
  for (int64_t row = 0; row < shape[0]; ++row) labels[static_cast<size_t>(row * shape[1] + below(shape[1]))] = 1;
  const Ref target = net_.input("labels", shape, std::move(labels));
  const Place place(net_, "net-Net", 14);
  if (kind == 0) {
    const Ref each = net_.node("SoftmaxCrossEntropyWithLogits", {logits, target}, {{shape[0]}, shape}).outputs[0];
    return mean(each, {0}, "net-Net");
  }
  Ref each = kAbsent;
  if (kind == 1) {
    each = net_.op("SigmoidCrossEntropyWithLogits", {logits, target}, shape);
  } else {
    each = net_.unary("Square", net_.binary("Sub", logits, target));
  }
  return mean(each, {0, 1}, "net-Net");
}

}  // namespace msdump::noisy
