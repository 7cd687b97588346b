#include "stats/verify.h"

#include "support/catch.h"

namespace msdump::stats {
namespace {

using enum StatisticColumn;

struct Case {
  StoredRow row{.data_size = "8",
                .dtype = "float32",
                .shape_text = "[2]",
                .shape = {2},
                .columns = {kMax, kAvg, kL2Norm},
                .values = {"2", "1.5", "2.23607"}};
  TensorStatistics statistics = [] {
    TensorStatistics result;
    result.dtype = DType::kFloat32;
    result.shape = {2};
    result.data_size = 8;
    result.max = 2, result.min = 1, result.avg = 1.5, result.l2norm = 2.2360679774997896;
    return result;
  }();

  [[nodiscard]] RowComparison compare() const {
    return compare_row(row, {&newest_dialect(), {kMax, kAvg, kL2Norm}}, statistics);
  }
};

TEST_CASE("a row that says what the tensor gives has no difference") {
  const RowComparison comparison = Case().compare();
  CHECK(comparison.cells == 6);
  CHECK(comparison.differences.empty());
  CHECK(comparison.unverifiable == 0);
}

TEST_CASE("a cell of the host differs by its last digit") {
  Case changed;
  changed.row.values[2] = "2.23608";
  const RowComparison comparison = changed.compare();
  REQUIRE(comparison.differences.size() == 1);
  CHECK(comparison.differences[0].column == "l2norm");
  CHECK(comparison.differences[0].stored == "2.23608");
  CHECK(comparison.differences[0].computed == "2.23607");
}

TEST_CASE("dtype, shape and size are cells as well") {
  Case changed;
  changed.row.dtype = "float16";
  changed.row.shape_text = "(2)";
  changed.row.data_size = "4";
  CHECK(changed.compare().differences.size() == 3);
}

TEST_CASE("statistics of a device are right within the dtype's precision, and null cannot be checked") {
  Case device;
  device.row.values = {"True", "null", "2.236"};
  device.statistics.max = 1;
  device.statistics.dtype = DType::kFloat16;
  device.row.dtype = "float16";
  const RowComparison comparison = device.compare();
  CHECK(comparison.unverifiable == 1);
  CHECK(comparison.differences.empty());
}

TEST_CASE("statistics of a device that are far off differ") {
  Case device;
  device.row.values = {"True", "1.4", "3"};
  device.statistics.max = 1;
  const RowComparison comparison = device.compare();
  CHECK(comparison.differences.size() == 2);
}

}  // namespace
}  // namespace msdump::stats
