#include "stats/statistic_files.h"

#include <cmath>
#include <limits>
#include <string>

#include "support/catch.h"
#include "support/npy_builder.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump::stats {
namespace {

using enum StatisticColumn;
using test::ScratchDir;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TextStyle style(const char* version, std::vector<StatisticColumn> columns = {}) {
  const auto dialect = dialect_from_text(version);
  REQUIRE(dialect);
  return {*dialect, std::move(columns)};
}

TEST_CASE("numbers have the six digits of an ostream") {
  CHECK(six_digits(0) == "0");
  CHECK(six_digits(-0.0) == "-0");
  CHECK(six_digits(1234567) == "1.23457e+06");
  CHECK(six_digits(123456) == "123456");
  CHECK(six_digits(0.0001) == "0.0001");
  CHECK(six_digits(0.00001) == "1e-05");
  CHECK(six_digits(1e300) == "1e+300");
  CHECK(six_digits(kInf) == "inf");
  CHECK(six_digits(-kInf) == "-inf");
  CHECK(six_digits(std::copysign(kNaN, 1)) == "nan");
  CHECK(six_digits(std::copysign(kNaN, -1)) == "-nan");
}

TEST_CASE("the shape is in round brackets up to 2.7.0 and in square ones from 2.7.1 on") {
  CHECK(shape_text(*style("2.7.0").dialect, {2, 3}) == "(2,3)");
  CHECK(shape_text(*style("2.7.0").dialect, {}) == "()");
  CHECK(shape_text(*style("2.7.1").dialect, {2, 3}) == "[2,3]");
  CHECK(shape_text(*style("2.7.1").dialect, {}) == "[]");
}

TEST_CASE("the header has no comma at its end, rows have one from 2.3 on") {
  CHECK(header_line(style("2.5.0", {kMax, kSha1})) ==
        "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,SHA1\n");
  const ScratchDir scratch;
  scratch.write("Add.Default_Add-op1.3.4.1700000000000001.input.0.DefaultFormat.npy",
                test::npy_of("<f4", {2}, std::string("\0\0\x80\x3f\0\0\0\x40", 8)));
  test::StatisticsRequest request{.columns = {kMax}};
  const std::string newest = test::statistic_csv(scratch.path(), request);
  CHECK(newest.ends_with("\nAdd,Default_Add-op1,3,4,1700000000000001,input,0,8,float32,\"[2]\",2,\n"));
  request.dialect = style("2.0.0").dialect;
  CHECK(test::statistic_csv(scratch.path(), request).ends_with("input,0,8,float32,\"(2)\",2\n"));
}

TEST_CASE("where nothing is finite the old dialects write null") {
  TensorStatistics statistics;
  statistics.nothing_finite = true;
  statistics.max = -kInf;
  statistics.nan = 3;
  CHECK(cell_text(style("2.0.0"), kMax, statistics) == "null");
  CHECK(cell_text(style("2.0.0"), kNan, statistics) == "3");
}

TEST_CASE("exact numbers read back as the same double") {
  TensorStatistics statistics;
  statistics.avg = 0.1 + 0.2;
  TextStyle exact = style("2.10.0");
  exact.exact = true;
  CHECK(std::stod(cell_text(exact, kAvg, statistics)) == 0.1 + 0.2);
  CHECK(cell_text(style("2.10.0"), kAvg, statistics) == "0.3");
}

TEST_CASE("each column has its own number") {
  TensorStatistics one;
  one.max = 1.5, one.min = -2.5, one.avg = 0.25, one.l2norm = 9;
  one.count = 11, one.negative = 12, one.positive = 13, one.nan = 14, one.negative_inf = 15, one.positive_inf = 16;
  one.zero = 17, one.md5 = "m", one.sha1 = "s";
  std::string cells;
  for (const StatisticColumn column : test::StatisticsRequest::all_columns())
    cells += cell_text(style("2.10.0"), column, one) + " ";
  CHECK(cells == "1.5 -2.5 0.25 11 12 13 14 15 16 17 9 m s ");
}

TEST_CASE("exact rows have no comma at the end, NaN as an ostream prints it and no null") {
  const ScratchDir scratch;
  scratch.write("Add.a.3.4.1700000000000001.input.0.DefaultFormat.npy",
                test::npy_of("<f8", {1}, std::string("\0\0\0\0\0\0\xf8\xff", 8)));
  CHECK(test::statistic_csv(scratch.path(), {.columns = {kMax}, .exact = true}).ends_with("float64,\"[1]\",-nan\n"));
  TensorStatistics statistics;
  statistics.nothing_finite = true;
  TextStyle exact = style("2.0.0");
  exact.exact = true;
  CHECK(cell_text(exact, kMax, statistics) == "0.0");
}

TEST_CASE("what a name does not say is 0, and every io but an input is an output") {
  const ScratchDir scratch;
  scratch.write("Parameter.fc.weight.0.0.1700000000000001.output.0.DefaultFormat.npy",
                test::npy_of("<f4", {1}, std::string("\0\0\x80\x3f", 4)));
  scratch.write("plain.npy", test::npy_of("<f4", {1}, std::string("\0\0\0\x40", 4)));
  const std::string text = test::statistic_csv(scratch.path(), {.columns = {kMax}});
  CHECK(text.find(",plain,0,0,0,output,0,4,float32,\"[1]\",2,\n") != std::string::npos);
  CHECK(text.find("Parameter,fc.weight,0,0,1700000000000001,output,0,4,float32,\"[1]\",1,\n") != std::string::npos);
}

}  // namespace
}  // namespace msdump::stats
