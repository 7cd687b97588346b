#include <sys/resource.h>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "parts/part_file.h"
#include "stats/compute.h"
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

std::vector<Result<TensorNumbers>> compute_all(const ListedDump& dump, const Job& job) {
  std::vector<ComputeItem> items;
  for (const TensorRecord& tensor : dump.tensors()) items.push_back({&tensor, job.first_elements});
  WorkerPool pool(job.jobs);
  const CancelToken never;
  std::vector<Result<TensorNumbers>> results;
  compute(dump.index, items, job.options, {pool, job.cancel != nullptr ? *job.cancel : never, job.progress},
          [&](size_t item, Result<TensorNumbers>&& result) {
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
  for (const auto& result : results) CHECK((result && result->value(Extremum::kMax) == 1.0));
}

TEST_CASE("results come in the order of the tensors, and progress has counted every byte and file") {
  const ScratchDir scratch;
  for (int i = 0; i < 150; ++i) write_doubles(scratch, std::to_string(1000 + i) + ".npy", {i - 0.5, i + 0.5});
  const ListedDump dump = test::list_dump({scratch.path()});
  for (const unsigned jobs : {1U, 3U}) {
    RecordedProgress progress;
    const auto results = compute_all(dump, {.jobs = jobs, .progress = &progress});
    for (size_t i = 0; i < results.size(); ++i)
      CHECK((results[i] && results[i]->value(Extremum::kMean) == static_cast<double>(i)));
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
    if (!damaged) CHECK(results[i]->value(Extremum::kMax) == static_cast<double>(i));
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
  CHECK((results[1] && results[1]->value(Extremum::kMax) == 2));
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
    return std::pair(*results[0]->shape, results[0]->value(Extremum::kMax));
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
std::string line_of(const TensorNumbers& one) {
  std::string text;
  for (const Extremum which : {Extremum::kMax, Extremum::kMin, Extremum::kMean, Extremum::kNorm})
    text += test::oracle_text(one.value(which)) + " ";
  for (const StatisticCount count :
       {&TensorNumbers::count, &TensorNumbers::negative, &TensorNumbers::positive, &TensorNumbers::zero,
        &TensorNumbers::nan, &TensorNumbers::negative_inf, &TensorNumbers::positive_inf})
    text += " " + std::to_string((one.*count).value_or(0));
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
    TensorNumbers expected;
    expected.numbers = test::numbers_of(oracle.max, oracle.min, oracle.avg, oracle.l2norm);
    expected.count = oracle.count, expected.negative = oracle.negative, expected.positive = oracle.positive;
    expected.zero = oracle.zero, expected.positive_inf = oracle.positive_inf;
    RecordedProgress progress;
    Job job{.jobs = 3, .progress = &progress};
    job.options.dialect = dialect_from_text(version).value();
    const auto results = compute_all(dump, job);
    CHECK((results[0] && results[0]->value(Extremum::kMax) == -7));
    REQUIRE(results[1]);
    CHECK(line_of(*results[1]) == line_of(expected));
    CHECK((results[2] && results[2]->value(Extremum::kMax) == 8));
    CHECK(progress.bytes_done == (kElements + 2) * 8);
    CHECK(progress.units_done.size() == 3);
  }
}

TEST_CASE("exact statistics are of all finite elements, whatever the dialect; what is small is not lost in between") {
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
      compute_all(dump, {{.dialect = &all_dialects().front(), .exact = true, .wanted = wanted, .finite_only = true}});
  REQUIRE(results[0]);
  const TensorNumbers& got = *results[0];
  CHECK((got.value(Extremum::kMax) == double{kMost} && got.value(Extremum::kMin) == -double{kMost}));
  CHECK(got.value(Extremum::kMean) == 3.0 / 139999);
  CHECK(got.mean_abs == 4 * double{kMost} / 139999);
  CHECK(got.codes == kernels::CodeCounts{1, 2, 2});
  CHECK((got.count == 140001U && got.nan == 1U && got.negative_inf == 1U && got.positive == 4U));
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

// Statistics that another process computed: taken as they are, in the order of the tensors, and the rest computed.

namespace {

// Some facts, and what is kept beside them.
class SomeFacts : public FactStore {
 public:
  [[nodiscard]] std::optional<std::string_view> find(const FactKey& key) const override {
    const auto found = known.find(key);
    return found == known.end() ? std::nullopt : std::optional<std::string_view>(found->second);
  }
  void keep(const FactKey& key, std::string bytes) override { kept.emplace(key, std::move(bytes)); }

  std::map<FactKey, std::string> known, kept;
};

class Dump {
 public:
  Dump() : listed_(list()) {}

  // The value of each item as it arrives, "cut" for an error; items in the order of arrival.
  [[nodiscard]] std::vector<std::string> compute(FactStore* facts, unsigned jobs = 1) {
    std::vector<ComputeItem> items;
    for (const TensorRecord& tensor : listed_.tensors()) items.push_back({&tensor});
    WorkerPool pool(jobs);
    const CancelToken never;
    std::vector<std::string> arrived;
    ComputeOptions options;
    options.wanted.extremes = true;
    stats::compute(
        listed_.index, items, options, {pool, never, nullptr, facts}, [&](size_t item, Result<TensorNumbers>&& one) {
          arrived.push_back(fmt::format("{} {}", item, one ? fmt::format("{}", one->value(Extremum::kMax)) : "cut"));
        });
    return arrived;
  }

  [[nodiscard]] const std::vector<TensorRecord>& tensors() const { return listed_.tensors(); }

 private:
  test::ListedDump list() {
    for (const int i : {0, 1, 2, 3, 4}) {
      std::string file = test::npy_of("<f4", {1}, std::string_view("\0\0\x80\x3f", 4));
      if (i == 3) file.resize(file.size() - 1);
      scratch_.write(fmt::format("Mul.op{}.0.0.1700000000000001.output.0.DefaultFormat.Float32.npy", i), file);
    }
    return test::list_dump({scratch_.path()}, Headers::kWhereNeeded);
  }

  test::ScratchDir scratch_;
  test::ListedDump listed_;
};

using Lines = std::vector<std::string>;
const Lines kAll = {"0 1", "1 1", "2 1", "3 cut", "4 1"};

TEST_CASE("Without a store all is computed, and with an empty one all is kept, failures too") {
  Dump dump;
  CHECK(dump.compute(nullptr) == kAll);
  SomeFacts facts;
  CHECK(dump.compute(&facts, 3) == kAll);
  CHECK(facts.kept.size() == 5);
  SomeFacts again;
  again.known = facts.kept;
  CHECK(dump.compute(&again) == kAll);
  CHECK(again.kept.empty());
}

TEST_CASE("What is known is handed on in its place, whatever is computed around it") {
  Dump dump;
  TensorNumbers other;
  other.numbers[0] = StatisticNumber{7};
  for (const std::vector<size_t>& known : {std::vector<size_t>{0}, {4}, {1, 2}, {0, 2, 4}, {3}, {0, 1, 2, 3, 4}}) {
    SomeFacts facts;
    Lines expected = kAll;
    for (const size_t i : known) {
      facts.known.emplace(statistics_key(dump.tensors()[i]), encode_result(Result<TensorNumbers>(other)));
      expected[i] = fmt::format("{} 7", i);
    }
    CHECK(dump.compute(&facts, 2) == expected);
    CHECK(facts.kept.size() == 5 - known.size());
  }
}

TEST_CASE("A fact that cannot be read is the failure of its tensor") {
  Dump dump;
  SomeFacts facts;
  facts.known.emplace(statistics_key(dump.tensors()[1]), "?");
  CHECK(dump.compute(&facts) == Lines{"0 1", "1 cut", "2 1", "3 cut", "4 1"});
}

TEST_CASE("All members of a tensor's statistics come back") {
  TensorNumbers one;
  one.dtype = DType::kBfloat16;
  one.shape = {2, 3};
  one.data_size = 1;
  one.stored_bytes = 2;
  one.note = "note";
  one.numbers = test::numbers_of(3, -4, 0.1, 5e-324);
  one.nothing_finite = true;
  one.count = 6, one.negative = 7, one.positive = 8, one.zero = 9, one.nan = 10, one.negative_inf = 11;
  one.positive_inf = 12;
  one.checksums = {{ChecksumKind::kMd5, true, "m"}, {ChecksumKind::kSha1, false, "s"}};
  one.codes = kernels::CodeCounts{13, 14, 15};
  one.mean_abs = 16;
  const auto read = decode_result<TensorNumbers>(encode_result(Result<TensorNumbers>(one)));
  REQUIRE(read);
  CHECK(read->dtype == one.dtype);
  CHECK(read->shape == one.shape);
  CHECK(std::tuple(read->data_size, read->stored_bytes, read->note, read->nothing_finite) ==
        std::tuple(one.data_size, one.stored_bytes, one.note, one.nothing_finite));
  for (const Extremum which : {Extremum::kMax, Extremum::kMin, Extremum::kMean, Extremum::kNorm})
    CHECK(read->value(which) == one.value(which));
  CHECK(std::tuple(read->count, read->negative, read->positive, read->zero, read->nan) ==
        std::tuple(one.count, one.negative, one.positive, one.zero, one.nan));
  CHECK(std::tuple(read->negative_inf, read->positive_inf) == std::tuple(one.negative_inf, one.positive_inf));
  REQUIRE((read->find(ChecksumKind::kMd5) != nullptr && read->find(ChecksumKind::kSha1) != nullptr));
  CHECK((read->find(ChecksumKind::kMd5)->text == "m" && read->find(ChecksumKind::kMd5)->widened));
  CHECK(read->find(ChecksumKind::kSha1)->text == "s");
  CHECK(read->codes == one.codes);
  CHECK(read->mean_abs == one.mean_abs);
}

}  // namespace

// Expected digests: hashlib of Python.

namespace {

using enum StatisticColumn;

std::string bytes_of_floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

// -1, 2, 5, ...
std::vector<float> steps_of_three(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i) * 3 - 1;
  return values;
}

std::string md5_of(const TensorNumbers& numbers) { return test::checksum_of(numbers, ChecksumKind::kMd5); }
std::string sha1_of(const TensorNumbers& numbers) { return test::checksum_of(numbers, ChecksumKind::kSha1); }

// Statistics of a tensor that MindSpore says is of `dtype`, stored as `descr`.
TensorNumbers statistics_as(const std::string& dtype, std::string_view descr, const Shape& shape,
                            const std::string& bytes, const char* version,
                            std::vector<StatisticColumn> columns = test::StatisticsRequest::all_columns()) {
  const test::ScratchDir scratch;
  scratch.write("Add.a.1.2.1700000000000001.output.0.DefaultFormat." + dtype + ".npy",
                test::npy_of(descr, shape, bytes));
  const test::ListedDump dump = test::list_dump({scratch.path()});
  auto results =
      test::compute_statistics(dump, {.dialect = dialect_from_text(version).value(), .columns = std::move(columns)});
  REQUIRE(results.size() == 1);
  REQUIRE(results[0]);
  return std::move(*results[0]);
}

TEST_CASE("MD5 is of all bytes; SHA1 of more than 20480 elements is of the digests of its slices") {
  struct Case {
    size_t count;
    const char *md5, *sha1;
  };
  for (const Case& one :
       {Case{0, "d41d8cd98f00b204e9800998ecf8427e", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
        Case{20480, "15520dcb76c1bfcfcb0a2928a3747c8c", "965fc2070788b5cdc0f04ab506c68dbf1fb245d2"},
        Case{20481, "7a379578533752752ce33774adaf6d05", "46dc2f3f2a258c0ec593acdfa879eac0513fd945"},
        Case{50000, "c8e178fe1b5b9828bb0eb1f5f571e668", "4455c527131d59e9019ab540a139145851096611"}}) {
    INFO(one.count);
    const auto values = steps_of_three(one.count);
    const auto both = test::statistics_of("<f4", values, {});
    CHECK(md5_of(both) == one.md5);
    CHECK(sha1_of(both) == one.sha1);
    const auto md5 = test::statistics_of("<f4", values, {.columns = {kMd5}});
    CHECK((md5_of(md5) == one.md5 && sha1_of(md5).empty()));
    const auto sha1 = test::statistics_of("<f4", values, {.columns = {kSha1}});
    CHECK((sha1_of(sha1) == one.sha1 && md5_of(sha1).empty()));
  }
}

TEST_CASE("a dialect that merges running means gives digests without them") {
  const auto got = test::statistics_of("<f4", steps_of_three(20481),
                                       {.dialect = dialect_from_text("2.3.0").value(), .columns = {kMd5}});
  CHECK(md5_of(got) == "7a379578533752752ce33774adaf6d05");
}

TEST_CASE("digests and size of a bfloat16 tensor are those of its 2 bytes, in 2.2.14 of its float32 copy") {
  const std::string floats = bytes_of_floats({1.5F, -2.0F, 3.25F});
  std::string halves;
  for (size_t i = 0; i < floats.size(); i += 4) halves += floats.substr(i + 2, 2);
  struct Case {
    const char* descr;
    const std::string& bytes;
  };
  for (const Case& one : {Case{"<f4", floats}, Case{"<E2", halves}}) {
    INFO(one.descr);
    const auto now = statistics_as("bfloat16", one.descr, {3}, one.bytes, "2.10.0");
    CHECK(now.dtype == DType::kBfloat16);
    CHECK(now.data_size == 6);
    CHECK(md5_of(now) == "1b0a246fd5e51ef4c4cd5535ad872043");
    CHECK(sha1_of(now) == "aa61178f21609f1d63bd6e336d800e8f8a1ed50e");
    CHECK(now.value(Extremum::kMax) == 3.25);
    const auto widened = statistics_as("bfloat16", one.descr, {3}, one.bytes, "2.2.14");
    CHECK(widened.data_size == 12);
    CHECK(md5_of(widened) == "814781a0730d10845b51976ba4c49416");
    CHECK(widened.value(Extremum::kMax) == 3.25);
  }
  const auto plain = statistics_as("float32", "<f4", {3}, floats, "2.10.0");
  CHECK(plain.data_size == 12);
  CHECK(md5_of(plain) == "814781a0730d10845b51976ba4c49416");
}

TEST_CASE("MD5 of 4-bit integers is of as many of their unpacked bytes as the packed tensor has") {
  const auto got = statistics_as("int4", "|i1", {5}, std::string("\1\xfe\3\7\5", 5), "2.10.0");
  CHECK(got.dtype == DType::kInt4);
  CHECK(got.data_size == 3);
  CHECK(got.count == 5);
  CHECK(got.value(Extremum::kMin) == -2);
  CHECK(md5_of(got) == "1c920a28f74ea87c63e811af84dc8a46");
  CHECK(sha1_of(got) == "f8846e0b457e30acd92e8bfa1b5bd72d7864e394");
}

TEST_CASE("complex numbers have digests and no statistics") {
  const std::string bytes = bytes_of_floats({1, 2, 3, 4});
  const auto got = statistics_as("complex64", "<c8", {1, 2}, bytes, "2.10.0");
  CHECK_FALSE(got.count);
  CHECK(got.shape == Shape{1, 2});
  CHECK(got.data_size == 16);
  CHECK(md5_of(got) == "b4ad64bc24f643726bddf5606af738da");
  CHECK(md5_of(statistics_as("complex64", "<c8", {1, 2}, bytes, "2.10.0", {kMd5})) == md5_of(got));
  CHECK(sha1_of(statistics_as("complex64", "<c8", {1, 2}, bytes, "2.10.0", {kSha1})) == sha1_of(got));
}

TEST_CASE("elements of no fixed width have digests of their bytes and no statistics") {
  const auto got = statistics_as("string", "|u1", {5}, "hello", "2.10.0");
  CHECK_FALSE(got.count);
  CHECK(got.dtype == DType::kString);
  CHECK(got.data_size == 5);
  CHECK(md5_of(got) == "5d41402abc4b2a76b9719d911017c592");
  CHECK(sha1_of(got) == "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d");
}

}  // namespace

}  // namespace msdump::stats
