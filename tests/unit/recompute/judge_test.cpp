#include "recompute/judge.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <random>
#include <utility>

#include "support/catch.h"
#include "unit/kernels/each_target.h"

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

namespace {

void check_same(const Judgement& one, const Judgement& other) {
  CHECK(one.verdict == other.verdict);
  CHECK(one.precision == other.precision);
  CHECK(one.units == other.units);
  CHECK(one.units_of == other.units_of);
  const auto bits = [](double value) { return std::bit_cast<uint64_t>(value); };
  CHECK(bits(one.relative_error) == bits(other.relative_error));
  CHECK(bits(one.slope.value_or(0)) == bits(other.slope.value_or(0)));
  CHECK(one.elements == other.elements);
  CHECK(one.wrong == other.wrong);
  CHECK(one.worst == other.worst);
  CHECK(one.place.has_value() == other.place.has_value());
}

}  // namespace

TEST_CASE("every CPU judges alike, bit by bit") {
  constexpr size_t kCount = 5003;
  const double kInf = HUGE_VAL, kNan = std::nan("");
  const Sample sample = sample_of(kCount, 3);
  std::vector<double> terms;
  for (const double value : sample.exact.values) terms.push_back(3 * std::fabs(value));
  Sample whole = sample;
  for (size_t i = 0; i < kCount; ++i) whole.exact.values[i] = whole.stored.values[i] = static_cast<double>(i % 300);
  // Elements that no block may take as they are, in what was computed and in the file.
  const std::vector<std::pair<double, double>> unusual = {
      {1, 1.5},   {1, kNan},     {1, kInf},        {kNan, 1},  {kInf, kInf},   {-kInf, 1}, {0x1p127, 1}, {0, -0.0},
      {0, 1e-30}, {65520, kInf}, {1 + 0x1p-30, 1}, {0.5, 0.5}, {1e-40, 1e-40}, {-3, -3},   {300, 300},   {1e17, 1e17}};
  for (size_t k = 0; k <= unusual.size(); ++k) {
    for (const bool has_terms : {false, true}) {
      for (const DType dtype :
           {kFloat, DType::kFloat16, DType::kBfloat16, DType::kFloat64, DType::kInt64, DType::kUint8, DType::kBool}) {
        for (const char* const kernel : {"mul", "reshape"}) {
          Sample one = dtype == kFloat || dtype == DType::kFloat64 ? sample : whole;
          if (k < unusual.size()) std::tie(one.exact.values[1700], one.stored.values[1700]) = unusual[k];
          if (k < unusual.size()) std::tie(one.exact.values[5001], one.stored.values[5001]) = unusual[k];
          if (std::string_view(kernel) == "reshape" && k != 10) one.exact.values = one.stored.values;
          one.stored.dtype = one.stored.effective = dtype;
          const Output output = output_of(one.exact, has_terms ? terms : std::vector<double>{});
          const auto judge_it = [&] {
            return judged(one.stored, kernel, output, {DType::kBfloat16, dtype}, {.tensor_cores = true});
          };
          INFO(kernel << " " << name_of(dtype) << " unusual pair " << k << (has_terms ? " with terms" : ""));
          REQUIRE(kernels::choose_cpu_target("scalar").has_value());
          const Judgement reference = judge_it();
          CHECK(reference.elements >= 0);
          kernels::for_each_target([&] { check_same(judge_it(), reference); });
        }
      }
    }
  }
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

TEST_CASE("a move whose values have fewer bits than its operand's rounds, in a file of either dtype") {
  const Sample sample = sample_of(100, 3);
  const Output output = output_of(sample.stored);
  for (const int bits : {10, 7}) {
    Array y = sample.stored;
    for (double& value : y.values) value = rounded_to(value, bits);
    find_effective_format(y);
    CHECK(judged(y, "reshape", output).is_right());
    const DType low = y.effective;
    CHECK(judged(y, "reshape", output, {low, kFloat}).is_wrong());  // its operand has as few
    y.values[3] *= 1.5;
    CHECK(judged(y, "reshape", output).is_wrong());
  }
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

TEST_CASE("a format is coarser than those of all operands, or not, and may be bfloat16 if float16 is uncertain") {
  Sample sample = sample_of(100, 5);
  Array half = sample.stored;
  for (double& value : half.values) value = rounded_to(value, 10);
  find_effective_format(half);
  const Output output = output_of(sample.exact);
  CHECK(judged(half, "mul", output).coarser);
  CHECK_FALSE(judged(half, "mul", output, {DType::kFloat16, kFloat}).coarser);
  CHECK_FALSE(judged(half, "mul", output).fits_bfloat16);
  Array small = half;
  for (double& value : small.values) value = std::ldexp(17 + std::nearbyint(16 * std::fabs(value)), -24);
  find_effective_format(small);
  REQUIRE(small.effective == DType::kFloat16);
  CHECK(judged(small, "mul", output_of(small)).fits_bfloat16);
}

TEST_CASE("what follows from a copy may be off by half a unit of the copy, and no more") {
  Call call;
  call.copied = DType::kBfloat16;
  Value copy;
  copy.tensor = share(Array{{4}, {1, 1, 1, 4}, kFloat, DType::kBfloat16});
  call.set("var", copy);
  Output output{"var", {}};
  output.answers.push_back({Array{{4}, {2, 2, 2, 5}}, {}, 0, {}});
  const std::vector<double> found = {2 + 0x1p-9, 2 + 0x1p-7, 2 - 0x1p-7, 5 - 0x1p-7};
  allow_rounding_of_copy(call, found, output);
  CHECK(output.follows_copy);
  CHECK(output.answers[0].y.values == std::vector{2 + 0x1p-9, 2 + 0x1p-8, 2 - 0x1p-8, 5 - 0x1p-7});
  Output state{"acc", {}};
  allow_rounding_of_copy(call, found, state);
  CHECK_FALSE(state.follows_copy);
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
  for (size_t i = 0; i < 100; ++i) small.values[i] = std::ldexp(static_cast<double>(17 + i), -24);
  find_effective_format(small);
  CHECK(small.effective == DType::kFloat16);
  CHECK(small.subnormal);
  for (size_t i = 0; i < 100; ++i) small.values[i] = std::ldexp(static_cast<double>(i % 8), -24);
  find_effective_format(small);
  CHECK(small.undecided);
  CHECK(small.subnormal);
}

TEST_CASE("numbers of bfloat16 that float16 holds, too, are of bfloat16 if some are no subnormals of float16") {
  Array small = make_array({20});
  small.dtype = kFloat;
  const int normal = GENERATE(3, 4);
  for (int i = 0; i < 20; ++i) small.values[static_cast<size_t>(i)] = std::ldexp(129 + 2 * i, i < normal ? -16 : -22);
  find_effective_format(small);
  CHECK(small.effective == (normal == 4 ? DType::kBfloat16 : DType::kFloat16));
  CHECK(small.undecided == (normal == 3));
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

namespace {

// To the nearest number of a float format, in double; beyond its largest: infinite.
double stored_as(double value, DType dtype) {
  const FloatFormat format = info(dtype).traits.format;
  const int smallest = 1 - format.bias, exponent = value == 0 ? smallest : std::max(std::ilogb(value), smallest);
  const double step = std::ldexp(1.0, exponent - format.mantissa_bits);
  const double rounded = std::nearbyint(value / step) * step;
  return std::fabs(rounded) > float_limits(dtype)->largest ? std::copysign(HUGE_VAL, rounded) : rounded;
}

// Rows and columns of sizes that differ by orders of magnitude.
Array scaled_matrix(int64_t rows, int64_t columns, DType format, std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::lognormal_distribution<double> scale(0, 2);
  Array x = make_array({rows, columns});
  std::vector<double> scales(static_cast<size_t>(columns));
  for (double& one : scales) one = scale(random);
  for (size_t i = 0; i < x.values.size();) {
    const double row = scale(random);
    for (const double column : scales) x.values[i++] = stored_as(row * column * normal(random), format);
  }
  return x;
}

// a b with float32 sums: one term after the other, or in `lanes` sums that are added at the end.
double float_sum(const Array& a, const Array& b, int64_t row, int64_t column, size_t lanes) {
  const int64_t inner = a.shape[1], columns = b.shape[1];
  std::vector<float> sums(lanes, 0.0F);
  for (int64_t k = 0; k < inner; ++k) {
    sums[static_cast<size_t>(k) % lanes] += static_cast<float>(a.values[static_cast<size_t>(row * inner + k)]) *
                                            static_cast<float>(b.values[static_cast<size_t>(k * columns + column)]);
  }
  float sum = 0;
  for (const float one : sums) sum += one;
  return static_cast<double>(sum);
}

}  // namespace

TEST_CASE("ten thousand right products raise no alarm, in any format and at any scale") {
  std::mt19937 random(7);
  const Kernel& matmul = *find_kernel("matmul");
  const auto below = [&](uint32_t most) { return 1 + static_cast<int64_t>(random() % most); };
  double largest = 0;
  int judged = 0;
  for (int trial = 0; trial < 10'000; ++trial) {
    constexpr std::array kFormats = {DType::kFloat32, DType::kFloat16, DType::kBfloat16};
    const DType format = kFormats[static_cast<size_t>(trial) % 3];
    const int64_t inner = below(trial % 10 == 0 ? 300 : 24);
    Array a = scaled_matrix(below(10), inner, format, random), b = scaled_matrix(inner, below(10), format, random);
    Array y = make_array({a.shape[0], b.shape[1]});
    const size_t lanes = random() % 2 == 0 ? 1 : 8;
    for (int64_t i = 0; i < y.size(); ++i) {
      const double sum = float_sum(a, b, i / y.shape[1], i % y.shape[1], lanes);
      y.values[static_cast<size_t>(i)] = stored_as(sum, format);
    }
    // A device of 16 bits dumps them as they are, or as float32.
    const bool widened = random() % 2 == 0;
    for (Array* const x : {&a, &b, &y}) {
      x->dtype = widened ? kFloat : format;
      find_effective_format(*x);
    }
    Call call;
    for (auto [name, operand] : {std::pair("a", &a), std::pair("b", &b)}) {
      Value value;
      value.tensor = share(std::move(*operand));
      call.set(name, std::move(value));
    }
    const Maybe<Outputs> outputs = matmul.compute(call);
    REQUIRE(outputs);
    // Few values do not tell their format: that of most outputs of the dump counts.
    const bool told = format == kFloat || (!y.undecided && random() % 2 == 0);
    const DeviceTraits device{.usual = told ? DType::kUndefined : format};
    const Judgement judgement = judge(y, matmul, outputs->front(), formats_of(call), device);
    INFO("trial " << trial << ": " << name_of(format) << ", " << judgement.units << " units");
    REQUIRE_FALSE(judgement.is_wrong());
    judged += judgement.is_right() ? 1 : 0;
    largest = std::max(largest, judgement.units);
  }
  CHECK(judged > 9'990);  // the others have no finite element
  CHECK(largest > 0.9);   // they do round
}

TEST_CASE("what an approximation in float32 may be off is no measure for 16 bits") {
  Sample sample = sample_of(1000, 1);
  for (size_t i = 0; i < 1000; ++i) sample.stored.values[i] = rounded_to(sample.exact.values[i], 10);
  sample.stored.dtype = DType::kFloat16;
  find_effective_format(sample.stored);
  const Output output = output_of(sample.exact);
  const OperandFormats formats = {DType::kFloat16, DType::kFloat16};
  CHECK(judged(sample.stored, "tanh", output, formats).is_right());
  sample.stored.values[700] *= 1.05;
  CHECK(judged(sample.stored, "tanh", output, formats).is_wrong());
}

TEST_CASE("an optimizer computes in float32 where products round their factors") {
  Sample sample = sample_of(1000, 1);
  std::vector<double> terms;
  for (const double value : sample.exact.values) terms.push_back(std::fabs(value));
  const Output output = output_of(sample.exact, terms, 2);
  const DeviceTraits device = {.tensor_cores = true};
  for (double& value : sample.stored.values) value *= 1 + 1e-5;
  CHECK(judged(sample.stored, "add", output, {kFloat, kFloat}, device).is_right());
  CHECK(judged(sample.stored, "momentum", output, {kFloat, kFloat}, device).is_wrong());
}

}  // namespace msdump::recompute
