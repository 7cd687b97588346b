#include <cmath>

#include <fmt/format.h>

#include "support/noisy_net/blocks.h"

namespace msdump::noisy {

Ref Blocks::convolution(Ref x, int64_t channels, const std::string& scope, int line, bool smooth, int64_t kernel) {
  const Place place(net_, scope, line);
  Shape shape = net_.shape(x);
  const double fan_in = static_cast<double>(shape[1] * kernel * kernel);
  const Ref filter =
      weight(scope + "/conv-Conv2d", "weight", {channels, shape[1], kernel, kernel}, std::sqrt(2 / fan_in));
  shape[1] = channels;
  Ref y = kAbsent;
  {
    const Place inner(net_, scope + "/conv-Conv2d", 22);
    y = net_.op("Conv2D", {x, filter}, shape);
  }
  {
    const std::string norm = scope + "/bn-BatchNorm2d";
    const Place inner(net_, norm, 24);
    const Shape one{channels};
    const Ref gamma = weight(norm, "gamma", one, 0.1, 1), beta = weight(norm, "beta", one, 0.1);
    const Ref mean = weight(norm, "moving_mean", one, 0), variance = weight(norm, "moving_variance", one, 0, 1);
    net_.net_.values[mean].trained = net_.net_.values[variance].trained = false;
    NetNode& made = net_.node(
        "BatchNorm",
        {y, gamma, beta, mean, variance, net_.scalar(1, NumberKind::kBool), net_.scalar(1e-5F, NumberKind::kFloat),
         net_.scalar(0.1F, NumberKind::kFloat), net_.scalar(0, NumberKind::kInt64)},
        {shape, one, one, one, one});
    made.updates = {{3, kAbsent}, {4, kAbsent}};
    y = made.outputs[0];
  }
  return net_.unary(smooth ? "Tanh" : "ReLU", y);
}

Ref Blocks::bottleneck(Ref x, const std::string& scope, bool smooth) {
  const Place place(net_, scope, 140);
  const int64_t channels = net_.shape(x)[1];
  Ref y = convolution(x, channels, scope + "/first-Unit", 40, smooth);
  y = convolution(y, channels, scope + "/second-Unit", 40, smooth);
  return net_.binary("Add", x, y);
}

Ref Blocks::fork(Ref x, const std::string& scope, bool smooth) {
  const Place place(net_, scope, 150);
  Shape shape = net_.shape(x);
  const Ref narrow = convolution(x, shape[1], scope + "/narrow-Unit", 40, smooth, 1);
  const Ref wide = convolution(x, shape[1], scope + "/wide-Unit", 40, smooth);
  shape[1] *= 2;
  return net_.op("Concat", {narrow, wide, net_.scalar(1, NumberKind::kInt64)}, shape);
}

Ref Blocks::pool(Ref x, const std::string& scope) {
  const Place place(net_, scope, 160);
  Shape shape = net_.shape(x);
  shape[2] /= 2;
  shape[3] /= 2;
  return net_.op("MaxPool", {x}, shape);
}

}  // namespace msdump::noisy
