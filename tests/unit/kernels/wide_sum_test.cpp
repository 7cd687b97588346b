#include "kernels/pair/pair.h"

#include <cmath>
#include <limits>

#include "support/catch.h"

namespace msdump::kernels {

TEST_CASE("What an addition rounds away is in the total") {
  WideSum sum;
  sum.add(0x1p60);
  for (int i = 0; i < 1000; ++i) sum.add(1.0);
  sum.add(-0x1p60);
  CHECK(sum.value() == 1000);
  CHECK(sum.over(8) == 125);
  WideSum merged;
  merged.add(0x1p60);
  merged.add(sum);
  merged.add(-0x1p60);
  CHECK(merged.value() == 1000);
}

TEST_CASE("Squares that no double holds are added up, whichever comes first") {
  for (const bool large_first : {true, false}) {
    WideSum sum;
    sum.add(scaled_square(large_first ? 3e300 : 4e300));
    sum.add(scaled_square(1e-300));
    sum.add(scaled_square(large_first ? 4e300 : 3e300));
    CHECK(root_of(sum.total()) == Approx(5e300).epsilon(1e-15));
  }
  WideSum small;
  for (int i = 0; i < 4; ++i) small.add(scaled_square(1e-300));
  CHECK(root_of(small.total()) == Approx(2e-300).epsilon(1e-15));
  small.add(scaled_square(1.0));
  CHECK(small.value() == 1);
}

TEST_CASE("A sum that reaches infinity stays there") {
  WideSum sum;
  sum.add(1.0);
  sum.add(std::numeric_limits<double>::infinity());
  sum.add(2.0);
  CHECK(sum.value() == std::numeric_limits<double>::infinity());
}

}  // namespace msdump::kernels
