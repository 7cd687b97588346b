#include "compare/pair/element_errors.h"

#include <cmath>
#include <limits>
#include <random>

#include "report/json.h"
#include "support/made_tensors.h"

namespace msdump {
namespace {

SecondLook look_of(HostTensor a, HostTensor b, const SecondLookOptions& options) {
  const CancelToken cancel;
  const auto diff = diff_tensors(a, b, {}, cancel);
  REQUIRE(diff);
  auto look = look_again(a, b, *diff, options, cancel);
  REQUIRE(look);
  return std::move(*look);
}

std::string text(const report::Value& value) {
  std::string json;
  report::append_json(json, value);
  return json;
}

// "2,1: 5.0 0.0" of an element.
std::vector<std::string> print(const std::vector<WorstElement>& elements) {
  std::vector<std::string> lines;
  for (const WorstElement& one : elements) {
    lines.push_back(join_dims(one.index, ",") + ": " + text(one.a) + " " + text(one.b));
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST_CASE("the worst elements come by their difference, then by index, and equal ones do not come at all") {
  MadeTensors made;
  const std::vector<double> b{0, 0, 0, 0, 0, 7}, a{1, -5, 2, 5, 0, 7};
  const SecondLookOptions three{.worst = 3}, many{.worst = 100};
  const auto make = [&](const std::vector<double>& values) { return made.make(DType::kFloat64, {2, 3}, values); };
  CHECK(print(look_of(make(a), make(b), three).worst) == Lines{"0,1: -5.0 0.0", "1,0: 5.0 0.0", "0,2: 2.0 0.0"});
  CHECK(look_of(make(a), make(b), many).worst.size() == 4);
  CHECK(look_of(make(a), make(b), {}).worst.empty());
}

TEST_CASE("elements that are not finite on one side come before all others") {
  MadeTensors made;
  constexpr double kQuietNan = std::numeric_limits<double>::quiet_NaN(),
                   kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> a{9e9, kQuietNan, 1, kInfinity, kInfinity, kQuietNan},
      b{0, kQuietNan, kQuietNan, kInfinity, -kInfinity, 0};
  const auto make = [&](const std::vector<double>& values) { return made.make(DType::kFloat64, {6}, values); };
  const auto worst = look_of(make(a), make(b), {.worst = 4}).worst;
  CHECK(print(worst) == Lines{R"(2: 1.0 "nan")", R"(4: "inf" "-inf")", R"(5: "nan" 0.0)", "0: 9e+09 0.0"});
  CHECK_FALSE(worst[0].distance);
  CHECK(worst[3].distance == 9e9);
  CHECK(print(look_of(make(a), make(b), {.worst = 2}).worst) == Lines{R"(2: 1.0 "nan")", R"(4: "inf" "-inf")"});
}

TEST_CASE("values are shown as they are stored") {
  MadeTensors made;
  constexpr int64_t kLarge = (int64_t{1} << 53) + 1;
  const auto of = [&](HostTensor a, HostTensor b) {
    return print(look_of(std::move(a), std::move(b), {.worst = 1}).worst);
  };
  CHECK(
      of(made.make<int64_t>(DType::kInt64, {1}, {kLarge}), made.make<uint64_t>(DType::kUint64, {1}, {~uint64_t{0}})) ==
      Lines{"0: 9007199254740993 18446744073709551615"});
  CHECK(of(made.make<uint16_t>(DType::kFloat16, {1}, {0x2E66}), made.make<uint16_t>(DType::kBfloat16, {1}, {0x3DCD})) ==
        Lines{"0: 0.099975586 0.100097656"});
  CHECK(of(made.floats({0.1F}), made.make<double>(DType::kFloat64, {1}, {0.5})) == Lines{"0: 0.1 0.5"});
  CHECK(of(made.make<int8_t>(DType::kInt8, {1}, {-3}), made.make<uint8_t>(DType::kUint8, {1}, {3})) ==
        Lines{"0: -3 3"});
  CHECK(of(made.make<uint8_t>(DType::kBool, {1}, {2}), made.make<uint8_t>(DType::kBool, {1}, {0})) ==
        Lines{"0: true false"});
  CHECK(of(made.make<float>(DType::kComplex64, {1}, {0.1F, 2}), made.make<float>(DType::kComplex64, {1}, {0, 2})) ==
        Lines{"0: [0.1,2.0] [0.0,2.0]"});
}

TEST_CASE("the worst element of the metrics is the first of the second look, whatever the dtype") {
  MadeTensors made;
  std::mt19937_64 random(11);
  for (const DTypeInfo& entry : all_dtypes()) {
    if (!kernels::can_pair(entry.dtype)) continue;
    const size_t width = entry.bits < 8 ? 1 : static_cast<size_t>(entry.bits) / 8, count = 5000;
    std::vector<uint8_t> a(count * width), b(count * width);
    const unsigned mask = entry.bits < 8 ? (1U << entry.bits) - 1 : 0xFF;
    for (auto* side : {&a, &b}) {
      for (uint8_t& byte : *side) byte = static_cast<uint8_t>(random() & mask);
    }
    if (entry.bits < 8) continue;  // a file of them is packed
    const auto left = [&] { return made.make(entry.dtype, {static_cast<int64_t>(count)}, a); };
    const auto right = [&] { return made.make(entry.dtype, {static_cast<int64_t>(count)}, b); };
    const TensorDiff diff = diff_of(left(), right());
    const auto worst = look_of(left(), right(), {.worst = count}).worst;
    size_t mismatches = 0;
    while (mismatches < worst.size() && !worst[mismatches].distance) ++mismatches;
    INFO(entry.name);
    CHECK(mismatches == diff.metrics->nan_mismatch + diff.metrics->inf_mismatch);
    REQUIRE(mismatches < worst.size());
    CHECK(*worst[mismatches].distance == Approx(*diff.metrics->max_abs).epsilon(1e-15));
    CHECK(worst[mismatches].index[0] == static_cast<int64_t>(*diff.metrics->worst));
    HostTensor again_a = left(), again_b = right();
    const auto read = read_pair_at(again_a, again_b, *diff.metrics->worst);
    REQUIRE(read);
    CHECK(print({*read}) == print({worst[mismatches]}));
  }
}

TEST_CASE("a pair after the end cannot be read") {
  MadeTensors made;
  HostTensor a = made.floats({1}), b = made.floats({1}), longer = made.floats({1, 2});
  CHECK_FALSE(read_pair_at(a, b, 1));
  CHECK_FALSE(read_pair_at(a, longer, 0));
}

struct Grid {
  Shape shape;
  std::vector<float> values;

  explicit Grid(Shape shape_) : shape(std::move(shape_)), values(static_cast<size_t>(*element_count(shape)), 1) {}

  float& at(const std::vector<int64_t>& index) {
    int64_t flat = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis) flat = flat * shape[axis] + index[axis];
    return values[static_cast<size_t>(flat)];
  }
};

ErrorAxes axes_of(const Grid& a) {
  MadeTensors made;
  const Grid b(a.shape);
  return look_of(made.make(DType::kFloat32, a.shape, a.values), made.make(DType::kFloat32, b.shape, b.values),
                 {.by_axis = true})
      .axes;
}

// "1/8: 3 5-6" of an axis.
Lines print(const ErrorAxes& axes) {
  Lines lines;
  for (const AxisError& axis : axes.axes) {
    std::string line = std::to_string(axis.axis) + "/" + std::to_string(axis.extent) + ":";
    for (const AxisRange& range : axis.ranges) {
      line += " " + std::to_string(range.first);
      if (range.last != range.first) line += "-" + std::to_string(range.last);
    }
    lines.push_back(line);
  }
  return lines;
}

TEST_CASE("an error in one channel is found in that channel and everywhere else along the other axes") {
  Grid a({4, 1, 8, 500, 30});
  for (int64_t n = 0; n < 4; ++n) {
    for (int64_t x = 0; x < 500; ++x) {
      for (int64_t y = 0; y < 30; ++y) a.at({n, 0, 5, x, y}) = 1.5F;
    }
  }
  a.at({0, 0, 0, 0, 0}) = 1.01F;
  const ErrorAxes axes = axes_of(a);
  CHECK(print(axes) == Lines{"0/4:", "2/8: 5", "3/500:", "4/30:"});
  CHECK(axes.is_local());
  CHECK_FALSE(axes.of_mismatches);
  CHECK(axes.axes[1].carried > 0.999);
  CHECK(axes.axes[1].carried < 1);
  CHECK(axes.axes[1].ranges[0].max_abs == 0.5);
}

TEST_CASE("neighbours are one range, and single elements are found on every axis") {
  Grid half({64, 100});
  for (int64_t row = 32; row < 64; ++row) {
    for (int64_t column = 0; column < 100; ++column) half.at({row, column}) = 2;
  }
  CHECK(print(axes_of(half)) == Lines{"0/64: 32-63", "1/100:"});
  Grid two({64, 100});
  two.at({3, 7}) = 5;
  two.at({60, 99}) = 5;
  CHECK(print(axes_of(two)) == Lines{"0/64: 3 60", "1/100: 7 99"});
}

TEST_CASE("noise is everywhere, and what sticks out of it is named with its share") {
  std::mt19937 random(1);
  Grid noise({32, 4000});
  for (float& value : noise.values) value += static_cast<float>(random() % 1000) * 1e-5F;
  CHECK(print(axes_of(noise)) == Lines{"0/32:", "1/4000:"});
  CHECK_FALSE(axes_of(noise).is_local());
  for (int64_t column = 0; column < 4000; ++column) noise.at({9, column}) += 0.04F;
  const ErrorAxes axes = axes_of(noise);
  CHECK(print(axes) == Lines{"0/32: 9", "1/4000:"});
  CHECK(axes.axes[0].carried == Approx(0.66).margin(0.1));
}

TEST_CASE("of mismatches the places are counted and not their squares") {
  Grid a({10, 10});
  a.at({4, 4}) = std::numeric_limits<float>::quiet_NaN();
  a.at({8, 8}) = 1000;
  const ErrorAxes axes = axes_of(a);
  CHECK(axes.of_mismatches);
  CHECK(print(axes) == Lines{"0/10: 4", "1/10: 4"});
  CHECK(axes.axes[0].ranges[0].mismatches == 1);
}

TEST_CASE("a long axis is cut into bins that know their indices") {
  Grid a({2, 100'001});
  a.at({1, 100'000}) = 3;
  a.at({0, 50'000}) = 3;
  const ErrorAxes axes = axes_of(a);
  REQUIRE(axes.axes.size() == 2);
  REQUIRE(axes.axes[1].ranges.size() == 2);
  const AxisRange& middle = axes.axes[1].ranges[0];
  CHECK((middle.first <= 50'000 && 50'000 <= middle.last && middle.last - middle.first < 100'001 / 4000));
  CHECK(axes.axes[1].ranges[1].last == 100'000);
  CHECK(axes.axes[0].ranges.empty());
}

TEST_CASE("errors of any size are placed, the smallest and the largest numbers too") {
  for (const double size : {5e-324, 1e-310, 1.0, 1e308}) {
    AxisErrors errors({4, 3}, size);
    std::vector<double> distances(12, 0.0);
    distances[7] = size;
    errors.add(std::span(distances).first(5));
    errors.add(std::span(distances).subspan(5));
    CHECK(print(errors.finish()) == Lines{"0/4: 2", "1/3: 1"});
  }
  AxisErrors none({4, 3}, 0);
  none.add(std::vector<double>(12, 0.0));
  CHECK(none.finish().axes.empty());
}

TEST_CASE("tensors that are the same or cannot be compared are not looked at again") {
  MadeTensors made;
  const SecondLookOptions all{.worst = 5, .by_axis = true};
  CHECK(look_of(made.floats({1}), made.floats({1}), all).worst.empty());
  CHECK(look_of(made.floats({1}), made.floats({1, 2}), all).worst.empty());
}

}  // namespace
}  // namespace msdump
