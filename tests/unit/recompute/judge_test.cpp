#include "recompute/judge.h"

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

TEST_CASE("what overflows the format of a device is not judged, in a file of any dtype") {
  Sample sample = sample_of(100, 7);
  for (double& value : sample.stored.values) value = rounded_to(value, 10);
  for (const double overflown : {HUGE_VAL, 65504.0}) {
    sample.exact.values[3] = 7e4;
    sample.stored.values[3] = overflown;
    find_effective_format(sample.stored);
    REQUIRE(sample.stored.effective == DType::kFloat16);
    const Judgement judgement = judged(sample.stored, "mul", output_of(sample.exact), {DType::kFloat16, kFloat});
    CHECK(judgement.is_right());
    CHECK(judgement.elements == 99);
    sample.exact.values[3] = 6e4;
    CHECK(judged(sample.stored, "mul", output_of(sample.exact), {DType::kFloat16, kFloat}).is_wrong());
  }
  // A loss that is scaled in float32, in a dump of float16: it is judged, because it shows that it is no float16.
  const Array scaled{{1}, {7e4}, kFloat, kFloat, true};
  const DeviceTraits device{.usual = DType::kFloat16};
  CHECK(judged(scaled, "mul", output_of(Array{{1}, {7e4}}), {}, device).is_right());
  CHECK(judged(scaled, "mul", output_of(Array{{1}, {9e4}}), {}, device).is_wrong());
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

TEST_CASE("ten thousand right products raise no alarm") {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  const Kernel* const matmul = find_kernel("matmul");
  for (int trial = 0; trial < 10'000; ++trial) {
    const int64_t inner = 1 + static_cast<int64_t>(random() % 24);
    Array a = make_array({2, inner}), b = make_array({inner, 2});
    a.dtype = b.dtype = kFloat;
    for (Array* const x : {&a, &b}) {
      for (double& value : x->values) value = static_cast<double>(normal(random));
    }
    Array y = make_array({2, 2});
    y.dtype = kFloat;
    for (size_t i = 0; i < 4; ++i) {
      float sum = 0;
      for (size_t k = 0; k < static_cast<size_t>(inner); ++k)
        sum += static_cast<float>(a.values[i / 2 * static_cast<size_t>(inner) + k]) *
               static_cast<float>(b.values[2 * k + i % 2]);
      y.values[i] = static_cast<double>(sum);
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
    REQUIRE(judgement.is_right());
  }
}

}  // namespace msdump::recompute
