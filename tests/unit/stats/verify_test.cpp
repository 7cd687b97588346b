#include "stats/verify.h"

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "support/catch.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump::stats {
namespace {

using enum StatisticColumn;

std::shared_ptr<const StatisticHeader> header_of(std::vector<StatisticColumn> columns, bool msprobe = false) {
  StatisticHeader header;
  header.columns = std::move(columns);
  header.msprobe = msprobe;
  return std::make_shared<const StatisticHeader>(std::move(header));
}

constexpr double kNorm = 2.2360679774997896;

struct Case {
  StoredRow row{.data_size = "8",
                .dtype = "float32",
                .shape_text = "[2]",
                .shape = {2},
                .header = header_of({kMax, kAvg, kL2Norm}),
                .values = {"2", "1.5", "2.23607"}};
  TensorNumbers statistics = [] {
    TensorNumbers result;
    result.dtype = DType::kFloat32;
    result.shape = {2};
    result.data_size = 8;
    result.numbers = test::numbers_of(2, 1, 1.5, kNorm);
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
  device.statistics.numbers = test::numbers_of(1, 1, 1.5, kNorm);
  device.statistics.dtype = DType::kFloat16;
  device.row.dtype = "float16";
  const RowComparison comparison = device.compare();
  CHECK(comparison.unverifiable == 1);
  CHECK(comparison.differences.empty());
}

TEST_CASE("statistics of a device that are far off differ") {
  Case device;
  device.row.values = {"True", "1.4", "3"};
  device.statistics.numbers = test::numbers_of(1, 1, 1.5, kNorm);
  const RowComparison comparison = device.compare();
  CHECK(comparison.differences.size() == 2);
}

TEST_CASE("statistics of a device may be off by a step of the dtype's precision and no more") {
  struct Close {
    DType dtype;
    const char *near, *far;  // of the maximum 2
  };
  for (const Close& one : {Close{DType::kFloat32, "2.00001", "2.00003"}, Close{DType::kFloat16, "2.0019", "2.002"},
                           Close{DType::kBfloat16, "1.985", "1.98"}}) {
    INFO(name_of(one.dtype));
    Case device;
    device.statistics.dtype = one.dtype;
    device.row.dtype = std::string(name_of(one.dtype));
    device.row.values = {one.near, "null", "2.23607"};
    CHECK(device.compare().differences.empty());
    device.row.values[0] = one.far;
    REQUIRE(device.compare().differences.size() == 1);
    CHECK(device.compare().differences[0].column == "max");
  }
}

TEST_CASE("the mean of a device is as exact as the largest element, in magnitude") {
  Case device;
  device.statistics.numbers = test::numbers_of(1, -1000, 0.001, kNorm);
  device.row.values = {"True", "0.009", "2.23607"};
  CHECK(device.compare().differences.empty());
  device.row.values[1] = "0.012";
  CHECK(device.compare().differences.size() == 1);
  device.statistics.numbers = test::numbers_of(1000, -1, 0.001, kNorm);
  device.row.values = {"1000", "0.009", "null"};
  CHECK(device.compare().differences.empty());
}

TEST_CASE("texts of a device that are not numbers agree with NaN and infinities only") {
  Case device;
  device.statistics.numbers = test::numbers_of(HUGE_VAL, 1, NAN, kNorm);
  device.row.header = header_of({kMax, kMin, kAvg, kL2Norm, kZero});
  device.row.values = {"inf", "False", "-nan", "null", "0"};
  RowComparison comparison = device.compare();
  REQUIRE(comparison.differences.size() == 1);
  CHECK(comparison.differences[0].column == "min");
  CHECK(comparison.unverifiable == 1);
  CHECK(comparison.cells == 8);
  device.row.values = {"-inf", "True", "1", "", "0"};
  comparison = device.compare();
  CHECK(comparison.differences.size() == 3);
  device.row.values = {"inf", "True", "nan", "2.2x", "1"};
  comparison = device.compare();
  REQUIRE(comparison.differences.size() == 2);
  CHECK(comparison.differences[0].stored == "2.2x");
  CHECK(comparison.differences[1].column == "zero_count");
}

TEST_CASE("null is a text of the device from 2.3.0 on, and of the host before") {
  Case stored;
  stored.row.values = {"null", "1.5", "2.23608"};
  CHECK(stored.compare().differences.empty());
  stored.row.shape_text = "(2)";
  const RowComparison old = compare_row(stored.row, {&all_dialects().front(), {}}, stored.statistics);
  CHECK(old.differences.size() == 2);
  CHECK(old.unverifiable == 0);
}

TEST_CASE("rows of msprobe spell dtype and shape their own way and may count padding in the size") {
  Case device;
  device.row.header = header_of({kMax, kAvg, kL2Norm}, true);
  device.row.dtype = "FLOAT";
  device.row.shape_text = "2x1";
  device.row.shape = {2};
  device.row.data_size = "32";
  device.row.values[2] = "2.23608";
  RowComparison comparison = device.compare();
  CHECK(comparison.differences.empty());
  CHECK(comparison.unverifiable == 1);
  device.row.data_size = "4";
  device.row.dtype = "HALF";
  device.row.shape = {3};
  comparison = device.compare();
  REQUIRE(comparison.differences.size() == 3);
  CHECK(comparison.differences[0].computed == "8");
  CHECK(comparison.differences[1].computed == "float32");
  CHECK(comparison.differences[2].computed == "[2]");
  CHECK(comparison.unverifiable == 0);
}

TEST_CASE("of a row that was cut the columns with a value are compared") {
  Case cut;
  cut.row.values = {"2"};
  CHECK(cut.compare().cells == 4);
}

TEST_CASE("each row is found for its tensor; what has no elements, no row or another table has none") {
  const test::ScratchDir scratch;
  const auto row = [](const char* op, const char* io, int max) {
    return "Add," + std::string(op) + ",1,2,1700000000000001," + io + ",0,4,float32,\"[1]\"," + std::to_string(max) +
           ",\n";
  };
  const std::string header =
      "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value\n";
  const auto npy = [](const char* op, const char* io) {
    return "Add." + std::string(op) + ".1.2.1700000000000001." + io + ".0.DefaultFormat.float32.npy";
  };
  const std::string array = test::npy_of("<f4", {1}, std::string(4, '\0'));
  scratch.write("0/" + npy("a", "input"), array);
  scratch.write("0/" + npy("b", "input"), array);
  scratch.write("0/" + npy("c", "input"), "no array");
  scratch.write("0/" + npy("d", "input"), array);
  scratch.write("0/statistic.csv", header + row("c", "input", 3) + "Add,damaged\n" + row("b", "input", 2) +
                                       row("a", "input", 1) + row("x", "output", 4));
  scratch.write("1/" + npy("a", "input"), array);
  scratch.write("1/statistic.csv", header + row("a", "input", 5));
  const test::ListedDump dump = test::list_dump({scratch.path()});
  const auto rows = read_stored_rows(dump.index, dump.tensors());
  REQUIRE(rows);
  std::vector<std::string> found;
  for (const auto& [at, stored] : *rows) {
    CHECK(stored.header->columns == std::vector{kMax});
    CHECK(std::tuple(stored.data_size, stored.dtype, stored.shape_text, stored.shape, stored.header->msprobe) ==
          std::tuple("4", "float32", "[1]", Shape{1}, false));
    REQUIRE(stored.values.size() == 1);
    const TensorRecord& tensor = dump.tensors()[at];
    found.push_back(dump.index.folder_of(dump.index.files()[tensor.file]) + " " + std::string(tensor.name.op_name) +
                    " " + stored.values[0]);
  }
  CHECK(found == std::vector<std::string>{"0 a 1", "0 b 2", "1 a 5"});
}

TEST_CASE("a row is of a sample when it says one axis of fewer elements than the tensor has") {
  const Shape shape = {2, 3};
  TensorRecord tensor;
  tensor.shape = &shape;
  const auto sampled = [&](const Shape& said) {
    StoredRow row;
    row.shape = said;
    return sampled_elements(tensor, row.shape);
  };
  CHECK(sampled({5}) == 5);
  CHECK(sampled({1}) == 1);
  for (const Shape& other : {Shape{6}, Shape{7}, Shape{0}, Shape{2, 2}, Shape{}}) CHECK(!sampled(other));
  tensor.shape = nullptr;
  CHECK(!sampled({5}));
}

}  // namespace
}  // namespace msdump::stats
