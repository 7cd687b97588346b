// Large products are sampled: right ones pass, and one wrong element is found and placed.
#include <cmath>
#include <random>

#include "recompute/judge.h"
#include "support/catch.h"

namespace msdump::recompute {
namespace {

Array random_matrix(int64_t rows, int64_t columns, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Array x = make_array({rows, columns});
  for (double& value : x.values) value = normal(random);
  x.dtype = x.effective = DType::kFloat32;
  return x;
}

// a b as a device has it: summed in float32.
Array float_product(const Array& a, const Array& b) {
  const int64_t rows = a.shape[0], inner = a.shape[1], columns = b.shape[1];
  std::vector<float> right(b.values.begin(), b.values.end()), sums(static_cast<size_t>(columns));
  Array y = make_array({rows, columns});
  for (int64_t i = 0; i < rows; ++i) {
    std::fill(sums.begin(), sums.end(), 0.0F);
    for (int64_t k = 0; k < inner; ++k) {
      const auto factor = static_cast<float>(a.values[static_cast<size_t>(i * inner + k)]);
      const float* const row = right.data() + k * columns;
      for (int64_t j = 0; j < columns; ++j) sums[static_cast<size_t>(j)] += factor * row[j];
    }
    std::copy(sums.begin(), sums.end(), y.values.begin() + i * columns);
  }
  y.dtype = y.effective = DType::kFloat32;
  return y;
}

Call product_call(const Array& a, const Array& b) {
  Call call;
  Value left, right;
  left.tensor = share(a);
  right.tensor = share(b);
  call.set("a", left);
  call.set("b", right);
  return call;
}

Judgement judged(const Call& call, const Array& y) {
  const Kernel& kernel = *find_kernel("matmul");
  const Maybe<Outputs> outputs = kernel.compute(call);
  REQUIRE(outputs);
  return judge(y, kernel, outputs->front(), {DType::kFloat32, DType::kFloat32}, {});
}

}  // namespace

TEST_CASE("a large product is right by some rows and a projection of all") {
  const Array a = random_matrix(700, 650, 1), b = random_matrix(650, 700, 2);
  Call call = product_call(a, b);
  Array y = float_product(a, b);
  const Judgement right = judged(call, y);
  CHECK(right.is_right());
  CHECK(right.elements == 10 * 700);
  CHECK(right.suspects.empty());
  REQUIRE(right.sampled);
  CHECK(*right.sampled > 0);
  CHECK(*right.sampled < 1e-3);

  // An error that is said to be found surely.
  const double rms = std::sqrt(650.0);
  y.values[333 * 700 + 17] += *right.sampled * rms;
  const Judgement suspected = judged(call, y);
  CHECK(suspected.is_right());  // no row that was computed has it
  REQUIRE(suspected.suspects == std::vector<int64_t>{333});
  call.exact_rows = suspected.suspects;
  const Judgement wrong = judged(call, y);
  CHECK(wrong.is_wrong());
  CHECK(wrong.wrong == 1);
  CHECK(wrong.worst == std::vector<int64_t>{333, 17});
}

TEST_CASE("right products are never suspected, whatever the scales of their rows and columns") {
  std::mt19937 random(3);
  std::lognormal_distribution<double> scale(0, 2);
  size_t blocks = 0;
  double largest = 0;
  for (uint32_t seed = 10; seed < 16; ++seed) {
    Array a = random_matrix(700, 650, seed), b = random_matrix(650, 700, seed + 100);
    for (int64_t i = 0; i < 700; ++i) {
      const double row = scale(random), column = scale(random);
      for (int64_t k = 0; k < 650; ++k) {
        auto& left = a.values[static_cast<size_t>(i * 650 + k)];
        auto& right = b.values[static_cast<size_t>(k * 700 + i)];
        left = static_cast<float>(left * row);
        right = static_cast<float>(right * column);
      }
    }
    const Array y = float_product(a, b);
    const Maybe<Outputs> outputs = find_kernel("matmul")->compute(product_call(a, b));
    REQUIRE(outputs);
    REQUIRE(outputs->front().answers.front().projection);
    const Projection& projection = *outputs->front().answers.front().projection;
    const ProjectionResult result = compare_projection(projection, y.values.data(), 0x1p-24, 0x1p-24, 4);
    CHECK(result.suspects.empty());
    largest = std::max(largest, result.units);
    blocks += static_cast<size_t>(projection.rows * Projection::kParts);
  }
  INFO(blocks << " blocks, largest " << largest);
  CHECK(largest < 2);  // smallest_certain counts on half the limit
}

TEST_CASE("signs are random, and the same in every run") {
  double sum = 0;
  for (int64_t column = 0; column < 4096; ++column) sum += sign_of_column(column);
  CHECK(std::fabs(sum) < 4 * 64);
  CHECK(sampled_rows(1000).front() == 0);
  CHECK(sampled_rows(1000).back() == 999);
  CHECK(sampled_rows(1000).size() == 10);
  CHECK(sampled_rows(2) == std::vector<int64_t>{0, 1});
  CHECK(sampled_rows(0).empty());
}

}  // namespace msdump::recompute
