#include "kernels/product/add_product.h"

#include <cmath>
#include <random>
#include <vector>

#include "support/catch.h"
#include "unit/kernels/each_target.h"

namespace msdump::kernels {

TEST_CASE("sums of products are added in the order of the inner index on every CPU") {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  const auto noise = [&](int64_t count) {
    std::vector<double> values(static_cast<size_t>(count));
    for (double& value : values) value = normal(random);
    return values;
  };
  for (const int64_t rows : {1, 4, 5, 10, 23}) {
    for (const int64_t columns : {1, 8, 19}) {
      constexpr int64_t kInner = 31, kMore = 3;  // elements between rows
      const std::vector<double> a = noise(rows * (kInner + kMore)), b = noise(kInner * (columns + kMore));
      const std::vector<double> begin = noise(rows * (columns + kMore));
      std::vector<double> expected = begin, expected_terms = begin;
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t column = 0; column < columns; ++column) {
          const auto at = static_cast<size_t>(row * (columns + kMore) + column);
          for (int64_t k = 0; k < kInner; ++k) {
            const double product = a[static_cast<size_t>(row * (kInner + kMore) + k)] *
                                   b[static_cast<size_t>(k * (columns + kMore) + column)];
            expected[at] += product;
            expected_terms[at] += std::fabs(product);
          }
        }
      }
      for_each_target([&] {
        INFO(rows << " rows, " << columns << " columns");
        std::vector<double> y = begin, terms = begin;
        const MatrixRows left{a.data(), rows, kInner, kInner + kMore},
            right{b.data(), kInner, columns, columns + kMore};
        add_product(left, right, y.data(), terms.data(), columns + kMore);
        CHECK(y == expected);
        CHECK(terms == expected_terms);
        y = begin;
        add_product(left, right, y.data(), nullptr, columns + kMore);
        CHECK(y == expected);
      });
    }
  }
}

}  // namespace msdump::kernels
