// convert() over whole dumps: where outputs go, what is left alone, what a second run does.
#include "convert/convert.h"

#include <chrono>
#include <functional>

#include <fcntl.h>
#include <sys/stat.h>

#include "convert/output_tree.h"
#include "io/atomic_file.h"
#include "support/catch.h"
#include "support/convert_run.h"
#include "support/dump_builder.h"
#include "support/scratch_dir.h"

using namespace msdump;
using namespace msdump::test;
namespace fs = std::filesystem;

namespace {

const std::string kName = "Conv2D.Default_network-conv1-op1.3.7.1700000000000000";
const std::string kOther = "Add.Default_network-add-op2.4.7.1700000000000001";

std::string sample_dump() {
  return build_dump({.tensors = {input_of(DType::kFloat16, Format::kNC1HWC0, {1, 2, 3, 4, 16}, Dims{1, 20, 3, 4}),
                                 output_of(DType::kFloat32, Format::kND, {2, 3}, Dims{2, 3})}});
}

ConvertOptions options_for(const std::string& out, std::optional<Format> format = Format::kNCHW) {
  ConvertOptions options;
  options.out = out;
  options.format = format;
  return options;
}

std::vector<std::string> names_below(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& [name, content] : files_below(folder)) names.push_back(name);
  return names;
}

const std::string kInputName = kName + ".input.0.1x20x3x4.npy", kOutputName = kName + ".output.0.2x3.npy";

void set_age(const fs::path& path, std::chrono::seconds age) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - age);
}

}  // namespace

TEST_CASE("the tree of the dump is mirrored under OUT, and files that hold no tensors are counted") {
  const ScratchDir scratch;
  for (const std::string folder : {"dump/rank_0/Net/0/1/", "dump/rank_1/Net/0/1/", "dump/"})
    scratch.write(folder + kName, sample_dump());
  scratch.write("dump/rank_0/Net/0/1/statistic.csv", "Op Type,Op Name\n");
  scratch.write("dump/graph.ir", "text");
  scratch.write("dump/notes", "neither a dump nor anything else we know");
  const ConvertRun run = run_convert({scratch.file("dump")}, options_for(scratch.file("out")));
  REQUIRE_FALSE(run.error);
  CHECK(names_below(scratch.file("out")) ==
        std::vector<std::string>{kInputName, kOutputName, "rank_0/Net/0/1/" + kInputName,
                                 "rank_0/Net/0/1/" + kOutputName, "rank_1/Net/0/1/" + kInputName,
                                 "rank_1/Net/0/1/" + kOutputName});
  CHECK(run.failures.empty());
  CHECK(run.warnings.empty());
  CHECK(run.summary.inputs == 3);
  CHECK(run.summary.tensors == 6);
  CHECK(run.summary.written == 6);
  CHECK(run.summary.ignored == 3);
  CHECK(run.summary.bytes_in == 3 * (2 * 3 * 4 * 16 * 2 + 2 * 3 * 4));
  uint64_t bytes_out = 0;
  for (const auto& [name, content] : files_below(scratch.file("out"))) bytes_out += content.size();
  CHECK(run.summary.bytes_out == bytes_out);
}

TEST_CASE("a single file converts into OUT itself") {
  const ScratchDir scratch;
  const std::string file = scratch.write("dump/rank_0/" + kName, sample_dump());
  const ConvertRun run = run_convert({file}, options_for(scratch.file("a/new/out")));
  CHECK(names_below(scratch.file("a/new/out")) == std::vector<std::string>{kInputName, kOutputName});
  REQUIRE(run.rows.size() == 2);
  CHECK(run.rows[0].input == kName);
  CHECK(run.rows[0].output == kInputName);
}

TEST_CASE("rows say what became of each tensor") {
  const ScratchDir scratch;
  scratch.write(
      "dump/" + kName,
      build_dump({.tensors = {output_of(DType::kBfloat16, Format::kFractalZnLstm, {3, 8, 16, 16}, Dims{40, 80})}}));
  const ConvertRun run = run_convert({scratch.file("dump")}, options_for(scratch.file("out")));
  const ConvertRow* row = run.row_of(kName, "output:0");
  REQUIRE(row != nullptr);
  CHECK(row->from_format == "FRACTAL_ZN_LSTM");
  CHECK(row->to_format == "FRACTAL_ZN_LSTM");
  CHECK(row->dtype == "bfloat16");
  CHECK(row->npy_dtype == "float32");
  CHECK(row->shape == Shape{3, 8, 16, 16});
  CHECK(row->policy == PlanPolicy::kKept);
  CHECK(row->status == ConvertStatus::kWritten);
  CHECK(run.summary.kept == 1);
  CHECK(run.failures.empty());
  REQUIRE(run.warnings.size() == 1);
  CHECK(run.warnings[0].tensor == "output:0");
}

TEST_CASE(
    "resume leaves outputs that are complete and newer, and rewrites those that are short, older or begin otherwise") {
  const ScratchDir scratch;
  set_age(scratch.write("dump/" + kName, sample_dump()), std::chrono::seconds(100));
  set_age(scratch.write("dump/" + kOther, sample_dump()), std::chrono::seconds(100));
  ConvertOptions options = options_for(scratch.file("out"));
  options.resume = true;
  const ConvertRun first = run_convert({scratch.file("dump")}, options);
  CHECK(first.summary.written == 4);
  const auto complete = files_below(options.out);
  CHECK(run_convert({scratch.file("dump")}, options).summary.skipped == 4);

  fs::resize_file(scratch.file("out/" + kInputName), 10);
  set_age(scratch.file("out/" + kOutputName), std::chrono::seconds(200));
  scratch.write("out/" + kOther + ".output.0.2x3.npy",
                std::string(complete.at(kOther + ".output.0.2x3.npy").size(), 'x'));
  const ConvertRun second = run_convert({scratch.file("dump")}, options);
  CHECK(second.summary.written == 3);
  CHECK(second.summary.skipped == 1);
  CHECK(second.row_of(kOther, "input:0")->status == ConvertStatus::kSkipped);

  options.resume = false;
  CHECK(run_convert({scratch.file("dump")}, options).summary.written == 4);
  CHECK((files_below(options.out) == complete));
}

TEST_CASE("resume leaves an output as old as its input, and takes a pipe for what it is") {
  const ScratchDir scratch;
  const std::string input = scratch.write(
      "dump/" + kName, build_dump({.tensors = {output_of(DType::kFloat32, Format::kND, {0, 3}, Dims{0, 3})}}));
  ConvertOptions options = options_for(scratch.file("out"));
  options.resume = true;
  options.type = OutputType::kBin;
  REQUIRE(run_convert({scratch.file("dump")}, options).summary.written == 1);
  const std::string output = scratch.file("out/" + names_below(options.out).at(0));
  set_age(scratch.file("out/" + std::string(kConvertSettingsName)), std::chrono::seconds(100));
  fs::last_write_time(output, fs::last_write_time(input));
  CHECK(run_convert({scratch.file("dump")}, options).summary.skipped == 1);
  set_age(output, std::chrono::seconds(50));
  CHECK(run_convert({scratch.file("dump")}, options).summary.written == 1);
  fs::remove(output);
  REQUIRE(::mkfifo(output.c_str(), 0600) == 0);  // of no bytes, as the output has
  CHECK(run_convert({scratch.file("dump")}, options).summary.written == 1);
  CHECK(fs::is_regular_file(output));
}

TEST_CASE("resume keeps no array that was made with other options, even if it has the same name and shape") {
  const ScratchDir scratch;
  const TensorSpec output = output_of(DType::kFloat32, Format::kNC1HWC0, {1, 1, 4, 4, 16}, Dims{1, 4, 4, 4});
  set_age(scratch.write("dump/" + kName, build_dump({.tensors = {output}})), std::chrono::seconds(100));
  ConvertOptions first = options_for(scratch.file("first"));
  first.version = "1.0.0";
  // Of each: options that differ in one point, and may give outputs of one name and size.
  const auto differ = [&](const std::function<void(ConvertOptions&)>& change) {
    fs::remove_all(scratch.file("first"));
    ConvertOptions second = first, fresh = first;
    change(second);
    change(fresh);
    fresh.out = scratch.file("fresh");
    fs::remove_all(fresh.out);
    second.resume = true;
    (void)run_convert({scratch.file("dump")}, first);
    const ConvertRun resumed = run_convert({scratch.file("dump")}, second);
    CHECK(resumed.summary.written == 1);
    CHECK(run_convert({scratch.file("dump")}, second).summary.skipped == 1);
    (void)run_convert({scratch.file("dump")}, fresh);
    for (const auto& [name, content] : files_below(fresh.out)) CHECK(files_below(second.out).at(name) == content);
    // Whoever made them, the last run counts.
    (void)run_convert({scratch.file("dump")}, first);
    CHECK(run_convert({scratch.file("dump")}, second).summary.written == 1);
  };
  differ([](ConvertOptions& options) { options.format = Format::kNHWC; });
  differ([](ConvertOptions& options) { options.shape = Shape{1, 8, 4, 4}; });
  differ([](ConvertOptions& options) { options.type = OutputType::kBin; });
  differ([](ConvertOptions& options) { options.naming = Naming::kMindspore; });
  differ([](ConvertOptions& options) { options.version = "1.0.1"; });
  differ([](ConvertOptions& options) { options.ir = {"other.ir"}; });
}

TEST_CASE("resume trusts no OUT that does not say what made it") {
  const ScratchDir scratch;
  set_age(scratch.write("dump/" + kName, sample_dump()), std::chrono::seconds(100));
  ConvertOptions options = options_for(scratch.file("out"));
  options.resume = true;
  (void)run_convert({scratch.file("dump")}, options);
  const fs::path settings = scratch.path() / "out" / kConvertSettingsName;
  CHECK(scratch.read("out/.msdump-convert.json") ==
        "{\"version\":\"\",\"format\":\"NCHW\",\"type\":\"npy\",\"naming\":\"msaccucmp\",\"shape\":null,"
        "\"ir\":[]}\n");
  fs::remove(settings);
  CHECK(run_convert({scratch.file("dump")}, options).summary.written == 2);
  scratch.write("out/.msdump-convert.json", "damaged");
  CHECK(run_convert({scratch.file("dump")}, options).summary.written == 2);
  CHECK(run_convert({scratch.file("dump")}, options).summary.skipped == 2);
}

TEST_CASE("an array older than the settings that OUT has now is written anew, the others stay") {
  const ScratchDir scratch;
  for (const std::string& name : {kName, kOther})
    set_age(scratch.write("dump/" + name, sample_dump()), std::chrono::seconds(100));
  ConvertOptions options = options_for(scratch.file("out"));
  (void)run_convert({scratch.file("dump")}, options);
  // As if the run had been killed after it had replaced settings and one array.
  set_age(scratch.file("out/" + std::string(kConvertSettingsName)), std::chrono::seconds(40));
  set_age(scratch.file("out/" + kInputName), std::chrono::seconds(50));
  options.resume = true;
  const ConvertRun run = run_convert({scratch.file("dump")}, options);
  CHECK(run.row_of(kName, "input:0")->status == ConvertStatus::kWritten);
  CHECK(run.summary.skipped == 3);
}

TEST_CASE("two runs with other options that write into one OUT at once leave nothing to resume") {
  const ScratchDir scratch;
  scratch.make_dir("out");
  const CancelToken never;
  const SettingsFile one(options_for(scratch.file("out"))), other(options_for(scratch.file("out"), Format::kNHWC));
  REQUIRE(one.write(never));
  REQUIRE(other.write(never));
  one.end();
  CHECK_FALSE(scratch.exists("out/.msdump-convert.json"));
}

TEST_CASE("the settings of OUT are no file of a dump") {
  const ScratchDir scratch;
  scratch.write("dump/" + kName, sample_dump());
  (void)run_convert({scratch.file("dump")}, options_for(scratch.file("out")));
  REQUIRE(scratch.exists("out/.msdump-convert.json"));
  const auto index = DumpIndex::build({scratch.file("out")}, {});
  REQUIRE(index);
  CHECK(index->files().size() == 2);
  // OUT as the input of another run.
  CHECK(run_convert({scratch.file("out")}, options_for(scratch.file("again"))).summary.ignored == 0);
}

TEST_CASE("each status of a tensor has its word") {
  CHECK(name_of(ConvertStatus::kWritten) == "written");
  CHECK(name_of(ConvertStatus::kSkipped) == "skipped");
  CHECK(name_of(ConvertStatus::kPlanned) == "planned");
  CHECK(name_of(ConvertStatus::kFailed) == "failed");
}

TEST_CASE("progress counts the files, their bytes as they are read, and each file that is done") {
  class Recorder final : public ProgressSink {
   public:
    void start(uint64_t units, uint64_t bytes) override {
      units_total = units;
      bytes_total = bytes;
    }
    void add_bytes(uint64_t count) override { bytes_added += count; }
    void unit_done(std::string_view name) override { names.emplace_back(name); }
    uint64_t units_total = 0, bytes_total = 0, bytes_added = 0;
    std::vector<std::string> names;
  };
  const ScratchDir scratch;
  scratch.write("dump/" + kName, sample_dump());
  scratch.write("dump/" + kOther, sample_dump());
  scratch.write("dump/graph.ir", "text");
  Recorder progress;
  const ConvertRun run =
      run_convert({scratch.file("dump")}, options_for(scratch.file("out")), {.jobs = 1, .progress = &progress});
  CHECK(progress.units_total == 2);
  CHECK(progress.bytes_total == 2 * sample_dump().size());
  CHECK(progress.bytes_added == run.summary.bytes_in);
  CHECK(progress.names == std::vector<std::string>{kName, kOther});
}

TEST_CASE("resume takes a link or a folder in the place of an output for what it is") {
  const ScratchDir scratch;
  set_age(scratch.write("dump/" + kName, sample_dump()), std::chrono::seconds(100));
  ConvertOptions options = options_for(scratch.file("out"));
  options.resume = true;
  scratch.make_dir("out/" + kOutputName);
  const ConvertRun run = run_convert({scratch.file("dump")}, options);
  CHECK(run.summary.written == 1);
  REQUIRE(run.failures.size() == 1);
  CHECK(run.failures[0].code == ErrorCode::kWriteFailed);
  CHECK(run.failures[0].tensor == "output:0");
  CHECK(run.row_of(kName, "output:0")->status == ConvertStatus::kFailed);
  CHECK_FALSE(run.row_of(kName, "output:0")->output);
}

TEST_CASE("a dry run plans everything, writes nothing and does not make OUT") {
  const ScratchDir scratch;
  scratch.write("dump/" + std::string(245, 'n'), sample_dump());
  scratch.write("dump/" + kName, sample_dump());
  ConvertOptions options = options_for(scratch.file("out"));
  options.dry_run = true;
  const ConvertRun planned = run_convert({scratch.file("dump")}, options);
  CHECK_FALSE(scratch.exists("out"));
  CHECK(planned.summary.written == 0);
  CHECK(planned.summary.bytes_out == 0);
  REQUIRE(planned.rows.size() == 4);
  for (const ConvertRow& row : planned.rows) CHECK(row.status == ConvertStatus::kPlanned);
  options.dry_run = false;
  const ConvertRun done = run_convert({scratch.file("dump")}, options);
  for (size_t i = 0; i < done.rows.size(); ++i) CHECK(done.rows[i].output == planned.rows[i].output);
}

TEST_CASE("a dry run that resumes tells what is left to do") {
  const ScratchDir scratch;
  set_age(scratch.write("dump/" + kName, sample_dump()), std::chrono::seconds(100));
  ConvertOptions options = options_for(scratch.file("out"));
  run_convert({scratch.file("dump")}, options);
  fs::remove(scratch.file("out/" + kOutputName));
  options.resume = options.dry_run = true;
  const ConvertRun run = run_convert({scratch.file("dump")}, options);
  CHECK(run.row_of(kName, "input:0")->status == ConvertStatus::kSkipped);
  CHECK(run.row_of(kName, "output:0")->status == ConvertStatus::kPlanned);
}

TEST_CASE("the same place in two dumps is refused before anything is written") {
  const ScratchDir scratch;
  scratch.write("a/rank_0/" + kName, sample_dump());
  scratch.write("b/rank_0/" + kName, sample_dump());
  const ConvertRun run = run_convert({scratch.file("a"), scratch.file("b")}, options_for(scratch.file("out")));
  REQUIRE(run.error);
  CHECK(run.error->code == ErrorCode::kUsage);
  CHECK(run.error->message.find("rank_0/" + kName) != std::string::npos);
  CHECK_FALSE(scratch.exists("out"));
}

TEST_CASE("different places in several dumps go into one OUT, and a dump named twice counts once") {
  const ScratchDir scratch;
  scratch.write("a/rank_0/" + kName, sample_dump());
  scratch.write("b/rank_1/" + kName, sample_dump());
  const ConvertRun run =
      run_convert({scratch.file("a"), scratch.file("b"), scratch.file("a")}, options_for(scratch.file("out")));
  REQUIRE_FALSE(run.error);
  CHECK(run.summary.written == 4);
  CHECK(names_below(scratch.file("out")).size() == 4);
}

TEST_CASE("an OUT inside the dump is not taken for a part of it") {
  const ScratchDir scratch;
  scratch.write("dump/" + kName, sample_dump());
  const std::string out = scratch.make_dir("dump/converted");
  ConvertOptions options = options_for(out);
  options.naming = Naming::kMindspore;  // names that are those of a dump's own .npy files
  for (int round = 0; round < 2; ++round) {
    const ConvertRun run = run_convert({scratch.file("dump")}, options, {.excluded = {out}});
    CHECK(run.summary.inputs == 1);
    CHECK(run.summary.written == 2);
    CHECK(names_below(out).size() == 2);
  }
}

TEST_CASE("an OUT that cannot be a folder is one error, and nothing is done") {
  const ScratchDir scratch;
  scratch.write("dump/" + kName, sample_dump());
  scratch.write("file", "no folder");
  for (const std::string out : {"file", "file/below"}) {
    const ConvertRun run = run_convert({scratch.file("dump")}, options_for(scratch.file(out)));
    REQUIRE(run.error);
    CHECK(run.error->code == ErrorCode::kWriteFailed);
    CHECK(run.error->path.find(scratch.file("file")) != std::string::npos);
    CHECK(run.rows.empty());
  }
  CHECK(scratch.read("file") == "no folder");
}

TEST_CASE("a folder of OUT that cannot be made costs the tensors that belong there") {
  const ScratchDir scratch;
  scratch.write("dump/one/" + kName, sample_dump());
  scratch.write("dump/two/" + kName, sample_dump());
  scratch.write("out/one", "a file in the way");
  const ConvertRun run = run_convert({scratch.file("dump")}, options_for(scratch.file("out")));
  CHECK(run.summary.written == 2);
  CHECK(run.failures.size() == 2);
  for (const Error& failure : run.failures) CHECK(failure.code == ErrorCode::kWriteFailed);
}

TEST_CASE("a selection converts what it names, and a slot that no file has converts nothing") {
  const ScratchDir scratch;
  scratch.write("dump/" + kName, sample_dump());
  scratch.write("dump/" + kOther, sample_dump());
  const auto converted = [&](const std::string& op_type, const std::string& io, const std::string& slot) {
    RunOptions run;
    if (!op_type.empty()) run.selection.op_type = {op_type};
    run.selection.io = io;
    run.selection.slot = slot;
    return run_convert({scratch.file("dump")}, options_for(scratch.file("out")), run).summary.written;
  };
  CHECK(converted("", "output", "") == 2);
  CHECK(converted("Conv2D", "", "") == 2);
  CHECK(converted("Conv*", "input", "0") == 1);
  CHECK(converted("", "", "7") == 0);
}

TEST_CASE("the report does not depend on the number of jobs") {
  const ScratchDir scratch;
  for (int i = 0; i < 40; ++i) {
    const std::string name = "Add.a" + std::to_string(i) + ".1.2." + std::to_string(1700000000000000 - i % 7);
    scratch.write("dump/" + name, i % 5 == 3 ? build_faulty_dump(DumpFault::kDataCut) : sample_dump());
  }
  const ConvertRun one = run_convert({scratch.file("dump")}, options_for(scratch.file("out1")), {.jobs = 1});
  const ConvertRun many = run_convert({scratch.file("dump")}, options_for(scratch.file("out2")), {.jobs = 6});
  CHECK(one.transcript() == many.transcript());
  CHECK((files_below(scratch.file("out1")) == files_below(scratch.file("out2"))));
}

TEST_CASE("resume takes an output and an input of the far future for what they are") {
  const ScratchDir scratch;
  const std::string input = scratch.write("dump/" + kOther, sample_dump());
  ConvertOptions options = options_for(scratch.file("out"));
  REQUIRE(run_convert({scratch.file("dump")}, options).summary.written == 2);
  // Further than a number of 64 bits counts nanoseconds; not every file system keeps it.
  const timespec far[2] = {{int64_t{1} << 34, 0}, {int64_t{1} << 34, 0}};
  options.resume = true;
  for (const auto& [name, content] : files_below(scratch.file("out")))
    REQUIRE(::utimensat(AT_FDCWD, scratch.file("out/" + name).c_str(), far, 0) == 0);
  CHECK(run_convert({scratch.file("dump")}, options).summary.skipped == 2);
  REQUIRE(::utimensat(AT_FDCWD, input.c_str(), far, 0) == 0);
  CHECK(run_convert({scratch.file("dump")}, options).summary.skipped == 2);
}
