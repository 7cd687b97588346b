// What goes wrong with one file or tensor costs that one only, and leaves nothing half done.
#include <atomic>

#include "io/atomic_file.h"
#include "support/catch.h"
#include "support/convert_run.h"
#include "support/dump_builder.h"
#include "support/npy_builder.h"
#include "support/scratch_dir.h"

using namespace msdump;
using namespace msdump::test;

namespace {

const std::string kGood = "Add.good.1.2.1700000000000000", kBad = "Add.bad.1.2.1700000000000001";

std::string good_dump() { return build_faulty_dump(DumpFault::kNone); }

ConvertOptions options_for(const ScratchDir& scratch) {
  ConvertOptions options;
  options.out = scratch.file("out");
  options.format = Format::kNCHW;
  return options;
}

class CancelAfter final : public ProgressSink {
 public:
  CancelAfter(CancelToken& token, int calls) : token_(token), left_(calls) {}
  void start(uint64_t, uint64_t) override {}
  void add_bytes(uint64_t) override {
    if (--left_ <= 0) token_.cancel();
  }
  void unit_done(std::string_view) override {}

 private:
  CancelToken& token_;
  std::atomic<int> left_;
};

}  // namespace

TEST_CASE("a damaged dump file costs itself, whatever is wrong with it") {
  for (const DumpFault fault : all_dump_faults()) {
    INFO(name_of(fault));
    const ScratchDir scratch;
    scratch.write("dump/" + kGood, good_dump());
    scratch.write("dump/" + kBad, build_faulty_dump(fault));
    const ConvertRun run = run_convert({scratch.file("dump")}, options_for(scratch), {.jobs = 2});
    REQUIRE_FALSE(run.error);
    CHECK(run.failures.empty() == is_tolerated(fault));
    for (const Error& failure : run.failures) {
      CHECK(failure.path == scratch.file("dump/" + kBad));
      CHECK_FALSE(failure.message.empty());
      CHECK(failure.code != ErrorCode::kInternal);
      CHECK(failure.code != ErrorCode::kUsage);
    }
    int64_t good_files = 0, written = 0;
    for (const auto& [name, content] : files_below(scratch.file("out"))) {
      CHECK_FALSE(is_temporary_name(name));
      ++written;
      good_files += name.rfind(kGood, 0) == 0 ? 1 : 0;
      CHECK(parse_npy(content).header.find("descr") != std::string::npos);
    }
    CHECK(good_files == 2);
    CHECK(written == run.summary.written);
    CHECK(run.summary.failed == static_cast<int64_t>(run.failures.size()));
  }
}

TEST_CASE("a damaged .npy file costs itself, whatever is wrong with it") {
  for (const NpyFault fault : all_npy_faults()) {
    INFO(name_of(fault));
    const ScratchDir scratch;
    scratch.write("dump/" + kGood, good_dump());
    scratch.write("dump/" + kGood + ".output.0.ND.npy", build_faulty_npy(fault));
    const ConvertRun run = run_convert({scratch.file("dump")}, options_for(scratch));
    CHECK(run.failures.empty() == (fault == NpyFault::kNone));
    CHECK(files_below(scratch.file("out")).size() == 2);
  }
}

TEST_CASE("one tensor that cannot be converted does not cost the others of its file") {
  const ScratchDir scratch;
  TensorSpec unknown = output_of(DType::kFloat32, Format::kND, {2, 3});
  unknown.dtype = 99;
  const TensorSpec fits = output_of(DType::kFloat16, Format::kNC1HWC0, {1, 1, 2, 2, 16}, Dims{1, 9, 2, 2});
  const TensorSpec does_not = output_of(DType::kFloat16, Format::kNC1HWC0, {1, 1, 2, 2, 16}, Dims{1, 33, 2, 2});
  scratch.write("dump/" + kBad, build_dump({.tensors = {unknown, fits, does_not, fits}}));
  const ConvertRun run = run_convert({scratch.file("dump")}, options_for(scratch));
  CHECK(run.summary.written == 2);
  REQUIRE(run.failures.size() == 2);
  CHECK(run.failures[0].tensor == "output:0");
  CHECK(run.failures[0].code == ErrorCode::kUnsupportedDtype);
  CHECK(run.failures[1].tensor == "output:2");
  CHECK(run.failures[1].code == ErrorCode::kShapeMismatch);
  CHECK(run.rows.size() == 4);
}

TEST_CASE("a file that vanishes between listing and opening is a failure") {
  const ScratchDir scratch;
  scratch.write("dump/" + kGood, good_dump());
  scratch.write("dump/" + kBad, good_dump());
  const auto index = DumpIndex::build({scratch.file("dump")}, {}).value();
  std::filesystem::remove(scratch.file("dump/" + kBad));
  class Counting final : public ConvertSink {
   public:
    void row(const ConvertRow&) override {}
    void warning(const std::string&, const std::string&, const std::string&) override {}
    void failure(const Error& error) override { codes.push_back(error.code); }
    std::vector<ErrorCode> codes;
  };
  Counting sink;
  WorkerPool pool(2);
  const CancelToken never;
  const auto summary = convert(index, Selection(), options_for(scratch), {pool, never, sink, nullptr});
  REQUIRE(summary);
  CHECK(sink.codes == std::vector<ErrorCode>{ErrorCode::kNotFound});
  CHECK(files_below(scratch.file("out")).size() == 2);
}

TEST_CASE("an interrupted run stops soon, says so, and leaves whole files only") {
  for (const unsigned jobs : {1U, 3U}) {
    const ScratchDir scratch;
    const std::string large = build_dump(
        {.tensors = {output_of(DType::kFloat16, Format::kNC1HWC0, {8, 8, 40, 40, 16}, Dims{8, 120, 40, 40})}});
    for (int i = 0; i < 12; ++i) scratch.write("dump/Add.a" + std::to_string(i) + ".1.2.1700000000000000", large);
    const ConvertRun whole = run_convert({scratch.file("dump")}, options_for(scratch));
    const auto complete = files_below(scratch.file("out"));
    REQUIRE(complete.size() == 12);
    std::filesystem::remove_all(scratch.file("out"));
    CancelToken token;
    CancelAfter progress(token, 9);
    const ConvertRun run = run_convert({scratch.file("dump")}, options_for(scratch),
                                       {.jobs = jobs, .cancel = &token, .progress = &progress});
    CHECK(run.summary.interrupted);
    CHECK(run.failures.empty());
    const auto files = files_below(scratch.file("out"));
    CHECK(files.size() < 12);
    for (const auto& [name, content] : files) CHECK((content == complete.at(name)));
    CHECK(static_cast<int64_t>(files.size()) == run.summary.written);
    CHECK(run.summary.inputs == run.summary.written);
  }
}

TEST_CASE("a run that is cancelled before it begins writes nothing") {
  const ScratchDir scratch;
  scratch.write("dump/" + kGood, good_dump());
  CancelToken token;
  token.cancel();
  const ConvertRun run = run_convert({scratch.file("dump")}, options_for(scratch), {.cancel = &token});
  CHECK(run.summary.interrupted);
  CHECK(run.rows.empty());
  CHECK(run.failures.empty());
  CHECK(files_below(scratch.file("out")).empty());
}

TEST_CASE("what an interrupted file wrote under hashed names keeps its lines of mapping.csv") {
  const ScratchDir scratch;
  std::vector<TensorSpec> tensors(4, output_of(DType::kFloat32, Format::kND, {2, 3}));
  scratch.write("dump/" + std::string(250, 'n'), build_dump({.tensors = tensors}));
  CancelToken token;
  CancelAfter progress(token, 2);
  run_convert({scratch.file("dump")}, options_for(scratch), {.cancel = &token, .progress = &progress});
  const std::string mapping = scratch.exists("out/mapping.csv") ? scratch.read("out/mapping.csv") : "";
  for (const auto& [name, content] : files_below(scratch.file("out"))) {
    if (name == "mapping.csv") continue;
    CHECK(mapping.find(name) != std::string::npos);
  }
  CHECK(std::count(mapping.begin(), mapping.end(), '\n') == 2);
}
