#include <cmath>
#include <filesystem>
#include <limits>
#include <string>

#include "stats/statistic_files.h"
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
  TensorNumbers statistics;
  statistics.nothing_finite = true;
  statistics.numbers[0] = StatisticNumber{-kInf};
  statistics.nan = 3;
  CHECK(cell_text(style("2.0.0"), kMax, statistics) == "null");
  CHECK(cell_text(style("2.0.0"), kNan, statistics) == "3");
}

TEST_CASE("exact numbers read back as the same double") {
  TensorNumbers statistics;
  statistics.numbers = test::numbers_of(0, 0, 0.1 + 0.2, 0);
  TextStyle exact = style("2.10.0");
  exact.exact = true;
  CHECK(std::stod(cell_text(exact, kAvg, statistics)) == 0.1 + 0.2);
  CHECK(cell_text(style("2.10.0"), kAvg, statistics) == "0.3");
}

TEST_CASE("each column has its own number") {
  TensorNumbers one;
  one.numbers = test::numbers_of(1.5, -2.5, 0.25, 9);
  one.count = 11, one.negative = 12, one.positive = 13, one.nan = 14, one.negative_inf = 15, one.positive_inf = 16;
  one.zero = 17, one.checksums = {{ChecksumKind::kMd5, false, "m"}, {ChecksumKind::kSha1, false, "s"}};
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
  TensorNumbers statistics;
  statistics.nothing_finite = true;
  statistics.numbers = test::numbers_of(0, 0, 0, 0);
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

namespace fs = std::filesystem;
using test::ListedDump;
using test::ScratchDir;

// Two directories of two tensors each.
class TwoDirectories {
 public:
  TwoDirectories() {
    for (const char* name : {"0/Add.a.1.1.10.output.0.DefaultFormat.npy", "0/Add.b.1.1.11.output.0.DefaultFormat.npy",
                             "1/Add.a.1.1.20.output.0.DefaultFormat.npy", "1/Add.b.1.1.21.output.0.DefaultFormat.npy"})
      scratch_.write(std::string("in/") + name, test::npy_of("<f4", {1}, std::string_view("\0\0\x80\x3f", 4)));
    dump_ = std::make_unique<ListedDump>(test::list_dump({scratch_.path() / "in"}));
    REQUIRE(dump_->tensors().size() == 4);
  }

  [[nodiscard]] std::string target(size_t tensor) const {
    return (scratch_.path() / "out" / (tensor < 2 ? "0" : "1") / "statistic.csv").string();
  }
  [[nodiscard]] bool exists(size_t tensor) const { return fs::exists(target(tensor)); }
  // Also temporary files.
  [[nodiscard]] size_t files() const {
    size_t count = 0;
    if (!fs::exists(scratch_.path() / "out")) return 0;
    for (const auto& entry : fs::recursive_directory_iterator(scratch_.path() / "out"))
      count += entry.is_regular_file() ? 1U : 0U;
    return count;
  }

  Status take(StatisticFileWriter& writer, size_t tensor) const {
    TensorNumbers numbers;
    numbers.count = 0;
    return take(writer, tensor, numbers);
  }
  Status take(StatisticFileWriter& writer, size_t tensor, const Result<TensorNumbers>& result) const {
    return writer.take(target(tensor), dump_->tensors()[tensor], result);
  }
  Status leave_out(StatisticFileWriter& writer, size_t tensor) const {
    return take(writer, tensor, fail(ErrorCode::kCancelled, "interrupted"));
  }
  [[nodiscard]] StatisticFileWriter writer() const { return {dump_->index, {&newest_dialect(), {}}, cancel}; }

  CancelToken cancel;

 private:
  ScratchDir scratch_;
  std::unique_ptr<ListedDump> dump_;
};

TEST_CASE("each directory gets its statistic.csv with all its rows") {
  const TwoDirectories dump;
  StatisticFileWriter writer = dump.writer();
  for (size_t tensor = 0; tensor < 4; ++tensor) {
    CHECK_FALSE(dump.exists(tensor));
    REQUIRE(dump.take(writer, tensor));
  }
  REQUIRE(writer.finish());
  CHECK(writer.files() == 2);
  CHECK(writer.rows() == 4);
  CHECK(dump.exists(0));
  CHECK(dump.exists(3));
  CHECK(dump.files() == 2);
}

TEST_CASE("a tensor of the next directory does not commit a file that an interruption cut") {
  TwoDirectories dump;
  StatisticFileWriter writer = dump.writer();
  REQUIRE(dump.take(writer, 0));
  REQUIRE(dump.leave_out(writer, 1));
  // Another worker had finished these before the interruption.
  REQUIRE(dump.take(writer, 2));
  REQUIRE(dump.take(writer, 3));
  REQUIRE(writer.finish());
  CHECK(dump.files() == 0);
  CHECK(writer.rows() == 0);
}

TEST_CASE("after a cancel no statistic.csv is committed, complete or not") {
  TwoDirectories dump;
  StatisticFileWriter writer = dump.writer();
  REQUIRE(dump.take(writer, 0));
  REQUIRE(dump.take(writer, 1));
  dump.cancel.cancel();
  SECTION("a tensor of the next directory comes") { REQUIRE(dump.take(writer, 2)); }
  SECTION("no tensor comes") {}
  REQUIRE(writer.finish());
  CHECK(dump.files() == 0);
}

TEST_CASE("files that are complete before an interruption stay") {
  TwoDirectories dump;
  StatisticFileWriter writer = dump.writer();
  REQUIRE(dump.take(writer, 0));
  REQUIRE(dump.take(writer, 1));
  REQUIRE(dump.take(writer, 2));
  REQUIRE(dump.leave_out(writer, 3));
  REQUIRE(writer.finish());
  CHECK(dump.exists(0));
  CHECK(dump.files() == 1);
  CHECK(writer.rows() == 2);
}

TEST_CASE("a tensor that failed costs its row and no other") {
  TwoDirectories dump;
  StatisticFileWriter writer = dump.writer();
  REQUIRE(dump.take(writer, 0, fail(ErrorCode::kTruncated, "cut")));
  REQUIRE(dump.take(writer, 1));
  REQUIRE(dump.take(writer, 2, TensorNumbers()));  // of a dtype without statistics
  REQUIRE(writer.finish());
  CHECK(writer.rows() == 1);
  CHECK(dump.files() == 1);
}

TEST_CASE("after a write that fails nothing more is written") {
  TwoDirectories dump;
  StatisticFileWriter writer = dump.writer();
  fs::create_directories(dump.target(0));
  REQUIRE(dump.take(writer, 0));
  const Status status = dump.take(writer, 2);
  REQUIRE_FALSE(status);
  CHECK(status.error().code == ErrorCode::kWriteFailed);
  REQUIRE(dump.take(writer, 3));
  REQUIRE(writer.finish());
  CHECK(dump.files() == 0);
}

TEST_CASE("directories come in natural order; each has its tensors in order, Parameters last") {
  const ScratchDir scratch;
  const std::string array = test::npy_of("<f4", {1}, std::string(4, '\0'));
  const auto npy = [](const char* op, const char* time) {
    return std::string(op) + ".1.1." + time + ".output.0.DefaultFormat.float32.npy";
  };
  scratch.write("a/10/" + npy("Add.x", "1700000000000001"), array);
  scratch.write("a/9/" + npy("Parameter.w", "1700000000000002"), array);
  scratch.write("a/9/" + npy("Add.y", "1700000000000004"), array);
  scratch.write("a/9/" + npy("Add.z", "1700000000000003"), array);
  scratch.write("a/9/" + npy("Add.damaged", "1700000000000001"), "no array");
  scratch.write("b/1/" + npy("Add.v", "1700000000000000"), array);
  scratch.write("b/2/statistic.csv",
                "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value\n"
                "Add,no_elements,1,1,1700000000000001,output,0,4,float32,\"[1]\",1,\n");
  scratch.write("c/dump_tensor_data/" + npy("Add.m", "1700000000000000"), array);
  scratch.write("c/step1/dump_tensor_data/" + npy("Add.n", "1700000000000000"), array);
  scratch.write("c/step1/my_dump_tensor_data/" + npy("Add.o", "1700000000000000"), array);
  const ListedDump dump = test::list_dump({scratch.path() / "a", scratch.path() / "b", scratch.path() / "c"});
  std::vector<std::string> lines;
  for (const StatisticDirectory& directory : statistic_directories(dump.index, dump.tensors())) {
    lines.push_back(dump.index.paths()[directory.root].substr(scratch.path().string().size() + 1) + "|" +
                    directory.relative + ":");
    for (const size_t i : directory.tensors) lines.back() += " " + std::string(dump.tensors()[i].name.op_name);
  }
  CHECK(lines == std::vector<std::string>{"a|9: z y w", "a|10: x", "b|1: v", "c|: m", "c|step1: n",
                                          "c|step1/my_dump_tensor_data: o"});
}

}  // namespace

}  // namespace msdump::stats
