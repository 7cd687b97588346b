#include "divergence/model/noise_model.h"

#include <vector>

#include "support/catch.h"

namespace msdump {

TEST_CASE("a quantile is one of the values, whatever their order") {
  std::vector<double> values{7, 1, 5, 3, 9, 11, 15, 13};
  CHECK(quantile_of_unsorted(values, 0) == 1);
  CHECK(quantile_of_unsorted(values, 0.25) == 5);
  CHECK(quantile_of_unsorted(values, 0.5) == 9);
  CHECK(quantile_of_unsorted(values, 0.75) == 13);
  CHECK(quantile_of_unsorted(values, 1) == 15);
  values = {3, 1, 2};
  CHECK(quantile_of_unsorted(values, 0.5) == 2);
  values = {4};
  CHECK(quantile_of_unsorted(values, 0.9) == 4);
}

}  // namespace msdump
