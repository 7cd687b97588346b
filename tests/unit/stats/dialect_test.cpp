#include <cmath>
#include <string>
#include <vector>

#include "stats/dialect.h"
#include "support/catch.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump::stats {
namespace {

using enum StatisticColumn;

const Dialect& dialect(const char* version) {
  const auto found = dialect_from_text(version);
  REQUIRE(found);
  return **found;
}

TEST_CASE("each version that changed statistic.csv has a dialect, without gaps between them") {
  const auto dialects = all_dialects();
  for (size_t i = 1; i < dialects.size(); ++i) CHECK(dialects[i].from == dialects[i - 1].to);
  CHECK(&dialect("1.6.0") == &dialect("2.2.13"));
  CHECK(&dialect("2.2.13") != &dialect("2.2.14"));
  CHECK(&dialect("2.2.14") == &dialect("2.3.0rc2"));
  CHECK(&dialect("2.3.0rc2") != &dialect("2.3.0"));
  CHECK(&dialect("2.3.1") != &dialect("2.4.0"));
  CHECK(&dialect("2.4.10") != &dialect("2.5.0"));
  CHECK(&dialect("2.5.0") == &dialect("2.7.0"));
  CHECK(&dialect("2.7.0") != &dialect("2.7.1"));
  CHECK(&dialect("2.7.1") == &newest_dialect());
  CHECK(&dialect("9.9") == &newest_dialect());
}

TEST_CASE("what is no version, or wrote no statistic.csv, has no dialect") {
  for (const char* text : {"", "auto", "2", "2.", "v2.5", "new", "1.5.0", "0.7"}) {
    INFO(text);
    const auto found = dialect_from_text(text);
    REQUIRE(!found);
    CHECK(found.error().code == ErrorCode::kUsage);
  }
}

TEST_CASE("columns are fixed up to 2.3rc, with MD5 from 2.2.14 on") {
  CHECK(default_columns(dialect("2.0.0")).size() == 10);
  CHECK(default_columns(dialect("2.2.14")).back() == kMd5);
  CHECK(default_columns(dialect("2.5.0")) == std::vector{kMax, kMin, kL2Norm});
}

TEST_CASE("repeated columns are written twice up to 2.7.0 and once from 2.7.1 on") {
  const std::vector repeated = {kL2Norm, kMax, kL2Norm};
  CHECK(effective_columns(dialect("2.7.0"), repeated) == repeated);
  CHECK(effective_columns(dialect("2.7.1"), repeated) == std::vector{kL2Norm, kMax});
}

TEST_CASE("from 2.7.1 on chunks are slices of 20480 elements") {
  const Chunks chunks = chunks_of(newest_dialect(), 3 * 20480 + 1);
  CHECK(chunks.count == 4);
  CHECK(chunks.size == 20480);
  CHECK(chunks.last == 1);
  CHECK(chunks.begin(3) == 3 * 20480);
  CHECK(chunks_of(newest_dialect(), 20480).count == 1);
  CHECK(chunks_of(newest_dialect(), 2 * 20480 - 1).count == 2);
  CHECK(chunks_of(newest_dialect(), 2 * 20480).count == 2);
}

TEST_CASE("chunks cover every element once, whatever the dialect") {
  for (const Dialect& each : all_dialects()) {
    for (const int64_t count : {0, 1, 9999, 10000, 10001, 19999, 20480, 20481, 319999, 320001, 1000003, 67108864}) {
      INFO(each.name << " " << count);
      const Chunks chunks = chunks_of(each, count);
      CHECK(chunks.count >= 1);
      int64_t sum = 0;
      for (int64_t i = 0; i < chunks.count; ++i) {
        CHECK(chunks.begin(i) == sum);
        sum += chunks.elements(i);
      }
      CHECK(sum == count);
    }
  }
}

TEST_CASE("what is particular to each dialect") {
  std::vector<std::string> lines;
  for (const Dialect& each : all_dialects()) {
    std::string line(each.name);
    line += each.rule == Rule::kFiniteOnly ? " A" : each.rule == Rule::kRunningMean ? " B" : " C";
    const auto add = [&](bool has, const char* word) { line += has ? word : ""; };
    add(each.fixed_columns, " fixed");
    add(each.with_md5, " md5");
    add(each.comma_at_end, " comma");
    add(each.square_brackets, " square");
    add(each.drops_repeats, " once");
    add(each.nan_survives_merge, " nan");
    add(each.slices, " slices");
    add(each.float_count, " float");
    add(each.widened_bfloat16, " widened");
    lines.push_back(line);
  }
  CHECK(lines == std::vector<std::string>{"1.6.0 to 2.2.13 A fixed", "2.2.14 to 2.3.0rc A fixed md5 widened",
                                          "2.3.0 to 2.3.1 B comma", "2.4 C comma float",
                                          "2.5.0 to 2.7.0 C comma nan float",
                                          "2.7.1 and later C comma square once nan slices float"});
}

TEST_CASE("before 2.7.1 there are at most 32 chunks, of at least 10000 elements") {
  const auto chunks = [](int64_t count) {
    const Chunks all = chunks_of(dialect("2.7.0"), count);
    return std::vector<int64_t>{all.count, all.size, all.last, all.merged ? 1 : 0};
  };
  CHECK(chunks(0) == std::vector<int64_t>{1, 0, 0, 0});
  CHECK(chunks(10000) == std::vector<int64_t>{1, 10000, 10000, 0});
  CHECK(chunks(10001) == std::vector<int64_t>{1, 10001, 10001, 1});
  CHECK(chunks(20001) == std::vector<int64_t>{2, 10000, 10001, 1});
  CHECK(chunks(319999) == std::vector<int64_t>{31, 10322, 10339, 1});
  CHECK(chunks(640001) == std::vector<int64_t>{32, 20000, 20001, 1});
}

using kernels::ChunkStatistics;

// Chunks of so many elements that entered, of ten.
std::vector<ChunkStatistics> chunks_with(const std::vector<double>& sums, uint64_t entered) {
  std::vector<ChunkStatistics> chunks;
  for (const double sum : sums) chunks.push_back({.count = 10, .entered = entered, .sum = sum});
  return chunks;
}

TEST_CASE("the mean of chunks keeps what one addition loses, whichever of the two is larger") {
  CHECK(mean_of_chunks(HostArch::kX86, chunks_with({3, 1e18, -1e18}, 1)) == 1);
  CHECK(mean_of_chunks(HostArch::kX86, chunks_with({1e18, 3, -1e18}, 1)) == 1);
  CHECK(mean_of_chunks(HostArch::kX86, chunks_with({-1e18, -6, 1e18}, 2)) == -1);
  CHECK(mean_of_chunks(HostArch::kX86, chunks_with({3, HUGE_VAL}, 1)) == HUGE_VAL);
  CHECK(std::isnan(mean_of_chunks(HostArch::kX86, chunks_with({HUGE_VAL, -HUGE_VAL, 1}, 1))));
  CHECK_FALSE(std::signbit(mean_of_chunks(HostArch::kX86, chunks_with({NAN, -NAN}, 1))));  // of several NaN the first
}

TEST_CASE("from 2.4 on the number of elements is a quotient in single precision") {
  const Dialect& newest = newest_dialect();
  const Dialect& old = *dialect_from_text("2.3.0").value();
  constexpr int64_t kMany = (int64_t{1} << 25) + 1;  // of 4 bytes: not a float32
  CHECK(analysed_count(newest, DType::kFloat32, 4 * kMany, kMany) == kMany - 1);
  CHECK(analysed_count(old, DType::kFloat32, 4 * kMany, kMany) == kMany);
  CHECK(analysed_count(newest, DType::kInt4, (kMany + 1) / 2, kMany) == kMany);
  CHECK(analysed_count(newest, DType::kUint8, kMany, kMany) == kMany - 1);
  CHECK(analysed_count(newest, DType::kFloat64, 24, 3) == 3);
}

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
  CHECK(choice.best().rule == Rule::kSum);
  CHECK(!choice.best().nan_survives_merge);
  CHECK(choice.evidence.find("2.4.1") != std::string::npos);
}

TEST_CASE("a version that wrote no statistic.csv yet leaves the first that did, and that is said") {
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

// What is left and why, with the path cut from the evidence.
std::string in_words(const ScratchDir& scratch, const DialectChoice& choice) {
  std::string text;
  for (const Dialect* dialect : choice.candidates) text += std::string(dialect->name) + "; ";
  std::string evidence = choice.evidence;
  const std::string path = scratch.path().string() + "/";
  if (const size_t at = evidence.find(path); at != std::string::npos) evidence.erase(at, path.size());
  return text + evidence;
}

TEST_CASE("the look of the file and what the names say leave the dialects that fit both") {
  const ScratchDir scratch;
  const char* file = "rank_0/Net/0/0/statistic.csv";
  const std::string fixed =
      ",Min Value,Avg Value,Count,Negative Zero Count,Positive Zero Count,NaN Count,Negative Inf Count,"
      "Positive Inf Count,Zero Count";
  const char* old = "rank_0/Net/0/0/Add.Add-op1.0.0.1700000000000001.input.0.DefaultFormat.npy";
  const std::string names = ", file names of MindSpore ";
  const std::string look = std::string("the look of ") + file;

  scratch.write(file, csv(fixed, "\"(1)\",0,0,0,1,0,0,0,0,0,1"));
  CHECK(in_words(scratch, choose(scratch, old)) == "1.6.0 to 2.2.13; " + look + names + "1.3 to 2.2");
  scratch.write(file, csv(fixed + ",MD5", "\"(1)\",0,0,0,1,0,0,0,0,0,1,x"));
  CHECK(in_words(scratch, choose(scratch, old)) == "2.2.14 to 2.3.0rc; " + look + names + "1.3 to 2.2");
  // The columns are anybody's, but the rows end with a comma.
  scratch.write(file, csv(fixed, "\"(1)\",0,0,0,1,0,0,0,0,0,1,"));
  CHECK(in_words(scratch, choose(scratch, old)) == "2.3.0 to 2.3.1; 2.4; 2.5.0 to 2.7.0; " + look);
  // Nobody writes fewer columns without a comma: the names alone decide.
  scratch.write(file, csv("", "\"(1)\",0"));
  CHECK(in_words(scratch, choose(scratch, old)) ==
        "1.6.0 to 2.2.13; 2.2.14 to 2.3.0rc; file names of MindSpore 1.3 to 2.2");
  // No rows: the columns alone decide.
  scratch.write(file, std::string(kHeader) + "\n");
  CHECK(in_words(scratch, choose(scratch, old)) == "2.3.0 to 2.3.1; 2.4; 2.5.0 to 2.7.0; 2.7.1 and later; " + look);
}

TEST_CASE("names alone leave the dialects of their versions") {
  const ScratchDir scratch;
  const DialectChoice choice = choose(scratch);
  CHECK(in_words(scratch, choice) == "2.4; 2.5.0 to 2.7.0; 2.7.1 and later; file names of MindSpore 2.4 or later");
  CHECK_FALSE(choice.too_old);
}

TEST_CASE("a version that the look of the file contradicts is not evidence") {
  const ScratchDir scratch;
  scratch.write("rank_0/.dump_metadata/config.json", R"({"ms_version":"1.3.0"})");
  scratch.write("rank_0/Net/0/0/statistic.csv", csv("", "\"[1]\",0,"));
  const DialectChoice choice = choose(scratch);
  CHECK(in_words(scratch, choice) == "2.7.1 and later; the look of rank_0/Net/0/0/statistic.csv");
  CHECK_FALSE(choice.too_old);
}

TEST_CASE("files of raw elements are of versions that wrote no statistic.csv yet") {
  const ScratchDir scratch;
  scratch.write("net/device_0/iteration_1/Default--Add-op1_input_0_shape_1_Float32_DefaultFormat.bin", "1234");
  const DialectChoice choice = choose(scratch, "other.npy");
  CHECK(in_words(scratch, choice) == "1.6.0 to 2.2.13; file names of MindSpore 1.0 to 1.2");
  CHECK(choice.too_old);
}

TEST_CASE("a statistic.csv that cannot be read and one of msprobe say nothing of the dialect") {
  const ScratchDir scratch;
  scratch.write("a/statistic.csv", "no header");
  scratch.write(
      "b/statistic.csv",
      "Op Type,Op Name,Task ID,Stream ID,Timestamp,Input/Output,Slot,Data Size,Data Type,Format,Shape,Max Value\n");
  scratch.write("c/statistic.csv", csv("", "\"(1)\",0,"));
  const auto index = DumpIndex::build({scratch.path().string()}, {});
  REQUIRE(index);
  const auto stored = stored_style(*index);
  REQUIRE(stored);
  CHECK(stored->path == scratch.file("c/statistic.csv"));
  CHECK((stored->has_rows && stored->comma_at_end && !stored->square_brackets));
}

TEST_CASE("categories that are unknown, too long, not a list or not the writer's choice do not count") {
  const ScratchDir scratch;
  const std::string path = "rank_0/.dump_metadata/data_dump.json";
  const auto columns = [&](const std::string& content, const Dialect& dialect = newest_dialect()) {
    scratch.write(path, content);
    const auto index = DumpIndex::build({scratch.path().string()}, {});
    REQUIRE(index);
    return choose_columns(*index, dialect, std::nullopt);
  };
  const auto said = [](const std::string& list) {
    return R"({"common_dump_settings":{"statistic_category":)" + list + "}}";
  };
  CHECK(columns(said(R"(["avg"])")) == std::vector{kAvg});
  CHECK(columns(said("[]")).empty());
  CHECK(columns(said(R"(["avg","max","avg"])")) == std::vector{kAvg, kMax});
  CHECK(columns(said(R"(["avg","max","avg"])"), *dialect_from_text("2.5.0").value()) == std::vector{kAvg, kMax, kAvg});
  CHECK(columns(said(R"(["avg"])"), all_dialects()[1]) == default_columns(all_dialects()[1]));
  const std::vector usual = {kMax, kMin, kL2Norm};
  for (const std::string& content :
       {said(R"(["avg","mode"])"), said(R"("avg")"), said(R"({"avg":"max"})"), std::string("{}"), std::string("{"),
        std::string(R"({"common_dump_settings":{}})"), said(R"(["avg"])") + std::string(1 << 20, ' ')}) {
    INFO(content.substr(0, 80));
    CHECK(columns(content) == usual);
  }
}

}  // namespace

}  // namespace msdump::stats
