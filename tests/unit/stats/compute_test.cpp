#include "stats/compute.h"

#include <sys/resource.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <mutex>

#include "support/catch.h"
#include "support/dump_builder.h"
#include "support/npy_builder.h"
#include "support/scratch_dir.h"
#include "support/statistics_oracle.h"
#include "support/statistics_run.h"

namespace msdump::stats {
namespace {

namespace fs = std::filesystem;
using test::ListedDump;
using test::ScratchDir;

class RecordedProgress : public ProgressSink {
 public:
  explicit RecordedProgress(std::function<void()> on_bytes = {}) : on_bytes_(std::move(on_bytes)) {}
  void start(uint64_t units, uint64_t bytes) override { units_total = units, bytes_total = bytes; }
  void add_bytes(uint64_t bytes) override {
    bytes_done += bytes;
    if (on_bytes_) on_bytes_();
  }
  void unit_done(std::string_view name) override {
    const std::lock_guard lock(mutex_);
    ++units_done[std::string(name)];
  }

  uint64_t units_total = 0, bytes_total = 0;
  std::atomic<uint64_t> bytes_done = 0;
  std::map<std::string, int> units_done;  // calls by name

 private:
  std::function<void()> on_bytes_;
  std::mutex mutex_;
};

std::string bytes_of_doubles(const std::vector<double>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
}

void write_doubles(const ScratchDir& scratch, const std::string& name, const std::vector<double>& values) {
  scratch.write(name, test::npy_of("<f8", {static_cast<int64_t>(values.size())}, bytes_of_doubles(values)));
}

struct Job {
  ComputeOptions options = {.wanted = {.sum = true, .squares = true, .extremes = true, .counts = true}};
  std::optional<int64_t> first_elements = {};
  unsigned jobs = 1;
  RecordedProgress* progress = nullptr;
  const CancelToken* cancel = nullptr;
};

std::vector<Result<TensorStatistics>> compute_all(const ListedDump& dump, const Job& job) {
  std::vector<ComputeItem> items;
  for (const TensorRecord& tensor : dump.tensors()) items.push_back({&tensor, job.first_elements});
  WorkerPool pool(job.jobs);
  const CancelToken never;
  std::vector<Result<TensorStatistics>> results;
  compute(dump.index, items, job.options, {pool, job.cancel != nullptr ? *job.cancel : never, job.progress},
          [&](size_t item, Result<TensorStatistics>&& result) {
            CHECK(item == results.size());
            results.push_back(std::move(result));
          });
  REQUIRE(results.size() == items.size());
  return results;
}

TEST_CASE("statistics of many tensors need no more open files than the process may have") {
  const ScratchDir scratch;
  for (int i = 0; i < 80; ++i)
    scratch.write("Add.a" + std::to_string(i) + ".1.1.10.output.0.npy",
                  test::npy_of("<f4", {1}, std::string_view("\0\0\x80\x3f", 4)));
  const ListedDump dump = test::list_dump({scratch.path()});
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit few{24, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  const auto results = test::compute_statistics(dump, {.jobs = 4});
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  for (const auto& result : results) CHECK((result && result->max == 1.0));
}

TEST_CASE("results come in the order of the tensors, and progress has counted every byte and file") {
  const ScratchDir scratch;
  for (int i = 0; i < 150; ++i) write_doubles(scratch, std::to_string(1000 + i) + ".npy", {i - 0.5, i + 0.5});
  const ListedDump dump = test::list_dump({scratch.path()});
  for (const unsigned jobs : {1U, 3U}) {
    RecordedProgress progress;
    const auto results = compute_all(dump, {.jobs = jobs, .progress = &progress});
    for (size_t i = 0; i < results.size(); ++i) CHECK((results[i] && results[i]->avg == static_cast<double>(i)));
    CHECK(progress.units_total == 150);
    CHECK(progress.bytes_total == 150 * 16);
    CHECK(progress.bytes_done == 150 * 16);
    CHECK(progress.units_done.size() == 150);
    CHECK(progress.units_done.at("1149.npy") == 1);
  }
}

TEST_CASE("a tensor that fails does not disturb the others, and its error names the file") {
  const ScratchDir scratch;
  for (int i = 0; i < 20; ++i) write_doubles(scratch, std::to_string(100 + i) + ".npy", {static_cast<double>(i)});
  const ListedDump dump = test::list_dump({scratch.path()});
  fs::remove(scratch.file("105.npy"));
  scratch.write("111.npy", "no array");
  RecordedProgress progress;
  const auto results = compute_all(dump, {.progress = &progress});
  for (size_t i = 0; i < results.size(); ++i) {
    INFO(i);
    const bool damaged = i == 5 || i == 11;
    REQUIRE(results[i].has_value() != damaged);
    if (damaged) CHECK(results[i].error().path.ends_with(std::to_string(100 + i) + ".npy"));
    if (!damaged) CHECK(results[i]->max == static_cast<double>(i));
  }
  CHECK(progress.units_done.size() == 20);
}

TEST_CASE("a file that is written to while it is read has no statistics") {
  const ScratchDir scratch;
  write_doubles(scratch, "a.npy", std::vector<double>(100000, 1));
  write_doubles(scratch, "b.npy", {2});
  const ListedDump dump = test::list_dump({scratch.path()});
  RecordedProgress progress([&] { fs::last_write_time(scratch.file("a.npy"), fs::file_time_type::clock::now()); });
  const auto results = compute_all(dump, {.progress = &progress});
  REQUIRE_FALSE(results[0]);
  CHECK(results[0].error().code == ErrorCode::kChangedWhileReading);
  CHECK((results[1] && results[1]->max == 2));
}

TEST_CASE("after a cancel no tensor is read any further") {
  const ScratchDir scratch;
  for (int i = 0; i < 40; ++i)
    write_doubles(scratch, std::to_string(100 + i) + ".npy", std::vector<double>(i == 0 ? 1 : 100000, 1));
  const ListedDump dump = test::list_dump({scratch.path()});
  CancelToken cancel;
  RecordedProgress progress([&] { cancel.cancel(); });
  const auto results = compute_all(dump, {.progress = &progress, .cancel = &cancel});
  CHECK(results[0]);  // was read as a whole with the first slab
  for (size_t i = 1; i < results.size(); ++i) {
    INFO(i);
    REQUIRE_FALSE(results[i]);
    CHECK(results[i].error().code == ErrorCode::kCancelled);
  }
  CHECK(progress.bytes_done < progress.bytes_total);
}

TEST_CASE("a sampled tensor is analysed up to its last sampled element") {
  const ScratchDir scratch;
  scratch.write("a.npy", test::npy_of("<f8", {2, 2}, bytes_of_doubles({3, 5, 7, 100})));
  const ListedDump dump = test::list_dump({scratch.path()});
  const auto shape_and_max = [&](std::optional<int64_t> first) {
    const auto results = compute_all(dump, {.first_elements = first});
    REQUIRE(results[0]);
    return std::pair(results[0]->shape, results[0]->max);
  };
  CHECK(shape_and_max(3) == std::pair(Shape{3}, 7.0));
  CHECK(shape_and_max(4) == std::pair(Shape{2, 2}, 100.0));
  CHECK(shape_and_max(9) == std::pair(Shape{2, 2}, 100.0));
  CHECK(compute_all(dump, {.first_elements = 3})[0]->data_size == 24);
}

TEST_CASE("a tensor that cannot leave the device format says why it was analysed so") {
  const ScratchDir scratch;
  scratch.write("Add.a.1.2.3",
                test::build_dump(
                    {.tensors = {test::output_of(DType::kInt8, Format::kC1HWNC0, {1, 1, 1, 2, 3, 4}),
                                 test::output_of(DType::kInt8, Format::kNC1HWC0, {1, 1, 1, 1, 16}, {{1, 3, 1, 1}})}}));
  const auto results = compute_all(test::list_dump({scratch.path()}), {});
  REQUIRE((results.size() == 2 && results[0] && results[1]));
  CHECK(results[0]->note.find("no public inverse") != std::string::npos);
  CHECK((results[0]->stored_bytes == 24 && results[0]->data_size == 24));
  CHECK(results[1]->note.empty());
  CHECK((results[1]->stored_bytes == 16 && results[1]->data_size == 3));
}

// Everything else that is said of a tensor, in a line.
std::string line_of(const TensorStatistics& one) {
  std::string text = test::oracle_text(one.max) + " " + test::oracle_text(one.min) + " " + test::oracle_text(one.avg);
  text += " " + test::oracle_text(one.l2norm);
  for (const uint64_t count :
       {one.count, one.negative, one.positive, one.zero, one.nan, one.negative_inf, one.positive_inf})
    text += " " + std::to_string(count);
  return text;
}

TEST_CASE("a tensor that all workers share has the statistics of its dialect") {
  constexpr size_t kElements = (size_t{2} << 20) + 12345;  // of 8 bytes: more than 16 MiB
  std::vector<double> values(kElements);
  for (size_t i = 0; i < kElements; ++i)
    values[i] = static_cast<double>(i % 1013) * 0.37 - static_cast<double>(i / 65536);
  values[kElements - 1] = HUGE_VAL;
  const ScratchDir scratch;
  write_doubles(scratch, "a.npy", {-7});
  write_doubles(scratch, "b.npy", values);
  write_doubles(scratch, "c.npy", {8});
  const ListedDump dump = test::list_dump({scratch.path()});
  using test::OracleRule;
  // 32 long chunks, and many short ones.
  for (const auto& [version, rule] : {std::pair("2.6.0", OracleRule::kC2), std::pair("2.10.0", OracleRule::kD)}) {
    INFO(version);
    const test::OracleStatistics oracle = test::oracle_statistics(values, rule);
    TensorStatistics expected;
    expected.max = oracle.max, expected.min = oracle.min, expected.avg = oracle.avg, expected.l2norm = oracle.l2norm;
    expected.count = oracle.count, expected.negative = oracle.negative, expected.positive = oracle.positive;
    expected.zero = oracle.zero, expected.positive_inf = oracle.positive_inf;
    RecordedProgress progress;
    Job job{.jobs = 3, .progress = &progress};
    job.options.dialect = dialect_from_text(version).value();
    const auto results = compute_all(dump, job);
    CHECK((results[0] && results[0]->max == -7));
    REQUIRE(results[1]);
    CHECK(line_of(*results[1]) == line_of(expected));
    CHECK((results[2] && results[2]->max == 8));
    CHECK(progress.bytes_done == (kElements + 2) * 8);
    CHECK(progress.units_done.size() == 3);
  }
}

TEST_CASE("honest statistics are of all finite elements, whatever the dialect; what is small is not lost in between") {
  constexpr float kMost = std::numeric_limits<float>::max();
  std::vector<float> values(140001, 0);  // seven slices, read in two slabs
  values[0] = values[100000] = kMost;
  values[1] = NAN;
  values[2] = -HUGE_VALF;
  values[3] = 1e-40F;
  values[60000] = 3;
  values[110000] = values[140000] = -kMost;
  const ScratchDir scratch;
  scratch.write("a.npy", test::npy_of("<f4", {140001}, {reinterpret_cast<const char*>(values.data()), 140001 * 4}));
  const ListedDump dump = test::list_dump({scratch.path()});
  const Wanted wanted = {.sum = true, .extremes = true, .counts = true, .codes = true, .mean_abs = true};
  const auto results =
      compute_all(dump, {{.dialect = &all_dialects().front(), .honest = true, .wanted = wanted, .finite = true}});
  REQUIRE(results[0]);
  const TensorStatistics& got = *results[0];
  CHECK((got.max == double{kMost} && got.min == -double{kMost}));
  CHECK(got.avg == 3.0 / 139999);
  CHECK(got.mean_abs == 4 * double{kMost} / 139999);
  CHECK(got.codes == kernels::CodeCounts{1, 2, 2});
  CHECK((got.count == 140001 && got.nan == 1 && got.negative_inf == 1 && got.positive == 4));
}

TEST_CASE("the mean magnitude is of floating-point and unsigned elements, and of no signed integers") {
  test::DumpSpec spec;
  const auto add = [&](DType dtype, const std::string& bytes, uint64_t count) {
    spec.tensors.push_back(test::output_of(dtype, Format::kND, {count}));
    spec.tensors.back().data = bytes;
  };
  add(DType::kFloat16, std::string("\0\xbc\0\x42\0\xfe", 6), 3);  // -1, 3, -NaN
  add(DType::kBfloat16, std::string("\x80\xbf\x40\x40", 4), 2);   // -1, 3
  add(DType::kFloat64, bytes_of_doubles({-1, 3, -HUGE_VAL}), 3);
  add(DType::kHifloat8, std::string("\x88\x80\x08", 3), 3);  // -1, NaN, 1
  add(DType::kUint8, std::string("\x81\x03", 2), 2);         // 129, 3
  add(DType::kBool, std::string("\1\0\1\1", 4), 4);
  add(DType::kInt8, std::string("\xff\3", 2), 2);
  const ScratchDir scratch;
  scratch.write("Add.a.1.2.3", test::build_dump(spec));
  const ListedDump dump = test::list_dump({scratch.path()});
  Job job;
  job.options.wanted = {.codes = true, .mean_abs = true};
  const auto results = compute_all(dump, job);
  REQUIRE(results.size() == 7);
  std::vector<std::optional<double>> means;
  std::vector<bool> with_codes;
  for (const auto& result : results) {
    REQUIRE(result);
    means.push_back(result->mean_abs);
    with_codes.push_back(result->codes.has_value());
  }
  CHECK(means == std::vector<std::optional<double>>{2, 2, 2, 1, 66, 0.75, std::nullopt});
  CHECK(with_codes == std::vector<bool>{true, true, true, true, false, false, false});
}

}  // namespace
}  // namespace msdump::stats
