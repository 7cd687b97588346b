// Good dump files: each kind, the order of the data, the limits of what is put up with.
#include "ascend/dump_file.h"

#include <algorithm>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/dump_builder.h"
#include "support/scratch_dir.h"

namespace msdump::ascend {
namespace {

using test::DumpKind;
using test::DumpSpec;
using test::input_of;
using test::output_of;
using test::raw_of;
using test::ScratchDir;
using test::TensorSpec;

struct Opened {
  File file;
  DumpFile dump;

  [[nodiscard]] std::string bytes_of(const DumpTensor& tensor) const {
    std::string bytes(static_cast<size_t>(tensor.size), '\0');
    REQUIRE(file.read_at(tensor.offset, std::as_writable_bytes(std::span(bytes.data(), bytes.size()))));
    return bytes;
  }
};

Opened open(const ScratchDir& scratch, const std::string& content) {
  auto file = File::open(scratch.write("dump", content));
  REQUIRE(file);
  auto dump = read_dump_file(*file);
  INFO((dump ? "" : dump.error().message));
  REQUIRE(dump);
  return {std::move(*file), std::move(*dump)};
}

DumpSpec mixed(DumpKind kind) {
  DumpSpec spec;
  spec.kind = kind;
  spec.tensors = {output_of(DType::kFloat32, Format::kND, {2, 3}, {{2, 3}}, 10),
                  input_of(DType::kFloat16, Format::kNC1HWC0, {1, 1, 2, 2, 16}, {{1, 3, 2, 2}}, 11),
                  output_of(DType::kInt8, Format::kND, {}, {}, 12), input_of(DType::kInt4, Format::kND, {5}, {}, 13)};
  if (kind != DumpKind::kNano) {
    spec.tensors.push_back(raw_of(TensorSpec::kSpace, 40, 14));
    spec.tensors.push_back(raw_of(TensorSpec::kBuffer, 9, 15));
  }
  return spec;
}

TEST_CASE("an output says which operator's it was before the compiler fused operators") {
  const ScratchDir scratch;
  DumpSpec spec = mixed(DumpKind::kBinary);
  spec.tensors[0].original_op = "Default/net-Net/ReLU-op4";
  spec.tensors[0].original_output = 2;
  spec.tensors[2].original_op = std::string(kMaxOriginalName + 1, 'x');  // no name
  spec.tensors[2].original_output = 1;
  for (const DumpTensor& tensor : open(scratch, build_dump(spec)).dump.tensors) {
    const bool said = tensor.label() == "output:0";
    CHECK(tensor.original_op == (said ? "Default/net-Net/ReLU-op4" : ""));
    CHECK(tensor.original_output == (said ? 2 : 0));
  }
  spec.tensors[2].original_op.pop_back();
  size_t longest = 0;
  for (const DumpTensor& tensor : open(scratch, build_dump(spec)).dump.tensors)
    longest = std::max(longest, tensor.original_op.size());
  CHECK(longest == kMaxOriginalName);
}

TEST_CASE("every kind of dump file gives the same tensors") {
  const ScratchDir scratch;
  for (const DumpKind kind : {DumpKind::kBinary, DumpKind::kClassic, DumpKind::kHybrid, DumpKind::kNano}) {
    CAPTURE(static_cast<int>(kind));
    const DumpSpec spec = mixed(kind);
    const Opened opened = open(scratch, build_dump(spec));
    const bool nano = kind == DumpKind::kNano;
    REQUIRE(opened.dump.tensors.size() == (nano ? 4 : 6));
    const std::vector<std::string> labels = {"input:0", "input:1", "output:0", "output:1", "l1buffer:0", "space:0"};
    const std::vector<size_t> in_spec = {1, 3, 0, 2, 5, 4};
    for (size_t i = 0; i < opened.dump.tensors.size(); ++i) {
      const DumpTensor& tensor = opened.dump.tensors[i];
      const TensorSpec& written = spec.tensors[in_spec[i]];
      CAPTURE(i);
      CHECK(tensor.label() == labels[i]);
      CHECK_FALSE(tensor.problem);
      CHECK(opened.bytes_of(tensor) == written.data);
      if (i < 4) CHECK(tensor.dtype == dtype_from_proto(written.dtype));
      CHECK(tensor.shape.has_value() == written.shape.has_value());
      CHECK(tensor.original_shape.has_value() == written.original_shape.has_value());
    }
    CHECK(opened.dump.tensors[0].shape == Shape{1, 1, 2, 2, 16});
    CHECK(opened.dump.tensors[0].original_shape == Shape{1, 3, 2, 2});
    CHECK(opened.dump.tensors[0].format_number == 3);
    CHECK(opened.dump.tensors[3].shape == Shape{});
    if (!nano) {
      CHECK(opened.dump.op_name == "Default/network-Net/Add-op1");
      CHECK(opened.dump.dump_time_us == 1700000000000000);
    }
  }
}

TEST_CASE("the kind of header is reported") {
  const ScratchDir scratch;
  CHECK(open(scratch, build_dump(mixed(DumpKind::kBinary))).dump.header == HeaderKind::kBinary);
  CHECK(open(scratch, build_dump(mixed(DumpKind::kHybrid))).dump.header == HeaderKind::kBinary);
  CHECK(open(scratch, build_dump(mixed(DumpKind::kClassic))).dump.header == HeaderKind::kClassic);
  CHECK(open(scratch, build_dump(mixed(DumpKind::kNano))).dump.header == HeaderKind::kNano);
}

TEST_CASE("data lie back to back after the header of a binary file") {
  const ScratchDir scratch;
  const DumpSpec spec = mixed(DumpKind::kBinary);
  const Opened opened = open(scratch, build_dump(spec));
  uint64_t position = 8 + build_header(spec, false).size();
  for (const DumpTensor& tensor : opened.dump.tensors) {
    CHECK(tensor.offset == position);
    position += tensor.size;
  }
  CHECK(position == opened.file.size());
}

TEST_CASE("attributes and formats of a header are handed on") {
  const ScratchDir scratch;
  DumpSpec spec = mixed(DumpKind::kBinary);
  spec.attributes = {{"ffts", "{\"threadMode\": true}"}, {"", "\xff"}};
  spec.tensors[0].original_format = 1;
  spec.tensors[0].sub_format = 4;
  spec.tensors[1].sub_format = -3;
  spec.tensors[1].format = 0x5000404;
  const DumpFile dump = open(scratch, build_dump(spec)).dump;
  REQUIRE(dump.attributes.size() == 2);
  CHECK(dump.attributes[0].name == "ffts");
  CHECK(dump.attributes[0].value == "{\"threadMode\": true}");
  CHECK(dump.tensors[0].format_number == 0x5000404);
  CHECK(dump.tensors[0].sub_format == -3);
  CHECK_FALSE(dump.tensors[0].original_format);
  CHECK(dump.tensors[2].original_format == 1);
  CHECK(dump.tensors[2].sub_format == 4);
}

TEST_CASE("dtypes of nano files are numbered as GE does") {
  const ScratchDir scratch;
  DumpSpec spec;
  spec.kind = DumpKind::kNano;
  spec.tensors = {input_of(DType::kInt32, Format::kND, {2}), output_of(DType::kBool, Format::kND, {3})};
  const DumpFile dump = open(scratch, build_dump(spec)).dump;
  CHECK(dump.tensors[0].dtype_number == 3);
  CHECK(dump.tensors[0].dtype == DType::kInt32);
  CHECK(dump.tensors[1].dtype_number == 12);
  CHECK(dump.tensors[1].dtype == DType::kBool);
}

TEST_CASE("a nano file may have inputs or outputs only") {
  const ScratchDir scratch;
  DumpSpec spec = mixed(DumpKind::kNano);
  spec.tensors = {output_of(DType::kFloat32, Format::kND, {2})};
  CHECK(open(scratch, build_dump(spec)).dump.tensors.size() == 1);
  spec.tensors = {input_of(DType::kFloat32, Format::kND, {2})};
  CHECK(open(scratch, build_dump(spec)).dump.tensors.size() == 1);
}

TEST_CASE("an input that was not given stands among others without harm") {
  const ScratchDir scratch;
  for (const DumpKind kind : {DumpKind::kBinary, DumpKind::kHybrid, DumpKind::kClassic, DumpKind::kNano}) {
    DumpSpec spec;
    spec.kind = kind;
    TensorSpec absent;
    absent.part = TensorSpec::kInput;
    spec.tensors = {absent, input_of(DType::kFloat32, Format::kND, {2}, {}, 5), absent};
    const Opened opened = open(scratch, build_dump(spec));
    REQUIRE(opened.dump.tensors.size() == 3);
    CHECK(opened.dump.tensors[1].slot == 1);
    CHECK(opened.bytes_of(opened.dump.tensors[1]) == spec.tensors[1].data);
    for (const DumpTensor& tensor : opened.dump.tensors) CHECK_FALSE(tensor.problem);
    CHECK(opened.dump.tensors[2].size == 0);
  }
}

TEST_CASE("a header larger than the first 64 KiB of a file is read all the same") {
  const ScratchDir scratch;
  DumpSpec spec;
  spec.op_name = std::string(100'000, 'n');
  for (uint64_t i = 0; i < 3000; ++i) spec.tensors.push_back(input_of(DType::kUint8, Format::kND, {3}, {{3}}, i));
  for (const DumpKind kind : {DumpKind::kBinary, DumpKind::kClassic, DumpKind::kNano}) {
    spec.kind = kind;
    const Opened opened = open(scratch, build_dump(spec));
    REQUIRE(opened.dump.tensors.size() == 3000);
    for (const size_t i : {size_t{0}, size_t{1}, size_t{1500}, size_t{2999}}) {
      CHECK(opened.bytes_of(opened.dump.tensors[i]) == spec.tensors[i].data);
    }
    if (kind != DumpKind::kNano) CHECK(opened.dump.op_name == spec.op_name);
  }
}

TEST_CASE("large data inside the header are located and not read") {
  const ScratchDir scratch;
  DumpSpec spec;
  spec.kind = DumpKind::kClassic;
  spec.tensors = {input_of(DType::kUint8, Format::kND, {3 << 20}, {}, 1),
                  input_of(DType::kUint8, Format::kND, {200}, {}, 2)};
  const Opened opened = open(scratch, build_dump(spec));
  CHECK(opened.bytes_of(opened.dump.tensors[0]) == spec.tensors[0].data);
  CHECK(opened.bytes_of(opened.dump.tensors[1]) == spec.tensors[1].data);
}

TEST_CASE("in a hybrid file tensors without data inside have it after the header") {
  const ScratchDir scratch;
  DumpSpec spec = mixed(DumpKind::kHybrid);
  const std::string behind = spec.tensors[0].data;
  spec.tensors.resize(2);
  spec.tensors[0].data.clear();
  spec.tensors[0].size = behind.size();
  spec.trailer = behind;
  const Opened opened = open(scratch, build_dump(spec));
  REQUIRE(opened.dump.tensors.size() == 2);
  CHECK(opened.bytes_of(opened.dump.tensors[0]) == spec.tensors[1].data);
  CHECK(opened.bytes_of(opened.dump.tensors[1]) == behind);
}

bool looks(const std::string& content) {
  return looks_like_dump_file(std::as_bytes(std::span(content.data(), content.size())), content.size());
}

TEST_CASE("the first bytes show what could be a dump file") {
  CHECK(looks(build_dump(mixed(DumpKind::kBinary))));
  CHECK(looks(build_dump(mixed(DumpKind::kHybrid))));
  CHECK(looks(build_dump(mixed(DumpKind::kNano))));
  CHECK_FALSE(looks(""));
  CHECK_FALSE(looks("12345678"));
  CHECK_FALSE(looks(std::string(100, '\0')));
  CHECK_FALSE(looks("Op Type,Op Name,Task ID"));
  CHECK_FALSE(looks("\x93NUMPY\x01\x00\x76\x00{'descr'"));
  CHECK_FALSE(looks("{\"data\": {\"step\": 0}}"));
  // The length of the header must fit, and a field of DumpData must follow it.
  CHECK(looks(test::with_length("\x0a", "")));
  CHECK_FALSE(looks(test::with_length("\x0b", "")));
  CHECK_FALSE(looks(std::string("\x02\0\0\0\0\0\0\0\x0a", 9)));
  CHECK(looks(test::with_length("ZZZZ\x01", "")));
  CHECK_FALSE(looks(test::with_length("ZZZZ", "")));
}

}  // namespace
}  // namespace msdump::ascend
