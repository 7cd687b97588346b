#include "convert/convert.h"

#include <atomic>

#include "ascend/opdebug.h"
#include "io/atomic_file.h"
#include "kernels/widen/widen.h"
#include "support/catch.h"
#include "support/convert_run.h"
#include "support/dump_builder.h"
#include "support/format_oracle.h"
#include "support/npy_builder.h"
#include "support/safetensors_builder.h"
#include "support/scratch_dir.h"

using namespace msdump;
using namespace msdump::test;

// The kinds of input besides tensors of dump files: overflow records, .npy files, raw .bin files.

namespace {

ConvertRun convert_dump(const ScratchDir& scratch, std::optional<Shape> shape = {},
                        std::optional<Format> format = Format::kNCHW) {
  ConvertOptions options;
  options.out = scratch.file("out");
  options.format = format;
  options.shape = std::move(shape);
  return run_convert({scratch.file("dump")}, options);
}

std::string old_opdebug_record() {
  std::string bytes;
  for (uint64_t i = 0; i < 256; ++i) put_u64(bytes, i < 100 ? 1000 + i : 0);
  return bytes;
}

std::string new_opdebug_record() {
  std::string bytes;
  for (const uint32_t word : {0x5A5A5A5AU, 2U, 1U, 0U, 0U, 88U}) put_u32(bytes, word);
  for (uint64_t i = 0; i < 11; ++i) put_u64(bytes, 70 + i);
  bytes.resize(2048, '\0');
  return bytes;
}

// Elements in the order of `sources`, widened from bfloat16.
std::string widened(const std::string& halves, const std::vector<int64_t>& sources) {
  std::string floats;
  for (const int64_t source : sources) {
    floats += std::string(2, '\0');
    floats += halves.substr(static_cast<size_t>(source) * 2, 2);
  }
  return floats;
}

std::vector<int64_t> in_order(int64_t count) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < count; ++i) all.push_back(i);
  return all;
}

const std::string kNpyFront = "Conv2D.c1.3.7.1700000000000000.output.0.";

}  // namespace

TEST_CASE("overflow records of both generations become json, with a format asked for or without") {
  for (const std::string& record : {old_opdebug_record(), new_opdebug_record()}) {
    for (const auto& format : {std::optional(Format::kNCHW), std::optional<Format>()}) {
      const ScratchDir scratch;
      TensorSpec tensor = output_of(DType::kUint8, Format::kND, {2048});
      tensor.data = record;
      scratch.write("dump/Opdebug.Node_OpDebug.1.2.1700000000000000", build_dump({.tensors = {tensor}}));
      const ConvertRun run = convert_dump(scratch, {}, format);
      CHECK(run.failures.empty());
      const std::string output = "Opdebug.Node_OpDebug.1.2.1700000000000000.output.0.json";
      REQUIRE(scratch.exists("out/" + output));
      const auto expected = ascend::read_opdebug(std::as_bytes(std::span(record.data(), record.size())), 0).value();
      CHECK(scratch.read("out/" + output) == ascend::opdebug_json(expected));
      CHECK(run.rows.at(0).output == output);
      CHECK(run.rows.at(0).status == ConvertStatus::kWritten);
      CHECK(run.summary.bytes_in == 2048);
    }
  }
}

TEST_CASE("an overflow record that is none is a failure of its tensor") {
  const ScratchDir scratch;
  scratch.write("dump/Opdebug.Node_OpDebug.1.2.1700000000000000",
                build_dump({.tensors = {output_of(DType::kUint8, Format::kND, {3})}}));
  const ConvertRun run = convert_dump(scratch);
  REQUIRE(run.failures.size() == 1);
  CHECK(run.failures[0].tensor == "output:0");
  CHECK(files_below(scratch.file("out")).empty());
}

TEST_CASE("MindSpore's bfloat16 in .npy files is widened to float32 under the same name") {
  for (const std::string descr : {"<E2", "<T2", "<h2"}) {
    for (const auto& format : {std::optional(Format::kNCHW), std::optional<Format>()}) {
      INFO(descr);
      const ScratchDir scratch;
      const std::string data = pattern_bytes(2 * 15, 4), name = kNpyFront + "DefaultFormat.bfloat16.npy";
      scratch.write("dump/" + name, build_npy({.literal = npy_literal(descr, "(3, 5)"), .data = data}));
      const ConvertRun run = convert_dump(scratch, {}, format);
      CHECK(run.failures.empty());
      REQUIRE(scratch.exists("out/" + name));
      const NpyText npy = parse_npy(scratch.read("out/" + name));
      CHECK(npy.descr() == "<f4");
      CHECK(npy.shape() == std::vector<int64_t>{3, 5});
      CHECK((npy.body == widened(data, in_order(15))));
    }
  }
}

TEST_CASE("an .npy file that numpy can read is left alone") {
  const ScratchDir scratch;
  scratch.write("dump/" + kNpyFront + "NCHW.float32.npy", build_npy({}));
  scratch.write("dump/anything.npy", build_npy({}));
  const ConvertRun run = convert_dump(scratch);
  CHECK(run.failures.empty());
  CHECK(run.warnings.empty());
  CHECK(files_below(scratch.file("out")).empty());
  REQUIRE(run.rows.size() == 2);
  for (const ConvertRow& row : run.rows) {
    CHECK(row.status == ConvertStatus::kSkipped);
    CHECK_FALSE(row.output);
  }
}

TEST_CASE("an .npy file in device format is converted when its original shape is given") {
  const DeviceLayout layout{Format::kNC1HWC0, {2, 20, 1, 3, 4}, 16, 0};
  const std::string data = pattern_bytes(2 * 2 * 2 * 3 * 4 * 16, 9);
  const auto sources = sources_of(layout, "NCHW");
  for (const bool bfloat16 : {false, true}) {
    const ScratchDir scratch;
    scratch.write("dump/" + kNpyFront + "NC1HWC0.npy",
                  build_npy({.literal = npy_literal(bfloat16 ? "<E2" : "<f2", "(2, 2, 3, 4, 16)"), .data = data}));
    const ConvertRun run = convert_dump(scratch, Shape{2, 20, 3, 4});
    CHECK(run.failures.empty());
    REQUIRE(scratch.exists("out/" + kNpyFront + "NCHW.npy"));
    const NpyText npy = parse_npy(scratch.read("out/" + kNpyFront + "NCHW.npy"));
    CHECK(npy.shape() == std::vector<int64_t>{2, 20, 3, 4});
    std::string moved;
    for (const int64_t source : sources) moved += data.substr(static_cast<size_t>(source) * 2, 2);
    CHECK(npy.descr() == (bfloat16 ? "<f4" : "<f2"));
    CHECK((npy.body == (bfloat16 ? widened(data, sources) : moved)));
  }
}

TEST_CASE("an .npy file in a format that cannot be undone without the original shape is kept with a warning") {
  const ScratchDir scratch;
  scratch.write("dump/" + kNpyFront + "FRACTAL_NZ.npy",
                build_npy({.literal = npy_literal("<f2", "(1, 1, 16, 16)"), .data = pattern_bytes(512, 1)}));
  const ConvertRun run = convert_dump(scratch);
  CHECK(run.failures.empty());
  CHECK(files_below(scratch.file("out")).empty());
  REQUIRE(run.warnings.size() == 1);
  CHECK(run.warnings[0].text.find("original shape") != std::string::npos);
  CHECK(run.rows.at(0).policy == PlanPolicy::kKept);
}

// Each element of two bytes the other way round.
std::string swapped(std::string data) {
  for (size_t i = 0; i + 1 < data.size(); i += 2) std::swap(data[i], data[i + 1]);
  return data;
}

TEST_CASE("a big-endian or Fortran-ordered array is converted as the array that it is") {
  // NHWC (1, 2, 2, 3): element (h, w, c) is 100h + 10w + c; NCHW wants c outermost.
  std::string nhwc, fortran, nchw;
  const auto append = [](std::string& text, int h, int w, int c) {
    const auto value = static_cast<int16_t>(100 * h + 10 * w + c);
    text.append(reinterpret_cast<const char*>(&value), 2);
  };
  for (int i = 0; i < 12; ++i) append(nhwc, i / 6, i / 3 % 2, i % 3);
  for (int i = 0; i < 12; ++i) append(fortran, i % 2, i / 2 % 2, i / 4);
  for (int i = 0; i < 12; ++i) append(nchw, i / 2 % 2, i % 2, i / 4);
  for (const auto& [literal, data] : {std::pair(npy_literal("<i2", "(1, 2, 2, 3)"), nhwc),
                                      std::pair(npy_literal(">i2", "(1, 2, 2, 3)"), swapped(nhwc)),
                                      std::pair(npy_literal("<i2", "(1, 2, 2, 3)", true), fortran)}) {
    INFO(literal);
    const ScratchDir scratch;
    scratch.write("dump/" + kNpyFront + "NHWC.npy", build_npy({.literal = literal, .data = data}));
    const ConvertRun run = convert_dump(scratch);
    CHECK(run.warnings.empty());
    CHECK(run.failures.empty());
    REQUIRE(scratch.exists("out/" + kNpyFront + "NCHW.npy"));
    const NpyText npy = parse_npy(scratch.read("out/" + kNpyFront + "NCHW.npy"));
    CHECK(npy.shape() == std::vector<int64_t>{1, 3, 2, 2});
    CHECK(npy.descr() == "<i2");
    CHECK_FALSE(npy.fortran_order());
    CHECK((npy.body == nchw));
  }
}

TEST_CASE("a Fortran-ordered array that numpy can read and that is in host format is left alone") {
  const ScratchDir scratch;
  scratch.write("dump/" + kNpyFront + "NCHW.npy",
                build_npy({.literal = npy_literal("<f4", "(1, 2, 2, 3)", true), .data = pattern_bytes(48, 1)}));
  const ConvertRun run = convert_dump(scratch);
  CHECK(run.warnings.empty());
  CHECK(files_below(scratch.file("out")).empty());
}

TEST_CASE("a Fortran-ordered array in device format is left alone with a warning") {
  const ScratchDir scratch;
  scratch.write("dump/" + kNpyFront + "NC1HWC0.npy",
                build_npy({.literal = npy_literal("<f2", "(1, 1, 2, 2, 16)", true), .data = pattern_bytes(128, 1)}));
  const ConvertRun run = convert_dump(scratch, Shape{1, 5, 2, 2});
  REQUIRE(run.warnings.size() == 1);
  CHECK(run.warnings[0].text == "a Fortran-ordered array stays in its device format");
  CHECK(files_below(scratch.file("out")).empty());
}

TEST_CASE("raw bin files of MindSpore 1.0 to 1.2 become arrays of the shape in their name") {
  const ScratchDir scratch;
  const std::string front = "Default--network--conv1--Conv2D-op12_output_0_shape_";
  scratch.write("dump/" + front + "2_3_Float32_DefaultFormat.bin", pattern_bytes(24, 1));
  scratch.write("dump/" + front + "0_Int32_DefaultFormat.bin", pattern_bytes(4, 2));
  scratch.write("dump/" + front + "3_5_BFloat16_DefaultFormat.bin", pattern_bytes(30, 3));
  const ConvertRun run = convert_dump(scratch);
  CHECK(run.failures.empty());
  const auto files = files_below(scratch.file("out"));
  REQUIRE(files.size() == 3);
  const NpyText matrix = parse_npy(files.at(front + "2_3_Float32_DefaultFormat.bin.output.0.2x3.npy"));
  CHECK(matrix.shape() == std::vector<int64_t>{2, 3});
  CHECK((matrix.body == pattern_bytes(24, 1)));
  const NpyText scalar = parse_npy(files.at(front + "0_Int32_DefaultFormat.bin.output.0.scalar.npy"));
  CHECK(scalar.shape().empty());
  CHECK((scalar.body == pattern_bytes(4, 2)));
  const NpyText wide = parse_npy(files.at(front + "3_5_BFloat16_DefaultFormat.bin.output.0.3x5.npy"));
  CHECK((wide.body == widened(pattern_bytes(30, 3), in_order(15))));
}

TEST_CASE("a raw bin file shorter than its name says is a failure") {
  const ScratchDir scratch;
  scratch.write("dump/Default--Add-op1_output_0_shape_2_3_Float32_DefaultFormat.bin", "too short");
  const ConvertRun run = convert_dump(scratch);
  REQUIRE(run.failures.size() == 1);
  CHECK(run.failures[0].message.find("24") != std::string::npos);
  CHECK(files_below(scratch.file("out")).empty());
}

TEST_CASE("buffers and spaces are written as bytes in every mode") {
  const std::string name = "Conv2D.c1.3.7.1700000000000000";
  for (const auto& format : {std::optional(Format::kNCHW), std::optional<Format>()}) {
    const ScratchDir scratch;
    scratch.write("dump/" + name,
                  build_dump({.tensors = {output_of(DType::kFloat32, Format::kND, {2}),
                                          raw_of(TensorSpec::kBuffer, 11, 3), raw_of(TensorSpec::kSpace, 13, 4)}}));
    const ConvertRun run = convert_dump(scratch, {}, format);
    CHECK(run.failures.empty());
    CHECK(run.warnings.empty());
    CHECK((scratch.read("out/" + name + ".l1buffer.0.bin") == pattern_bytes(11, 3)));
    CHECK((scratch.read("out/" + name + ".space.0.bin") == pattern_bytes(13, 4)));
  }
}

TEST_CASE("a bin has the elements without a header, except under MindSpore's names and of an .npy file") {
  const ScratchDir scratch;
  const std::string name = "Conv2D.c1.3.7.1700000000000000", array = kNpyFront + "DefaultFormat.bfloat16.npy";
  const TensorSpec tensor = output_of(DType::kFloat32, Format::kND, {2, 3});
  scratch.write("dump/" + name, build_dump({.tensors = {tensor}}));
  scratch.write("dump/" + array, build_npy({.literal = npy_literal("<E2", "(1,)"), .data = "ab"}));
  const auto converted = [&](const std::string& out, Naming naming) {
    ConvertOptions options;
    options.out = scratch.file(out);
    options.format = Format::kNCHW;
    options.type = OutputType::kBin;
    options.naming = naming;
    CHECK(run_convert({scratch.file("dump")}, options).failures.empty());
    return files_below(options.out);
  };
  auto files = converted("bins", Naming::kMsaccucmp);
  CHECK(files.size() == 2);
  CHECK((files.at(name + ".output.0.2_3.float32.ND.bin") == tensor.data));
  CHECK((parse_npy(files.at(array)).body == widened("ab", {0})));
  files = converted("arrays", Naming::kMindspore);
  CHECK(files.size() == 2);
  CHECK((parse_npy(files.at(name + ".output.0.ND.float32.npy")).body == tensor.data));
}

TEST_CASE("each parameter of a safetensors file becomes an array of its name, and two of one name are a failure") {
  const ScratchDir scratch;
  const std::string header = "{" + safetensors_entry("fc/w", "F32", "[2]", 0, 8) + "," +
                             safetensors_entry("h", "BF16", "[2]", 8, 12) + "," +
                             safetensors_entry("fc_w", "U8", "[1]", 12, 13) + "}";
  scratch.write("dump/m.safetensors",
                safetensors_file(header, std::string("\0\0\x80\x3f\0\0\0\x40\x80\x3f\0\x40x", 13)));
  const ConvertRun run = convert_dump(scratch, {}, std::nullopt);
  CHECK(run.summary.written == 2);
  CHECK(scratch.read("out/m.safetensors.fc_w.npy").ends_with(std::string("\0\0\x80\x3f\0\0\0\x40", 8)));
  CHECK(scratch.read("out/m.safetensors.h.npy").ends_with(std::string("\0\0\x80\x3f\0\0\0\x40", 8)));
  REQUIRE(run.failures.size() == 1);
  CHECK(run.failures[0].tensor == "fc_w");
}

// What goes wrong with one file or tensor costs that one only, and leaves nothing half done.

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
