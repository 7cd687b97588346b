#include "kernels/product/dot_sums.h"

#include <array>
#include <random>
#include <vector>

#include "support/catch.h"
#include "unit/kernels/each_target.h"

namespace msdump::kernels {

TEST_CASE("products and squares are added in eight sums on every CPU") {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  for (const int64_t count : {0, 1, 7, 8, 23, 256, 1003}) {
    std::vector<double> a(static_cast<size_t>(count)), b = a;
    for (double& value : a) value = normal(random);
    for (double& value : b) value = normal(random);
    std::array<double, 8> products{}, squares{};
    for (size_t i = 0; i < a.size(); ++i) {
      products[i % 8] += a[i] * b[i];
      squares[i % 8] += a[i] * a[i];
    }
    const auto total = [](const std::array<double, 8>& x) {
      return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
    };
    for_each_target([&] {
      INFO(count << " elements");
      const DotSums sums = dot_sums(a.data(), b.data(), count);
      CHECK(sums.products == total(products));
      CHECK(sums.squares == total(squares));
    });
  }
}

}  // namespace msdump::kernels
