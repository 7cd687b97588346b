// Gains of backward calls against derivatives that are worked out by hand.
#include "divergence/model/expectation.h"

#include <cmath>

#include "support/catch.h"

namespace msdump {
namespace {

TensorError spread_by(double rms, const Shape& shape, double relative) {
  TensorError error;
  error.rms = error.deviation = rms;
  error.elements = static_cast<double>(element_count(shape).value());
  error.relative = relative;
  error.exact = relative == 0;
  return error;
}

KnownInput gradient_of_result(double rms, const Shape& shape, double relative = 0) {
  KnownInput known;
  known.shape = shape;
  known.error = spread_by(rms, shape, relative);
  return known;
}

KnownInput read_forward(double rms, const Shape& shape, double relative = 0) {
  KnownInput known = gradient_of_result(rms, shape, relative);
  known.of_forward = true;
  return known;
}

KnownInput written_forward(double rms, const Shape& shape, double relative = 0) {
  KnownInput known = read_forward(rms, shape, relative);
  known.is_result = true;
  return known;
}

Expectation of_backward(std::string_view type, const std::vector<KnownInput>& inputs, double rms, const Shape& shape) {
  KnownOutput output;
  output.shape = shape;
  output.error = spread_by(rms, shape, 0);
  const std::string family = gain_family(type);
  return expect(family, gain_of(family), inputs, output);
}

// y (4, 8) = x (4, 64) times the transposed w (8, 64), and a bias.
std::vector<KnownInput> around_linear(double error_of_x = 0, double error_of_w = 0) {
  return {gradient_of_result(2, {4, 8}), read_forward(3, {4, 64}, error_of_x), read_forward(5, {8, 64}, error_of_w),
          read_forward(7, {8}), written_forward(11, {4, 8})};
}

}  // namespace

TEST_CASE("a backward call is one that has inputs of its forward call") {
  CHECK(is_backward_call(std::vector{gradient_of_result(1, {4}), read_forward(1, {4})}));
  CHECK_FALSE(is_backward_call(std::vector{gradient_of_result(1, {4})}));
}

TEST_CASE("the gradient of a factor is a product of the gradient and the other factor") {
  // Of x: sums of 8 products with w.
  const Expectation of_x = of_backward("linear", around_linear(), 10, {4, 64});
  const double gain_of_x = std::sqrt(8.0) * 2 * 5 / 10;
  CHECK(of_x.gains[0] == Approx(gain_of_x));
  CHECK(of_x.gains[1] == 0);
  CHECK(of_x.gains[2] == Approx(gain_of_x));
  CHECK(of_x.gains[3] == 0);
  CHECK(of_x.gains[4] == 0);
  CHECK(of_x.amplification == Approx(gain_of_x));
  // Of w: sums of 4 products with x.
  const Expectation of_w = of_backward("linear", around_linear(), 1, {8, 64});
  const double gain_of_w = std::sqrt(4.0) * 2 * 3;
  CHECK(of_w.gains[0] == Approx(gain_of_w));
  CHECK(of_w.gains[1] == Approx(gain_of_w));
  CHECK(of_w.gains[2] == 0);
  // An error of x is one of the gradient of w, and not of its own.
  CHECK(of_backward("linear", around_linear(1e-3, 0), 10, {4, 64}).propagated == 0);
  CHECK(of_backward("linear", around_linear(1e-3, 0), 1, {8, 64}).propagated > 1e-3);
}

TEST_CASE("the gradient of a weight may be transposed") {
  const Expectation of_w = of_backward("linear", around_linear(), 1, {64, 8});
  CHECK(of_w.gains[1] == Approx(std::sqrt(4.0) * 2 * 3));
  CHECK(of_w.gains[2] == 0);
}

TEST_CASE("where both factors have the shape of the gradient the one with the larger error counts") {
  const auto gains = [](double error_of_x, double error_of_w) {
    return of_backward("MatMul",
                       {gradient_of_result(2, {8, 8}), read_forward(3, {8, 8}, error_of_x),
                        read_forward(5, {8, 8}, error_of_w)},
                       100, {8, 8})
        .gains;
  };
  CHECK(gains(1e-3, 1e-4)[1] > 0);
  CHECK(gains(1e-3, 1e-4)[2] == 0);
  CHECK(gains(1e-4, 1e-3)[1] == 0);
  CHECK(gains(1e-4, 1e-3)[2] > 0);
}

TEST_CASE("the gradient of a bias is a sum of the gradient, whatever the factors are") {
  // 4 terms of 2: a norm of 2 sqrt(32) becomes 0.1 sqrt(8).
  const Expectation of_bias = of_backward("linear", around_linear(1e-3, 1e-3), 0.1, {8});
  CHECK(of_bias.gains[0] == Approx(40));
  CHECK(of_bias.amplification == Approx(40));
  CHECK(of_bias.propagated == 0);
}

TEST_CASE("the gradients of a normalisation's parameters are sums of the gradient") {
  const std::vector<KnownInput> inputs{gradient_of_result(2, {16, 32}), read_forward(3, {16, 32}),
                                       read_forward(1, {32}), written_forward(1, {16, 32})};
  // 2 sqrt(512) becomes 0.5 sqrt(32).
  const Expectation of_scale = of_backward("LayerNorm", inputs, 0.5, {32});
  CHECK(of_scale.gains[0] == Approx(16));
  CHECK(of_scale.gains[1] == 1);
  CHECK(of_scale.amplification == Approx(16));
}

TEST_CASE("a normalisation takes from its gradient what is parallel to the values: what is left shows more error") {
  const auto gain = [](double scale, double deviation, double left) {
    KnownInput x = read_forward(100, {16, 32});
    x.error.deviation = deviation;
    const Expectation found = of_backward(
        "LayerNorm", {gradient_of_result(2, {16, 32}), x, read_forward(scale, {32}), written_forward(1, {16, 32})},
        left, {16, 32});
    CHECK(found.gains[1] == found.gains[0]);
    CHECK(found.gains[2] == 1);
    CHECK(found.gains[3] == 0);
    CHECK(found.amplification == 1);  // rounding is relative to what is left
    return found.gains[0];
  };
  CHECK(gain(3, 4, 1.5) == 1);  // nothing cancels: 2 * 3 / 4
  CHECK(gain(3, 4, 0.015) == Approx(100));
  CHECK(gain(30, 4, 1.5) == Approx(10));
  CHECK(gain(3, 400, 1.5) == 1);
}

TEST_CASE("a softmax takes from its gradient what that has in common") {
  const auto gains = [](double left) {
    return of_backward("softmax",
                       {gradient_of_result(10, {4, 8}), read_forward(50, {4, 8}), written_forward(0.2, {4, 8})}, left,
                       {4, 8})
        .gains;
  };
  CHECK(gains(0.02)[0] == Approx(100));
  CHECK(gains(0.02)[1] == 0);
  CHECK(gains(0.02)[2] == Approx(100));
  CHECK(gains(20) == std::vector<double>{1, 0, 1});
  // Without the result an absolute error of what it read is a relative one.
  CHECK(of_backward("softmax", {gradient_of_result(10, {4, 8}), read_forward(50, {4, 8})}, 0.02, {4, 8}).gains ==
        std::vector<double>{1, 50});
}

TEST_CASE("the gradients of sums, means, parts and joined tensors do not depend on values") {
  for (const char* const type : {"Add", "ReduceSum", "ReduceMean", "Reshape", "Concat"}) {
    INFO(type);
    const Expectation found = of_backward(
        type, {gradient_of_result(2, {8}, 1e-4), read_forward(3, {8}, 0.1), written_forward(3, {8}, 0.1)}, 2, {8});
    CHECK(found.gains == std::vector<double>{1, 0, 0});
    CHECK(found.propagated == Approx(1e-4));
  }
  // A term that was broadcast has a sum: 2 sqrt(32) becomes 0.1 sqrt(8).
  const std::vector<KnownInput> inputs{gradient_of_result(2, {4, 8}), read_forward(3, {8})};
  CHECK(of_backward("Add", inputs, 0.1, {8}).gains[0] == Approx(40));
  CHECK(of_backward("Add", inputs, 0.1, {8}).amplification == Approx(40));
  CHECK(of_backward("Reshape", inputs, 0.1, {8}).amplification == 1);
}

TEST_CASE("the gradient of a loss has the absolute errors of the logits") {
  const Expectation found = of_backward(
      "CrossEntropy", {gradient_of_result(1, {1}), read_forward(6, {8, 10}, 1e-3), written_forward(2, {1}, 0.1)}, 0.1,
      {8, 10});
  CHECK(found.gains == std::vector<double>{1, 6, 0});
  CHECK(found.propagated == Approx(6e-3));
}

TEST_CASE("the gradients of factors of a product by elements have the errors of what was read, not of the result") {
  const Expectation found = of_backward(
      "Mul", {gradient_of_result(1, {8}), read_forward(6, {8}), read_forward(2, {8}), written_forward(12, {8})}, 2,
      {8});
  CHECK(found.gains == std::vector<double>{1, 1, 1, 0});
}

TEST_CASE("elements may flip in the backward pass of what has a kink, or is not known") {
  const auto chance = [](const char* type, double error_of_value) {
    return of_backward(type, {gradient_of_result(1, {1024}, 1e-2), read_forward(1, {1024}, error_of_value)}, 1, {1024})
        .chance;
  };
  for (const char* const type : {"ReLU", "MaxPool", "Minimum", "clamp", "MyOwnModule"}) {
    INFO(type);
    CHECK(chance(type, 0) == 0);  // an error of the gradient flips nothing
    CHECK(chance(type, 1e-2) > std::sqrt(0.002));
    CHECK(chance(type, 1e-2) < std::sqrt(0.1));
  }
  for (const char* const type : {"Mul", "Tanh", "MatMul"}) CHECK(chance(type, 1e-2) == 0);
}

}  // namespace msdump
