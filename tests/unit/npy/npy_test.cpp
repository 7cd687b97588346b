#include "npy/npy.h"

#include <string>
#include <vector>

#include "support/catch.h"
#include "support/npy_builder.h"
#include "support/scratch_dir.h"

namespace msdump::npy {
namespace {

using test::build_npy;
using test::npy_literal;
using test::NpyFault;
using test::NpySpec;
using test::ScratchDir;

Result<Header> read(const std::string& content) {
  const ScratchDir scratch;
  auto file = File::open(scratch.write("a.npy", content));
  REQUIRE(file);
  return read_header(*file);
}

Header header_of(const NpySpec& spec) {
  CAPTURE(spec.literal);
  auto header = read(build_npy(spec));
  INFO((header ? "" : header.error().message));
  REQUIRE(header);
  return *header;
}

Error error_of(NpyFault fault) {
  CAPTURE(name_of(fault));
  const auto header = read(build_faulty_npy(fault));
  REQUIRE_FALSE(header);
  CHECK(header.error().path.ends_with("/a.npy"));
  return header.error();
}

TEST_CASE("the three versions of npy are read") {
  for (const int major : {1, 2, 3}) {
    CAPTURE(major);
    NpySpec spec;
    spec.major = major;
    const Header header = header_of(spec);
    CHECK(header.dtype == DType::kFloat32);
    CHECK(header.shape == Shape{2, 3});
    CHECK(header.data_offset % 64 == 0);
    CHECK(header.data_bytes == 24);
    CHECK_FALSE(header.fortran_order);
    CHECK_FALSE(header.big_endian);
    CHECK(header.readable_by_numpy);
  }
}

TEST_CASE("odd headers that numpy reads too") {
  for (const char* literal : {
           "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (2, 3)}",
           "{'shape':(2,3,),'fortran_order':False,'descr':'<f4'}",
           "  { 'fortran_order' : False,\n\t'shape' : ( 2 , 3 ) , 'descr' : '<f4' , }  ",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L), }",
           "{'descr': '=f4', 'fortran_order': False, 'shape': (2, 3), }",
       }) {
    CHECK(header_of({.literal = literal}).shape == Shape{2, 3});
  }
  NpySpec unpadded;
  unpadded.has_padding = false;
  CHECK(header_of(unpadded).data_offset == 10 + unpadded.literal.size());
}

TEST_CASE("scalars and vectors and empty arrays") {
  CHECK(header_of({.literal = npy_literal("<f4", "()")}).shape == Shape{});
  CHECK(header_of({.literal = npy_literal("<f4", "()")}).data_bytes == 4);
  CHECK(header_of({.literal = npy_literal("<f4", "(6,)")}).shape == Shape{6});
  const Header empty = header_of({.literal = npy_literal("<f4", "(0, 9223372036854775807, 3)"), .data = {}});
  CHECK(empty.data_bytes == 0);
}

TEST_CASE("every numpy dtype and byte order") {
  struct Case {
    const char* descr;
    DType dtype;
    bool big_endian;
  };
  for (const Case& c :
       {Case{"|b1", DType::kBool, false}, Case{"|i1", DType::kInt8, false}, Case{">i2", DType::kInt16, true},
        Case{"<u8", DType::kUint64, false}, Case{"<f2", DType::kFloat16, false}, Case{">f8", DType::kFloat64, true},
        Case{"<c8", DType::kComplex64, false}, Case{"<c16", DType::kComplex128, false},
        Case{">u1", DType::kUint8, false}, Case{"i4", DType::kInt32, false}}) {
    CAPTURE(c.descr);
    const Header header = header_of({.literal = npy_literal(c.descr, "(1,)")});
    CHECK(header.dtype == c.dtype);
    CHECK(header.big_endian == c.big_endian);
    CHECK(header.readable_by_numpy);
  }
}

TEST_CASE("MindSpore's bfloat16 under its three names") {
  for (const char* descr : {"<E2", "<T2", "<h2"}) {
    const Header header = header_of({.literal = npy_literal(descr, "(12,)")});
    CHECK(header.dtype == DType::kBfloat16);
    CHECK_FALSE(header.readable_by_numpy);
    CHECK(header.data_bytes == 24);
  }
}

TEST_CASE("Fortran order is reported and bytes after the elements are ignored") {
  CHECK(header_of({.literal = npy_literal("<f4", "(2, 3)", true)}).fortran_order);
  CHECK(header_of({.data = std::string(100, 'x')}).data_bytes == 24);
}

TEST_CASE("each fault is an error of one line") {
  for (const NpyFault fault : test::all_npy_faults()) {
    if (fault == NpyFault::kNone) continue;
    const Error error = error_of(fault);
    CHECK_FALSE(error.message.empty());
    CHECK(error.message.find('\n') == std::string::npos);
  }
}

TEST_CASE("faults of the container") {
  CHECK(error_of(NpyFault::kMagicOnly).code == ErrorCode::kTruncated);
  CHECK(error_of(NpyFault::kBadMagic).message == "not an .npy file: it does not begin with \\x93NUMPY");
  CHECK(error_of(NpyFault::kVersionZero).message == "npy version 0.0 is not known");
  CHECK(error_of(NpyFault::kVersionFour).message == "npy version 4.0 is not known");
  for (const int major : {1, 2, 3}) {
    NpySpec spec;
    spec.major = major;
    std::string content = build_npy(spec);
    content[7] = 1;
    const auto header = read(content);
    REQUIRE_FALSE(header);
    CHECK(header.error().code == ErrorCode::kBadNpy);
    CHECK(header.error().message == fmt::format("npy version {}.1 is not known", major));
    CHECK(header.error().offset == 6U);
  }
  const Error past = error_of(NpyFault::kHeaderPastEnd);
  CHECK(past.code == ErrorCode::kTruncated);
  CHECK(past.message == "header of 374 bytes announced, 142 present");
  CHECK(past.offset == 10U);
  CHECK(error_of(NpyFault::kHeaderLengthBomb).message == "header of 4294967295 bytes announced, 140 present");
  CHECK(error_of(NpyFault::kHeaderTooLong).code == ErrorCode::kTooLarge);
}

TEST_CASE("faults of the header name the column") {
  CHECK(error_of(NpyFault::kNotADict).message == "npy header, column 1: expected '{'");
  CHECK(error_of(NpyFault::kQuoteNotClosed).message == "npy header, column 2: a quote is not closed");
  CHECK(error_of(NpyFault::kEscapeInKey).code == ErrorCode::kBadNpy);
  CHECK(error_of(NpyFault::kKeyMissing).message.ends_with("descr, fortran_order or shape is missing"));
  CHECK(error_of(NpyFault::kKeyTwice).message.ends_with("unexpected key 'shape'"));
  CHECK(error_of(NpyFault::kKeyUnknown).message.ends_with("unexpected key 'extra'"));
  CHECK(error_of(NpyFault::kKeyWithLineFeed).message ==
        "npy header, column 112: unexpected key 'a\\n\\x1b[31m" + std::string(53, 'b') + "...'");
  CHECK(error_of(NpyFault::kTextBehind).message.ends_with("text after the closing brace"));
  CHECK(error_of(NpyFault::kShapeIsNumber).message.ends_with("expected ',' after the only dimension"));
  CHECK(error_of(NpyFault::kShapeIsList).message.ends_with("expected '('"));
  CHECK(error_of(NpyFault::kDimNegative).message.ends_with("expected a dimension"));
  CHECK(error_of(NpyFault::kDimTooLong).message.ends_with("expected a dimension"));
  CHECK(error_of(NpyFault::kRankAboveLimit).message.ends_with("rank above 64"));
}

TEST_CASE("a header literal ends where its text ends, whatever comes after") {
  const std::string_view whole = "{'descr': '<f4', 'fortran_order': False, 'shape': (12, 34L, ), } ";
  const auto fields = parse_header_literal(whole);
  REQUIRE(fields);
  CHECK(fields->descr == "<f4");
  CHECK_FALSE(fields->fortran_order);
  CHECK(fields->shape == Shape{12, 34});
  for (size_t size = 0; size < whole.size() - 1; ++size) {
    const std::string_view cut = whole.substr(0, size);
    CAPTURE(cut);
    const auto part = parse_header_literal(cut), alone = parse_header_literal(std::string(cut));
    REQUIRE_FALSE(part);
    REQUIRE_FALSE(alone);
    CHECK(part.error().message == alone.error().message);
  }
}

TEST_CASE("a token of the wrong sort is refused where it stands") {
  const auto message_of = [](std::string_view literal) {
    const auto fields = parse_header_literal(literal);
    return fields ? std::string() : fields.error().message;
  };
  CHECK(message_of("{descr: '<f4'}") == "npy header, column 2: expected a quoted text");
  CHECK(message_of("{'descr': <f4}") == "npy header, column 11: expected a quoted text");
  CHECK(message_of("{'descr' '<f4'}") == "npy header, column 10: expected ':'");
  CHECK(message_of("{'descr': '<f4\"}") == "npy header, column 11: a quote is not closed");
  CHECK(message_of("{'fortran_order': 0}") == "npy header, column 19: expected True or False");
  CHECK(message_of("{'shape': (2 3)}") == "npy header, column 14: expected ',' after the only dimension");
  CHECK(message_of("{'shape': (2, 3 4)}") == "npy header, column 17: expected ')'");
  CHECK(message_of("{'shape': (x,)}") == "npy header, column 12: expected a dimension");
  CHECK(message_of("{'descr': '<f4' 'shape'}") == "npy header, column 17: expected '}'");
}

TEST_CASE("sizes are checked before they are believed") {
  CHECK(error_of(NpyFault::kDimProductOverflows).message ==
        "dimension product of 1099511627776x1099511627776 overflows");
  CHECK(error_of(NpyFault::kByteCountWraps).code == ErrorCode::kBadNpy);
  const Error cut = error_of(NpyFault::kDataCut);
  CHECK(cut.code == ErrorCode::kTruncated);
  CHECK(cut.message == "needs 24 bytes of data, 23 present");
  CHECK(cut.offset == 128U);
  CHECK(error_of(NpyFault::kDataMissing).message == "needs 24 bytes of data, 0 present");
}

TEST_CASE("dtypes other than numbers are not supported") {
  for (const NpyFault fault : {NpyFault::kDescrStructured, NpyFault::kDescrObject, NpyFault::kDescrString,
                               NpyFault::kDescrUnicode, NpyFault::kDescrLongDouble, NpyFault::kDescrEmpty}) {
    CAPTURE(name_of(fault));
    CHECK(error_of(fault).code == ErrorCode::kUnsupportedDtype);
  }
  CHECK(error_of(NpyFault::kDescrObject).message == "npy dtype '|O' is not supported");
}

TEST_CASE("a header of ours is read back and aligned") {
  Shape high(32, 1);
  for (const DTypeInfo& entry : all_dtypes()) {
    if (numpy_name(entry.dtype).empty()) continue;
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{0, 4}, high}) {
      CAPTURE(entry.name, describe(shape));
      const std::string header = make_header(entry.dtype, shape);
      CHECK(header.size() % 64 == 0);
      const auto read_back =
          read(header + std::string(static_cast<size_t>(*bytes_of(entry.dtype, *element_count(shape))), '\0'));
      REQUIRE(read_back);
      CHECK(read_back->dtype == entry.dtype);
      CHECK(read_back->shape == shape);
      CHECK(read_back->data_offset == header.size());
    }
  }
}

TEST_CASE("a header of ours is what Python writes") {
  CHECK(make_header(DType::kFloat32, {2, 3})
            .substr(10)
            .starts_with("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } "));
  CHECK(make_header(DType::kInt8, {7})
            .substr(10)
            .starts_with("{'descr': '|i1', 'fortran_order': False, 'shape': (7,), } "));
  CHECK(
      make_header(DType::kBool, {}).substr(10).starts_with("{'descr': '|b1', 'fortran_order': False, 'shape': (), } "));
  CHECK(make_header(DType::kFloat32, {2, 3}).ends_with(" \n"));
}

TEST_CASE("a file cut anywhere is an error") {
  const std::string whole = build_npy({});
  for (size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK_FALSE(read(whole.substr(0, size)));
  }
}

TEST_CASE("the header alone is read of a file whose elements are cut") {
  const ScratchDir scratch;
  const auto file = File::open(scratch.write("a.npy", build_faulty_npy(NpyFault::kDataMissing)));
  REQUIRE(file);
  CHECK_FALSE(read_header(*file));
  const auto header = read_header_alone(*file);
  REQUIRE(header);
  CHECK(header->descr == "<f4");
  CHECK(header->shape == Shape{2, 3});
  CHECK(header->data_bytes == 24);
}

}  // namespace
}  // namespace msdump::npy
