// Each rule against a case that is worked out by hand.
#include "divergence/model/expectation.h"

#include <cmath>

#include "support/catch.h"

namespace msdump {
namespace {

TensorError size(double rms, double elements, double relative = 0) {
  TensorError error;
  error.rms = error.deviation = rms;
  error.elements = elements;
  error.relative = relative;
  error.exact = relative == 0;
  return error;
}

KnownInput input(double rms, const Shape& shape, double relative = 0) {
  KnownInput known;
  known.shape = shape;
  known.error = size(rms, static_cast<double>(element_count(shape).value()), relative);
  return known;
}

KnownOutput output(double rms, const Shape& shape) {
  KnownOutput known;
  known.shape = shape;
  known.error = size(rms, static_cast<double>(element_count(shape).value()));
  return known;
}

Expectation expect_of(std::string_view type, std::vector<KnownInput> inputs, const KnownOutput& out) {
  for (uint32_t i = 0; i < inputs.size(); ++i) inputs[i].slot = i;
  const std::string family = gain_family(type);
  return expect(family, gain_of(family), inputs, out);
}

using Gains = std::vector<double>;

}  // namespace

TEST_CASE("an input whose error is known leads to as much in what multiplies or moves it") {
  for (const char* const type : {"Mul", "Transpose", "MyOwnKernel"}) {
    const Expectation one = expect_of(type, {input(3, {4, 4}, 1e-3)}, output(3, {4, 4}));
    CHECK(one.propagated == Approx(1e-3));
    CHECK(one.amplification == 1);
    CHECK(one.uncertainty == 0);
  }
  CHECK(expect_of("Mul", {input(3, {4, 4})}, output(3, {4, 4})).propagated == 0);
}

TEST_CASE("errors of two inputs are taken for something between independent and alike") {
  const Expectation both = expect_of("Mul", {input(1, {16}, 3e-3), input(1, {16}, 4e-3)}, output(1, {16}));
  CHECK(both.propagated > 5e-3);  // independent: sqrt(3^2 + 4^2)
  CHECK(both.propagated < 7e-3);
  CHECK(both.uncertainty > 0);
}

TEST_CASE("a summand counts with its share of the sum, and not in gradients of another shape") {
  // The gradients of a second batch, added to those of the first, which are as large.
  KnownInput gradient = input(1, {8, 4}), read = input(1, {8, 4}), first = input(2, {4, 4}, 1e-2);
  read.of_forward = first.is_summand = true;
  CHECK(expect_of("linear", {gradient, read, first}, output(4, {4, 4})).propagated == Approx(5e-3));
  CHECK(expect_of("linear", {gradient, read, first}, output(4, {4})).propagated == 0);
}

TEST_CASE("a part may have all of the error of the whole") {
  // A sixteenth of the elements, with a quarter of the norm.
  const Expectation part = expect_of("StridedSlice", {input(2, {16}, 1e-3)}, output(2, {1}));
  CHECK(part.propagated == Approx(1e-3));
  CHECK(part.chance == Approx(4e-3).epsilon(0.2));
  CHECK(part.chance >= 4e-3);
  CHECK(expect_of("Mul", {input(2, {16}, 1e-3)}, output(2, {1})).chance == 0);
}

TEST_CASE("inputs that are joined contribute their share of the norm") {
  // Norms 3, 4 and 5.
  const Expectation joined =
      expect_of("Concat", {input(0.75, {16}), input(1, {16})}, output(5 / std::sqrt(32.0), {32}));
  REQUIRE(joined.gains.size() == 2);
  CHECK(joined.gains[0] == Approx(0.6));
  CHECK(joined.gains[1] == Approx(0.8));
  CHECK(expect_of("UnsortedSegmentSum", {input(8, {16})}, output(2, {16})).gains == Gains{1});
}

TEST_CASE("a term whose factor is not dumped counts with what it changes of the output, or with its own size") {
  // x + value * a * b: 4 before, 5 after, so the term may have 3.
  const auto gains = [](double a, double b) {
    return expect_of("addcmul_", {input(4, {16}), input(a, {16}), input(b, {16})}, output(5, {16})).gains;
  };
  const Gains small = gains(0.1, 4);
  REQUIRE(small.size() == 3);
  CHECK(small[0] == Approx(0.8));
  CHECK(small[1] == Approx(0.6));
  CHECK(small[2] == Approx(0.8));
  // The relative error of a term is at most that of its factors.
  CHECK(gains(1000, 1e5)[1] == 1);
  CHECK(gains(1000, 1e5)[2] == 1);
  CHECK(expect_of("lerp_", {input(4, {16}), input(4, {16})}, output(1, {16})).gains == Gains{4, 1});
}

TEST_CASE("cancellation raises the error of sums") {
  const Expectation sub = expect_of("Sub", {input(10, {16}, 1e-5), input(10, {16})}, output(0.1, {16}));
  CHECK(sub.gains[0] == Approx(100));
  CHECK(sub.propagated == Approx(1e-3));
  const Expectation nothing_left = expect_of("Sub", {input(10, {16}, 1e-5)}, output(0, {16}));
  CHECK(nothing_left.propagated > 1e3);
  CHECK(std::isfinite(nothing_left.propagated));
}

TEST_CASE("a product of matrices: as many terms as the axis that it sums over has elements") {
  // K is 64: independent products of 2 and 0.5 add up to 8.
  const std::vector<KnownInput> inputs{input(2, {4, 64}), input(0.5, {64, 8})};
  const Expectation usual = expect_of("MatMul", inputs, output(8, {4, 8}));
  CHECK(usual.gains[0] == Approx(1));
  CHECK(usual.gains[1] == Approx(1));
  CHECK(usual.amplification == 1);
  // They cancel: rounding of the terms shows four times as much in what is left.
  const Expectation cancelled = expect_of("MatMul", inputs, output(2, {4, 8}));
  CHECK(cancelled.gains[0] == Approx(4));
  CHECK(cancelled.amplification == Approx(4));
  // Transposed operands are the same product.
  CHECK(expect_of("MatMul", {input(2, {64, 4}), input(0.5, {8, 64})}, output(2, {4, 8})).gains[0] == Approx(4));
  // A bias is a term like any other.
  const Expectation biased =
      expect_of("linear", {input(2, {4, 64}), input(0.5, {64, 8}), input(1, {8})}, output(8, {4, 8}));
  CHECK(biased.gains[2] == Approx(1.0 / 8));
}

TEST_CASE("terms that are alike do not average errors out as far") {
  // All products have one sign: 64 of them are 64, and independent errors shrink to an eighth.
  const Expectation alike = expect_of("MatMul", {input(2, {4, 64}, 1e-3), input(0.5, {64, 8})}, output(64, {4, 8}));
  CHECK(alike.propagated > 1e-3 / 8);
  CHECK(alike.propagated < 1e-3);
  CHECK(alike.uncertainty > 0.3);
}

TEST_CASE("a batch of products sums over the last axes alone") {
  const KnownOutput out = output(2, {3, 4, 8});
  CHECK(expect_of("BatchMatMul", {input(2, {3, 4, 64}), input(0.5, {3, 64, 8})}, out).gains[0] == Approx(4));
  // The same matrix for all of the batch.
  CHECK(expect_of("BatchMatMul", {input(2, {3, 4, 64}), input(0.5, {64, 8})}, out).gains[0] == Approx(4));
}

TEST_CASE("a convolution and its gradients sum over channels and window, channels and window, batch and map") {
  const Shape x{2, 3, 8, 8}, w{5, 3, 3, 3}, y{2, 5, 8, 8}, small{2, 5, 4, 4};
  const auto terms = [](const char* type, const Shape& one, const Shape& other, const Shape& out) {
    const double gain = expect_of(type, {input(1, one), input(1, other)}, output(1, out)).gains.at(0);
    return gain * gain;
  };
  CHECK(terms("Conv2D", x, w, y) == Approx(27));                 // 3 * 3 * 3
  CHECK(terms("Conv2D", x, w, small) == Approx(27));             // with strides
  CHECK(terms("Conv2DBackpropInput", y, w, x) == Approx(45));    // 5 * 3 * 3
  CHECK(terms("Conv2DBackpropFilter", y, x, w) == Approx(128));  // 2 * 8 * 8
  CHECK(terms("Conv2DBackpropFilter", small, x, w) == Approx(32));
  CHECK(terms("DepthwiseConv2dNative", {2, 5, 8, 8}, {5, 1, 3, 3}, y) == Approx(9));
  // Of one pixel it is a product of matrices; a map may be as small as the window.
  CHECK(terms("Conv2D", {4, 8, 1, 1}, {16, 8, 1, 1}, {4, 16, 1, 1}) == Approx(8));
  CHECK(terms("Conv2D", {64, 8, 1, 1}, {16, 8, 1, 1}, {64, 16, 1, 1}) == Approx(8));
  CHECK(terms("Conv2D", {16, 4, 3, 3}, {8, 4, 3, 3}, {16, 8, 3, 3}) == Approx(36));
}

TEST_CASE("a sum and a mean divide what is left by the terms that went in") {
  // 16 terms of 1 each: random ones leave 4, equal ones 16, others cancel.
  CHECK(expect_of("ReduceSum", {input(1, {4, 16})}, output(4, {4})).gains[0] == Approx(1));
  CHECK(expect_of("ReduceSum", {input(1, {4, 16})}, output(16, {4})).gains[0] == Approx(0.25));
  const Expectation cancelled = expect_of("ReduceSum", {input(1, {4, 16}, 1e-6)}, output(0.04, {4}));
  CHECK(cancelled.gains[0] == Approx(100));
  CHECK(cancelled.propagated == Approx(1e-4));
  CHECK(cancelled.amplification == Approx(100));
  CHECK(expect_of("ReduceMean", {input(1, {4, 16})}, output(0.25, {4})).gains[0] == Approx(1));
  CHECK(expect_of("ReduceMean", {input(1, {4, 16})}, output(0.0025, {4})).amplification == Approx(100));
}

TEST_CASE("an absolute error becomes a relative one in an exponential, and the other way in a logarithm") {
  CHECK(expect_of("Exp", {input(5, {16}, 1e-3)}, output(70, {16})).propagated == Approx(5e-3));
  CHECK(expect_of("Log", {input(70, {16}, 1e-3)}, output(4, {16})).propagated == Approx(1e-3 / 4));
  CHECK(expect_of("LogSoftmax", {input(8, {16}, 1e-3)}, output(2, {16})).propagated == Approx(4e-3));
}

TEST_CASE("an activation has a slope of at most 1") {
  CHECK(expect_of("Tanh", {input(4, {16}, 1e-3)}, output(1, {16})).propagated == Approx(4e-3));
  CHECK(expect_of("ReLU", {input(1, {16}, 1e-3)}, output(0.7, {16})).propagated == Approx(1e-3 / 0.7));
}

TEST_CASE("a norm subtracts the mean of its first input") {
  KnownInput x = input(10, {16, 16}, 1e-4);
  x.error.deviation = 0.5;
  const Expectation norm = expect_of("LayerNorm", {x, input(1, {16}, 1e-4)}, output(1, {16, 16}));
  CHECK(norm.gains[0] == Approx(20));
  CHECK(norm.gains[1] == Approx(1));
  CHECK(norm.amplification == Approx(20));
}

TEST_CASE("where a gradient passes depends on values that have an error: some elements flip") {
  const auto relu_grad = [](double error_of_value, double peak) {
    KnownInput gradient = input(1, {1024});
    gradient.peak = peak;
    return expect_of("ReluGrad", {gradient, input(1, {1024}, error_of_value)}, output(1, {1024})).chance;
  };
  CHECK(relu_grad(0, 3) == 0);
  // A few hundredths of the error's share of all elements.
  CHECK(relu_grad(1e-2, 3) > std::sqrt(0.002));
  CHECK(relu_grad(1e-2, 3) < std::sqrt(0.1));
  CHECK(relu_grad(1e-1, 3) > relu_grad(1e-2, 3));
  CHECK(relu_grad(1e-2, 10) > relu_grad(1e-2, 3));  // the largest elements may flip
  // The error of the gradient itself flips nothing; of the gradient of a pooling it is the third input.
  const KnownInput off = input(1, {1024}, 1e-2), right = input(1, {1024});
  CHECK(expect_of("ReluGrad", {off, right}, output(1, {1024})).chance == 0);
  CHECK(expect_of("MaxPoolGrad", {right, right, off}, output(1, {1024})).chance == 0);
  const auto pool_grad = [&](Shape of_gradient) {
    return expect_of("MaxPoolGrad", {off, right, input(1, std::move(of_gradient))}, output(1, {1024})).chance;
  };
  CHECK(pool_grad({1024}) > 0);
  // One that goes to another element is wrong at both, and one of 256 is more than one of 1024.
  CHECK(pool_grad({256}) > 2 * pool_grad({1024}));
}

TEST_CASE("an error of an exponent counts by the logarithm of the power") {
  CHECK(expect_of("rpow", {input(3, {16}, 1e-3)}, output(1000, {16})).propagated == Approx(std::log(1000) * 1e-3));
  CHECK(expect_of("rpow", {input(3, {16}, 1e-3)}, output(1e-3, {16})).propagated == Approx(std::log(1000) * 1e-3));
  CHECK(expect_of("rpow", {input(3, {16}, 1e-3)}, output(1.1, {16})).propagated == Approx(1e-3));
}

TEST_CASE("the root of values near zero differs by up to the root of their difference") {
  CHECK(expect_of("Sqrt", {input(1, {16}, 1e-4)}, output(1, {16})).most == Approx(1e-2));
  CHECK(expect_of("Sqrt", {input(1, {16}, 1e-4)}, output(1, {16})).propagated == Approx(1e-4));
  CHECK(expect_of("Mul", {input(1, {16}, 1e-4)}, output(1, {16})).most == Approx(1e-4));
}

TEST_CASE("elements that flip make an error of the root of their share") {
  CHECK(error_of_flips(0) == 0);
  CHECK(error_of_flips(1e-2) > std::sqrt(1e-3));
  CHECK(error_of_flips(1e-2) < std::sqrt(1e-2));
  CHECK(error_of_flips(1e-2) == Approx(10 * error_of_flips(1e-4)));
}

TEST_CASE("constants and whole numbers have no rounding that a sum could show") {
  KnownInput constant = input(100, {64, 8}), indices = input(100, {64, 8});
  constant.is_constant = true;
  indices.error.discrete = true;
  for (const KnownInput& one : {constant, indices})
    CHECK(expect_of("ReduceSum", {one}, output(1, {1})).amplification == 1);
  CHECK(expect_of("ReduceSum", {input(100, {64, 8})}, output(1, {1})).amplification > 1000);
}

}  // namespace msdump
