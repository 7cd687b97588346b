// Bad dump files: each named fault, with the code, the message and the offset that a user gets to see.
#include <string>
#include <vector>

#include "ascend/dump_file.h"
#include "support/catch.h"
#include "support/dump_builder.h"
#include "support/scratch_dir.h"

namespace msdump::ascend {
namespace {

using test::build_faulty_dump;
using test::DumpFault;
using test::input_of;
using test::output_of;
using test::ScratchDir;

// Of the good file; the length comes before the header and the data after it.
uint64_t header_size() {
  test::DumpSpec spec;
  spec.tensors = {input_of(DType::kFloat16, Format::kND, {4, 3}), output_of(DType::kFloat32, Format::kND, {2, 3})};
  return build_header(spec, false).size();
}

Result<DumpFile> read(DumpFault fault) {
  const ScratchDir scratch;
  auto file = File::open(scratch.write("dump", build_faulty_dump(fault)));
  REQUIRE(file);
  return read_dump_file(*file);
}

Error error_of(DumpFault fault) {
  CAPTURE(name_of(fault));
  auto dump = read(fault);
  REQUIRE_FALSE(dump);
  CHECK(dump.error().path.ends_with("/dump"));
  return std::move(dump).error();
}

DumpFile dump_of(DumpFault fault) {
  CAPTURE(name_of(fault));
  auto dump = read(fault);
  INFO((dump ? "" : dump.error().message));
  REQUIRE(dump);
  return std::move(*dump);
}

TEST_CASE("no fault leaves a tensor reaching past the end of the file or over another") {
  for (const DumpFault fault : test::all_dump_faults()) {
    CAPTURE(name_of(fault));
    const uint64_t file_size = build_faulty_dump(fault).size();
    const auto dump = read(fault);
    if (is_tolerated(fault)) CHECK(dump);
    if (!dump) {
      CHECK_FALSE(dump.error().message.empty());
      CHECK(dump.error().message.find('\n') == std::string::npos);
      continue;
    }
    for (const DumpTensor& tensor : dump->tensors) {
      if (is_tolerated(fault)) CHECK_FALSE(tensor.problem);
      if (tensor.problem || tensor.size == 0) continue;
      CHECK(tensor.offset >= 1);
      CHECK(tensor.size <= file_size);
      CHECK(tensor.offset <= file_size - tensor.size);
      for (const DumpTensor& other : dump->tensors) {
        if (&other == &tensor || other.problem || other.size == 0) continue;
        CHECK((tensor.offset + tensor.size <= other.offset || other.offset + other.size <= tensor.offset));
      }
    }
  }
}

TEST_CASE("empty file") {
  const Error error = error_of(DumpFault::kEmptyFile);
  CHECK(error.code == ErrorCode::kTruncated);
  CHECK(error.message == "file is empty");
}

TEST_CASE("four bytes") {
  const Error error = error_of(DumpFault::kFourBytes);
  CHECK(error.code == ErrorCode::kTruncated);
  CHECK(error.message == "truncated: 4 bytes, the 8-byte header length is incomplete");
}

TEST_CASE("length past end") {
  const Error error = error_of(DumpFault::kLengthPastEnd);
  const uint64_t present = header_size() + 48;
  CHECK(error.code == ErrorCode::kTruncated);
  CHECK(error.message == fmt::format("truncated: header of {} bytes announced, {} present", present + 1, present));
  CHECK_FALSE(error.hint.empty());
}

TEST_CASE("length all ones") {
  const Error error = error_of(DumpFault::kLengthAllOnes);
  CHECK(error.code == ErrorCode::kBadHeader);
  CHECK(error.message ==
        fmt::format("not a dump file: header length 18446744073709551615 is past the end of the file ({} bytes)",
                    header_size() + 56));
}

TEST_CASE("length zero and all zero") {
  CHECK(error_of(DumpFault::kLengthZero).message ==
        fmt::format("empty header (length 0) followed by {} bytes", header_size() + 48));
  const Error error = error_of(DumpFault::kAllZero);
  CHECK(error.code == ErrorCode::kBadHeader);
  CHECK(error.message == "empty header (length 0) followed by 4088 bytes");
}

TEST_CASE("length one short") {
  const Error error = error_of(DumpFault::kLengthOneShort);
  CHECK(error.code == ErrorCode::kBadProtobuf);
  CHECK(error.message == "header is not a valid protobuf: length past its end");
}

TEST_CASE("length big-endian") {
  const Error error = error_of(DumpFault::kLengthBigEndian);
  CHECK(error.code == ErrorCode::kBadHeader);
  CHECK(error.hint == "the length reads as big-endian; msdump reads little-endian dumps");
}

TEST_CASE("text and npy inside are not dumps") {
  CHECK(error_of(DumpFault::kText).code == ErrorCode::kNotADump);
  CHECK(error_of(DumpFault::kText).message == "not a dump file: the header length is text");
  CHECK(error_of(DumpFault::kNpyInside).code == ErrorCode::kNotADump);
  CHECK(error_of(DumpFault::kNpyInside).message == "this is an .npy file, not a dump");
  const ScratchDir scratch;
  const auto magic_alone = File::open(scratch.write("dump", "\x93NUMPY"));
  REQUIRE(magic_alone);
  CHECK(read_dump_file(*magic_alone).error().code == ErrorCode::kNotADump);
}

TEST_CASE("data cut costs the last tensor only") {
  const DumpFile dump = dump_of(DumpFault::kDataCut);
  REQUIRE(dump.tensors.size() == 2);
  CHECK_FALSE(dump.tensors[0].problem);
  const auto& problem = dump.tensors[1].problem;
  REQUIRE(problem);
  CHECK(problem->code == ErrorCode::kTruncated);
  CHECK(problem->message == "needs 24 bytes, 19 present");
  CHECK(problem->tensor == "output:0");
  CHECK(problem->offset == 8 + header_size() + 24);
  CHECK(problem->path.ends_with("/dump"));
}

TEST_CASE("data missing") {
  const DumpFile dump = dump_of(DumpFault::kDataMissing);
  CHECK(dump.tensors.at(0).problem->message == "needs 24 bytes, 0 present");
  CHECK(dump.tensors.at(1).problem->message == "needs 24 bytes, 0 present");
}

TEST_CASE("size wraps and size all ones are compared with the file without adding") {
  const DumpFile wraps = dump_of(DumpFault::kSizeWraps);
  CHECK(wraps.tensors.at(0).problem->message == "needs 18446744073709551592 bytes, 48 present");
  CHECK(wraps.tensors.at(1).problem->message == "needs 48 bytes, 0 present");
  const DumpFile ones = dump_of(DumpFault::kSizeAllOnes);
  CHECK_FALSE(ones.tensors.at(0).problem);
  CHECK(ones.tensors.at(1).problem->message == "needs 18446744073709551615 bytes, 24 present");
}

TEST_CASE("shapes and numbers are handed on for the plan to judge") {
  CHECK(dump_of(DumpFault::kDimProductWraps).tensors.at(1).shape == Shape{int64_t{1} << 32, int64_t{1} << 32, 6});
  CHECK(dump_of(DumpFault::kDimNegative).tensors.at(1).shape == Shape{-1, 3});
  CHECK(dump_of(DumpFault::kDimZero).tensors.at(1).shape == Shape{0, 3});
  CHECK(dump_of(DumpFault::kNoShape).tensors.at(1).shape == std::nullopt);
  CHECK(dump_of(DumpFault::kDtypeUnknown).tensors.at(1).dtype == std::nullopt);
  CHECK(dump_of(DumpFault::kDtypeUnknown).tensors.at(1).dtype_number == 99);
  CHECK(dump_of(DumpFault::kDtypeNegative).tensors.at(1).dtype_number == -1);
  CHECK(dump_of(DumpFault::kFormatUnknown).tensors.at(1).format_number == 200);
  CHECK(dump_of(DumpFault::kFormatNegative).tensors.at(1).format_number == -1);
  CHECK(dump_of(DumpFault::kSizeLessThanShape).tensors.at(1).size == 12);
  CHECK(dump_of(DumpFault::kSizeMoreThanShape).tensors.at(1).size == 56);
}

TEST_CASE("damaged protobuf names what is wrong and where") {
  const auto message_of = [](DumpFault fault) {
    const Error error = error_of(fault);
    CHECK(error.code == ErrorCode::kBadProtobuf);
    CHECK(error.offset.value_or(0) >= 8 + header_size());
    CHECK(error.message.starts_with("header is not a valid protobuf: "));
    return error.message.substr(32);
  };
  CHECK(message_of(DumpFault::kGroupField) == "a group, which DumpData never has");
  CHECK(message_of(DumpFault::kBadWireType) == "a damaged field");
  CHECK(message_of(DumpFault::kFieldNumberZero) == "a damaged field");
  CHECK(message_of(DumpFault::kVarintTooLong) == "a damaged field");
  CHECK(message_of(DumpFault::kNestedLengthBomb) == "length past its end");
  CHECK(message_of(DumpFault::kInnerLengthBomb) == "length past its end");
}

TEST_CASE("tensor bytes that are longer than their tensor's entry are cut off") {
  const ScratchDir scratch;
  // Outputs are field 3, their data field 5.
  const auto file = File::open(scratch.write("dump", test::with_length(std::string("\x1a\x04\x2a\x64xy"), "rest")));
  REQUIRE(file);
  const auto dump = read_dump_file(*file);
  REQUIRE_FALSE(dump);
  CHECK(dump.error().code == ErrorCode::kBadProtobuf);
  CHECK(dump.error().message == "header is not a valid protobuf: tensor bytes cut off");
}

TEST_CASE("headers beyond any real operator are too large") {
  const auto message_of = [](DumpFault fault) {
    const Error error = error_of(fault);
    CHECK(error.code == ErrorCode::kTooLarge);
    return error.message;
  };
  CHECK(message_of(DumpFault::kTooManyTensors) == "header has more tensors than any operator");
  CHECK(message_of(DumpFault::kLongUnknownField) ==
        "header has more bytes in fields other than tensors than any operator");
  CHECK(message_of(DumpFault::kLongTensorEntry) == "header has more bytes in one tensor's entry than any operator");
}

TEST_CASE("a rank above the limit costs its tensor and no memory") {
  const DumpFile dump = dump_of(DumpFault::kRankAboveLimit);
  REQUIRE(dump.tensors.size() == 2);
  CHECK_FALSE(dump.tensors[0].problem);
  CHECK_FALSE(dump.tensors[1].shape);
  REQUIRE(dump.tensors[1].problem);
  CHECK(dump.tensors[1].problem->code == ErrorCode::kShapeMismatch);
  CHECK(dump.tensors[1].problem->message == "shape of rank 100, more than 64");
  CHECK(dump.tensors[1].problem->tensor == "output:0");
}

std::string repeated_attributes(size_t count) {
  std::string fields;
  for (size_t i = 0; i < count; ++i) fields += std::string("\x3a\x00", 2);
  return fields;
}

TEST_CASE("attributes of two bytes each are not multiplied in memory") {
  const ScratchDir scratch;
  const auto attributes = [&](size_t count) {
    std::string header = build_header(test::DumpSpec{.tensors = {output_of(DType::kInt8, Format::kND, {1})}}, false);
    const auto file = File::open(scratch.write("dump", test::with_length(header + repeated_attributes(count), "x")));
    REQUIRE(file);
    return read_dump_file(*file);
  };
  REQUIRE(attributes(4096));
  CHECK(attributes(4096)->attributes.size() == 4096);
  // The same fields without a length before them: what is wrong is said of the file, not of a length.
  const auto classic = File::open(scratch.write("classic", repeated_attributes(4097)));
  REQUIRE(classic);
  const auto refused = read_dump_file(*classic);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::kTooLarge);
  const auto many = attributes(4097);
  REQUIRE_FALSE(many);
  CHECK(many.error().code == ErrorCode::kTooLarge);
  CHECK(many.error().message == "header has more attributes than any operator");
}

TEST_CASE("20000 empty tensors") {
  const Error error = error_of(DumpFault::kManyEmptyTensors);
  CHECK(error.code == ErrorCode::kBadHeader);
  CHECK(error.message == "header lists 20000 tensors, none of which has a shape or data");
}

TEST_CASE("a single tensor is enough when it has a shape, bytes or a problem") {
  const ScratchDir scratch;
  const auto read_alone = [&](const test::TensorSpec& tensor) {
    const auto file = File::open(scratch.write("dump", test::build_dump({.tensors = {tensor}})));
    REQUIRE(file);
    return read_dump_file(*file);
  };
  test::TensorSpec tensor;
  CHECK_FALSE(read_alone(tensor));
  tensor.shape = test::Dims{0, 3};
  CHECK(read_alone(tensor));
  tensor.shape = test::Dims(100, 1);
  REQUIRE(read_alone(tensor));
  CHECK(read_alone(tensor)->tensors.at(0).problem);
  tensor.shape.reset();
  tensor.data = "bytes";
  CHECK(read_alone(tensor));
}

TEST_CASE("what is odd and harmless is put up with") {
  CHECK(dump_of(DumpFault::kUnknownFields).tensors.size() == 2);
  CHECK(dump_of(DumpFault::kTrailingBytes).tensors.size() == 2);
  CHECK(dump_of(DumpFault::kUnpackedDims).tensors.at(0).shape == Shape{2, 3});
  CHECK(dump_of(DumpFault::kNameNotUtf8).op_name == "Default/\xff\xfe/Add");
  CHECK(dump_of(DumpFault::kInlineAndSize).tensors.at(1).size == 24);
}

TEST_CASE("a size without data in a file that has its data inside is a truncated tensor") {
  for (const DumpFault fault : {DumpFault::kClassicDataMissing, DumpFault::kHybridDataMissing}) {
    CAPTURE(name_of(fault));
    const DumpFile dump = dump_of(fault);
    REQUIRE(dump.tensors.size() == 2);
    CHECK_FALSE(dump.tensors[0].problem);
    REQUIRE(dump.tensors[1].problem);
    CHECK(dump.tensors[1].problem->code == ErrorCode::kTruncated);
    CHECK(dump.tensors[1].problem->message == "needs 24 bytes, 0 present");
  }
}

TEST_CASE("a file whose inline data is cut is not a dump file any more") {
  CHECK(error_of(DumpFault::kInlineDataCut).code == ErrorCode::kBadHeader);
}

TEST_CASE("nano faults") {
  const auto check = [](DumpFault fault, ErrorCode code, std::string_view message) {
    const Error error = error_of(fault);
    CHECK(error.code == code);
    CHECK(error.message == message);
    return error.offset;
  };
  check(DumpFault::kNanoTrailingBytes, ErrorCode::kTrailingBytes, "3 bytes after the last tensor of a nano dump");
  check(DumpFault::kNanoCountBomb, ErrorCode::kTruncated, "4 bytes needed, 0 present");
  check(DumpFault::kNanoListPastEnd, ErrorCode::kTruncated, "1000 bytes needed, 24 present");
  check(DumpFault::kNanoDimsPastEnd, ErrorCode::kTruncated, "4294967288 bytes needed, 16 present");
  CHECK(check(DumpFault::kNanoDimsOddLength, ErrorCode::kBadHeader, "a shape of 12 bytes, not a multiple of 8") == 76U);
  check(DumpFault::kNanoHeadCut, ErrorCode::kTruncated, "truncated: header of 186 bytes announced, 32 present");
  check(DumpFault::kNanoHeadTooShort, ErrorCode::kTruncated, "8 bytes needed, 5 present");
  const DumpFile cut = dump_of(DumpFault::kNanoDataCut);
  CHECK_FALSE(cut.tensors.at(0).problem);
  CHECK(cut.tensors.at(1).problem->message == "needs 24 bytes, 19 present");
  CHECK(dump_of(DumpFault::kNanoTagUnknown).tensors.size() == 2);
}

TEST_CASE("a file cut at any byte is an error or has truncated tensors and never more than it holds") {
  const ScratchDir scratch;
  for (const auto kind :
       {test::DumpKind::kBinary, test::DumpKind::kClassic, test::DumpKind::kHybrid, test::DumpKind::kNano}) {
    test::DumpSpec spec;
    spec.kind = kind;
    spec.tensors = {input_of(DType::kFloat16, Format::kND, {4, 3}), output_of(DType::kFloat32, Format::kND, {2, 3})};
    const std::string whole = build_dump(spec);
    for (size_t size = 0; size < whole.size(); ++size) {
      CAPTURE(static_cast<int>(kind), size);
      const auto file = File::open(scratch.write("cut", whole.substr(0, size)));
      REQUIRE(file);
      const auto dump = read_dump_file(*file);
      if (!dump) continue;
      // A classic file cut between two fields is a shorter classic file.
      bool lost = kind == test::DumpKind::kClassic;
      for (const DumpTensor& tensor : dump->tensors) {
        lost = lost || tensor.problem;
        if (!tensor.problem) CHECK((tensor.size == 0 || tensor.offset + tensor.size <= size));
      }
      CHECK(lost);
    }
  }
}

}  // namespace
}  // namespace msdump::ascend
