#include "recompute/judge.h"

#include <array>
#include <cmath>
#include <random>

#include "support/catch.h"

namespace msdump::recompute {
namespace {

constexpr DType kFloat = DType::kFloat32;

// Random values in double, and what a float32 file holds of them.
struct Sample {
  Array exact, stored;
};

Sample sample_of(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Sample sample{make_array({static_cast<int64_t>(count)}), make_array({static_cast<int64_t>(count)})};
  for (size_t i = 0; i < count; ++i) {
    sample.exact.values[i] = normal(random);
    sample.stored.values[i] = static_cast<double>(static_cast<float>(sample.exact.values[i]));
  }
  sample.stored.dtype = kFloat;
  find_effective_format(sample.stored);
  return sample;
}

// To the nearest multiple of 2^-bits of its power of two.
double rounded_to(double value, int bits) {
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, bits + 1)), exponent - bits - 1);
}

Output output_of(Array exact, std::vector<double> terms = {}, double length = 0) {
  Output output{"y", {}};
  output.answers.push_back({std::move(exact), std::move(terms), length, {}});
  return output;
}

Judgement judged(const Array& y, std::string_view kernel, const Output& output,
                 OperandFormats formats = {kFloat, kFloat}, const DeviceTraits& device = {}) {
  return judge(y, *find_kernel(kernel), output, formats, device);
}

}  // namespace

TEST_CASE("rounding is right, and an element beyond it is wrong") {
  Sample sample = sample_of(1000, 1);
  const Output output = output_of(sample.exact);
  const Judgement right = judged(sample.stored, "mul", output);
  CHECK(right.is_right());
  CHECK(right.units < 1);
  CHECK(right.elements == 1000);
  sample.stored.values[700] *= 1 + 1e-5;
  const Judgement wrong = judged(sample.stored, "mul", output);
  REQUIRE(wrong.is_wrong());
  CHECK(wrong.wrong == 1);
  CHECK(wrong.worst == std::vector<int64_t>{700});
  CHECK(wrong.place->from == std::vector<int64_t>{700});
  CHECK(wrong.worst_expected == sample.exact.values[700]);
}

TEST_CASE("wrong elements that fill a block tell its size") {
  Sample sample = sample_of(size_t{64} * 48, 4);
  sample.exact.shape = sample.stored.shape = {64, 48};
  const Output output = output_of(sample.exact);
  const auto damaged = [&](size_t rows_from, size_t rows_to, size_t columns_from, size_t columns_to) {
    Array y = sample.stored;
    for (size_t row = rows_from; row <= rows_to; ++row) {
      for (size_t column = columns_from; column <= columns_to; ++column) y.values[row * 48 + column] += 100;
    }
    return judged(y, "mul", output);
  };
  const Judgement block = damaged(32, 63, 16, 31);
  CHECK(block.place->multiple_of == 16);
  CHECK(describe_place(block) == "rows 32-63, columns 16-31; edges are multiples of 16");
  // The ends of the output are no edges of the block.
  CHECK(damaged(32, 63, 0, 47).place->multiple_of == 32);
  CHECK(damaged(30, 63, 0, 47).place->multiple_of == 0);
  const Judgement one = damaged(5, 5, 7, 7);
  CHECK(one.place->multiple_of == 0);
  CHECK(describe_place(one) == "row 5, column 7");
  CHECK(describe_place(damaged(0, 63, 0, 47)).empty());
  CHECK(describe_place(judged(sample.stored, "mul", output)).empty());
  // Two corners: their box is not full.
  Array y = sample.stored;
  y.values.front() += 100;
  y.values[size_t{31} * 48 + 15] += 100;
  CHECK(judged(y, "mul", output).place->multiple_of == 0);
}

TEST_CASE("of several answers, damage is told against the one that fits most elements") {
  Sample sample = sample_of(100, 5);
  Output output = output_of(sample.exact);
  Array other = sample.exact;
  for (double& value : other.values) value += 0.01;
  output.answers.insert(output.answers.begin(), {std::move(other), {}, 0, "other"});
  sample.stored.values[3] = HUGE_VAL;
  CHECK(judged(sample.stored, "mul", output).wrong == 1);
}

TEST_CASE("a common factor shows in all elements together") {
  Sample sample = sample_of(4000, 2);
  const Output output = output_of(sample.exact);
  for (double& value : sample.stored.values) value = static_cast<double>(static_cast<float>(value * (1 + 4e-7)));
  const Judgement judgement = judged(sample.stored, "mul", output);
  REQUIRE(judgement.slope);
  CHECK(*judgement.slope == Approx(1 + 4e-7).margin(1e-8));
  CHECK(judgement.units <= judgement.limit);
  CHECK(judgement.is_wrong());
}

TEST_CASE("a move is compared to the bit") {
  Sample sample = sample_of(10, 3);
  Output output = output_of(sample.stored);
  CHECK(judged(sample.stored, "reshape", output).is_right());
  output.answers.front().y.values[3] = std::nextafter(static_cast<float>(sample.stored.values[3]), 10.0F);
  CHECK(judged(sample.stored, "reshape", output).is_wrong());
}

TEST_CASE("long sums may err more, by the root of their length") {
  Sample sample = sample_of(100, 4);
  const std::vector<double> terms(100, 100.0);
  Array off = sample.stored;
  for (double& value : off.values) value += 100 * 0x1p-24 * 20;
  CHECK(judged(off, "reduce_sum", output_of(sample.exact, terms, 0)).is_wrong());
  CHECK(judged(off, "reduce_sum", output_of(sample.exact, terms, 10000)).is_right());
}

TEST_CASE("values of 16 bits are judged as such, whatever file holds them") {
  Sample sample = sample_of(1000, 5);
  Array half = sample.stored;
  for (double& value : half.values) value = rounded_to(value, 10);
  find_effective_format(half);
  CHECK(half.effective == DType::kFloat16);
  const Output output = output_of(sample.exact);
  CHECK(judged(half, "mul", output).is_right());
  CHECK(judged(half, "mul", output).precision == Precision::kFloat32);  // it rounds once, to its own format
  // Intermediate results of 16 bits.
  Array low = half;
  for (double& value : low.values) value = rounded_to(value * (1 + 0x1p-10), 10);
  const Judgement judgement = judged(low, "mul", output, {DType::kFloat16, kFloat});
  CHECK(judgement.is_right());
  Array bfloat = sample.stored;
  for (double& value : bfloat.values) value = rounded_to(value, 7);
  find_effective_format(bfloat);
  CHECK(bfloat.effective == DType::kBfloat16);
}

TEST_CASE("whole numbers do not make a float32 tensor one of 16 bits") {
  Array ones = make_array({100}, 1);
  ones.dtype = kFloat;
  find_effective_format(ones);
  CHECK(ones.effective == kFloat);
  CHECK(ones.undecided);
  Array small = make_array({100});
  small.dtype = kFloat;
  for (size_t i = 0; i < 100; ++i) small.values[i] = std::ldexp(static_cast<double>(513 + i), -24);
  find_effective_format(small);
  CHECK(small.effective == DType::kFloat16);  // subnormals, with more bits than bfloat16 has
}

TEST_CASE("tensor cores round the operands of products, where the dump shows that") {
  const Sample sample = sample_of(1000, 6);
  Array off = sample.stored;
  for (double& value : off.values) value = static_cast<double>(static_cast<float>(value * (1 + 0x1p-11)));
  const Output output = output_of(sample.exact);
  CHECK(judged(off, "matmul", output).is_wrong());
  const Judgement judgement = judged(off, "matmul", output, {kFloat, kFloat}, {.tensor_cores = true});
  CHECK(judgement.is_right());
  CHECK(judgement.precision == Precision::kTensor);
}

TEST_CASE("integers and booleans are compared exactly") {
  Array y{{2}, {3, -7}, DType::kInt32, DType::kInt32};
  CHECK(judged(y, "cast", output_of(Array{{2}, {3.9, -7.9}})).is_right());
  CHECK(judged(y, "cast", output_of(Array{{2}, {4, -7}})).is_wrong());
  // What an integer cannot hold is not judged.
  CHECK(judged(y, "cast", output_of(Array{{2}, {1e30, -7}})).elements == 1);
  Array flags{{2}, {1, 0}, DType::kBool, DType::kBool};
  CHECK(judged(flags, "cast", output_of(Array{{2}, {5, 0}})).is_right());
}

TEST_CASE("NaN of unknown inputs is not judged, NaN of finite ones is wrong") {
  Array y{{2}, {1, 2}, kFloat, kFloat};
  const double nan = std::nan("");
  const Judgement unknown = judged(y, "mul", output_of(Array{{2}, {nan, 2}}));
  CHECK(unknown.is_right());
  CHECK(unknown.elements == 1);
  y.values[1] = nan;
  CHECK(judged(y, "mul", output_of(Array{{2}, {1, 2}})).is_wrong());
  CHECK(judged(y, "mul", output_of(Array{{2}, {nan, nan}})).verdict == Judgement::Verdict::kNotJudged);
}

TEST_CASE("elements that a file lacks are not judged") {
  Array y{{2}, {1, 99}, kFloat, kFloat};
  y.known = 1;
  CHECK(judged(y, "mul", output_of(Array{{2}, {1, 2}})).is_right());
}

TEST_CASE("the answer that fits best counts") {
  const Array y{{1}, {2}, kFloat, kFloat};
  Output output = output_of(Array{{1}, {5}});
  output.answers.push_back({Array{{1}, {2}}, {}, 0, "other"});
  const Judgement judgement = judged(y, "mul", output);
  CHECK(judgement.is_right());
  CHECK(judgement.variant == "other");
  CHECK(judged(y, "mul", output_of(Array{{2}, {2, 2}})).why.reason == Reason::kShape);
}

TEST_CASE("a move holds the nearest number to a constant of its call") {
  Array y = make_array({3}, static_cast<double>(0.1F));
  y.dtype = kFloat;
  find_effective_format(y);
  CHECK(judged(y, "clamp", output_of(make_array({3}, 0.1))).is_right());
  y.values[1] = static_cast<double>(std::nextafter(0.1F, 1.0F));
  CHECK(judged(y, "clamp", output_of(make_array({3}, 0.1))).wrong == 1);
  Array half = make_array({3}, rounded_to(0.1, 10));
  half.dtype = DType::kFloat16;
  find_effective_format(half);
  CHECK(judged(half, "clamp", output_of(make_array({3}, 0.1)), {DType::kFloat16, DType::kFloat16}).is_right());
  // Subnormal numbers move as they are.
  Array least = make_array({1}, 0x1p-149);
  least.dtype = kFloat;
  find_effective_format(least);
  CHECK(judged(least, "clamp", output_of(make_array({1}, 0x1p-149))).is_right());
  CHECK(judged(least, "clamp", output_of(make_array({1}, 0x1p-148))).is_wrong());
}

// Rows of one scale each, as what a net reads has them; sums in float32, in the order of the loop.
TEST_CASE("ten thousand right products raise no alarm") {
  struct Format {
    DType dtype;
    int bits;
  };
  constexpr std::array<Format, 3> kFormats = {{{kFloat, 23}, {DType::kFloat16, 10}, {DType::kBfloat16, 7}}};
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  const Kernel* const matmul = find_kernel("matmul");
  for (size_t trial = 0; trial < 10'000; ++trial) {
    const Format format = kFormats[trial % kFormats.size()];
    const auto rows = static_cast<int64_t>(1 + random() % 4), columns = static_cast<int64_t>(1 + random() % 4);
    const auto inner = static_cast<int64_t>(1 + random() % 48);
    Array a = make_array({rows, inner}), b = make_array({inner, columns});
    for (Array* const x : {&a, &b}) {
      x->dtype = format.dtype;
      const auto length = static_cast<size_t>(x->shape[1]);
      double scale = 1;
      for (size_t i = 0; i < x->values.size(); ++i) {
        if (i % length == 0) scale = std::exp(normal(random));
        x->values[i] = rounded_to(scale * normal(random), format.bits);
      }
      find_effective_format(*x);
    }
    Array y = make_array({rows, columns});
    y.dtype = format.dtype;
    for (size_t i = 0; i < y.values.size(); ++i) {
      const auto width = static_cast<size_t>(columns), depth = static_cast<size_t>(inner);
      float sum = 0;
      for (size_t k = 0; k < depth; ++k)
        sum +=
            static_cast<float>(a.values[i / width * depth + k]) * static_cast<float>(b.values[k * width + i % width]);
      y.values[i] = rounded_to(static_cast<double>(sum), format.bits);
    }
    find_effective_format(y);
    Call call;
    Value left, right;
    left.tensor = share(std::move(a));
    right.tensor = share(std::move(b));
    call.set("a", std::move(left));
    call.set("b", std::move(right));
    const Maybe<Outputs> outputs = matmul->compute(call);
    REQUIRE(outputs);
    const Judgement judgement = judge(y, *matmul, outputs->front(), formats_of(call), {});
    INFO(trial << ": " << judgement.units << " units");
    REQUIRE(judgement.is_right());
  }
}

}  // namespace msdump::recompute
