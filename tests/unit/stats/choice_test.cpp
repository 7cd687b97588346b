#include "stats/choice.h"

#include <string>
#include <vector>

#include "support/catch.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump::stats {
namespace {

using enum StatisticColumn;
using test::ScratchDir;

constexpr const char* kNpy =
    "rank_0/Net/0/0/Add.Default_Add-op1.0.0.1700000000000001.input.0.DefaultFormat.float32.npy";
constexpr const char* kHeader =
    "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value";
constexpr const char* kRow = "\nAdd,Default_Add-op1,0,0,1700000000000001,input,0,4,float32,";

std::string csv(const std::string& columns, const std::string& cells) {
  return kHeader + columns + kRow + cells + "\n";
}

DialectChoice choose(const ScratchDir& scratch, const std::string& npy = kNpy) {
  scratch.write(npy, test::npy_of("<f4", {1}, std::string(4, '\0')));
  const auto index = DumpIndex::build({scratch.path().string()}, {});
  REQUIRE(index);
  return choose_dialect(*index, stored_style(*index));
}

TEST_CASE("without any evidence the newest dialect is taken") {
  const ScratchDir scratch;
  const DialectChoice choice = choose(scratch, "array.npy");
  CHECK(&choice.best() == &newest_dialect());
  CHECK(choice.evidence.empty());
}

TEST_CASE("names of files with the whole scope and without a dtype are of 2.3") {
  const ScratchDir scratch;
  const DialectChoice choice =
      choose(scratch, "rank_0/Net/0/0/Add.Default_Add-op1.0.0.1700000000000001.input.0.DefaultFormat.npy");
  CHECK(choice.best().name == "2.3.0 to 2.3.1");
  CHECK(!choice.evidence.empty());
}

TEST_CASE("square brackets around the shape mean 2.7.1 or later") {
  const ScratchDir scratch;
  scratch.write("rank_0/Net/0/0/statistic.csv", csv("", "\"[1]\",0,"));
  const DialectChoice choice = choose(scratch);
  CHECK(choice.candidates == std::vector<const Dialect*>{&newest_dialect()});
  CHECK(!choice.evidence.empty());
}

TEST_CASE("round brackets and a comma at the end leave what the names allow, of which the newest is taken") {
  const ScratchDir scratch;
  scratch.write("rank_0/Net/0/0/statistic.csv", csv("", "\"(1)\",0,"));
  const DialectChoice choice = choose(scratch);
  CHECK(choice.candidates.size() == 2);
  CHECK(choice.best().name == "2.5.0 to 2.7.0");
}

TEST_CASE("the version in config.json decides") {
  const ScratchDir scratch;
  scratch.write("rank_0/.dump_metadata/config.json", R"({"ms_version":"2.4.1","backend_name":"CPU"})");
  const DialectChoice choice = choose(scratch);
  CHECK(choice.best().rule == Rule::kC);
  CHECK(!choice.best().nan_survives_merge);
  CHECK(choice.evidence.find("2.4.1") != std::string::npos);
}

TEST_CASE("a version that wrote no statistic.csv yet leaves the first that did, and that is told") {
  const ScratchDir scratch;
  scratch.write("rank_0/.dump_metadata/config.json", R"({"ms_version":"1.3.0"})");
  const DialectChoice choice = choose(scratch);
  CHECK(&choice.best() == &all_dialects().front());
  CHECK(choice.too_old);
}

TEST_CASE("columns are those of the file there, else of data_dump.json, else the dialect's own") {
  const ScratchDir scratch;
  scratch.write(kNpy, test::npy_of("<f4", {1}, std::string(4, '\0')));
  const auto columns = [&] {
    const auto index = DumpIndex::build({scratch.path().string()}, {});
    REQUIRE(index);
    return choose_columns(*index, newest_dialect(), stored_style(*index));
  };
  CHECK(columns() == std::vector{kMax, kMin, kL2Norm});
  scratch.write("rank_0/.dump_metadata/data_dump.json",
                R"({"common_dump_settings":{"statistic_category":["avg","hash:md5","zero count"]}})");
  CHECK(columns() == std::vector{kAvg, kMd5, kZero});
  scratch.write("rank_0/Net/0/0/statistic.csv", csv(",L2Norm Value", "\"[1]\",0,0,"));
  CHECK(columns() == std::vector{kMax, kL2Norm});
}

}  // namespace
}  // namespace msdump::stats
