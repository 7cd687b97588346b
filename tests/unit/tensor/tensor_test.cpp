// dtype.h, format.h, shape.h
#include <map>
#include <set>
#include <vector>

#include "base/text.h"
#include "support/catch.h"
#include "tensor/dtype.h"
#include "tensor/format.h"
#include "tensor/shape.h"

namespace msdump {
namespace {

TEST_CASE("the two numberings of dtypes are those of CANN") {
  CHECK(dtype_from_proto(1) == DType::kFloat32);
  CHECK(dtype_from_ge(0) == DType::kFloat32);
  CHECK(dtype_from_proto(0) == DType::kUndefined);
  CHECK(dtype_from_ge(28) == DType::kUndefined);
  CHECK(dtype_from_proto(7) == DType::kInt32);
  CHECK(dtype_from_ge(3) == DType::kInt32);
  CHECK(dtype_from_proto(12) == DType::kFloat64);
  CHECK(dtype_from_ge(12) == DType::kBool);
  CHECK(dtype_from_proto(27) == DType::kBfloat16);
  CHECK(dtype_from_ge(27) == DType::kBfloat16);
  CHECK(dtype_from_proto(33) == DType::kHifloat8);
  CHECK(dtype_from_proto(40) == DType::kFloat4E1m2);
  CHECK(dtype_from_ge(42) == DType::kHifloat4);
}

TEST_CASE("dtypes are as wide as their encodings") {
  struct Width {
    int bits;
    std::vector<std::string_view> names;
  };
  const std::vector<Width> widths = {
      {0, {"undefined", "string", "string_ref", "dual", "variant", "float6_e3m2", "float6_e2m3", "hifloat4"}},
      {1, {"uint1"}},
      {2, {"int2", "uint2"}},
      {4, {"int4", "float4_e2m1", "float4_e1m2"}},
      {8,
       {"int8", "uint8", "bool", "dual_sub_int8", "dual_sub_uint8", "qint8", "quint8", "hifloat8", "float8_e5m2",
        "float8_e4m3fn", "float8_e8m0"}},
      {16, {"float16", "int16", "uint16", "qint16", "quint16", "bfloat16"}},
      {32, {"float32", "int32", "uint32", "qint32", "complex32"}},
      {64, {"int64", "uint64", "float64", "resource", "complex64"}},
      {128, {"complex128"}},
  };
  size_t dtypes = 0;
  for (const Width& width : widths) {
    for (const std::string_view name : width.names) {
      CAPTURE(name);
      CHECK(info(*dtype_from_name(name)).bits == width.bits);
      ++dtypes;
    }
  }
  CHECK(dtypes == all_dtypes().size());
}

TEST_CASE("the kind of a dtype is what its elements are") {
  struct Kind {
    DTypeKind kind;
    std::vector<std::string_view> names;
  };
  const std::vector<Kind> kinds = {
      {DTypeKind::kOther,
       {"undefined", "string", "string_ref", "dual", "variant", "float6_e3m2", "float6_e2m3", "hifloat4"}},
      {DTypeKind::kBool, {"bool"}},
      {DTypeKind::kComplex, {"complex32", "complex64", "complex128"}},
      {DTypeKind::kFloat,
       {"float16", "bfloat16", "float32", "float64", "hifloat8", "float8_e5m2", "float8_e4m3fn", "float8_e8m0",
        "float4_e2m1", "float4_e1m2"}},
  };
  std::map<std::string_view, DTypeKind> kind_by_name;
  for (const Kind& kind : kinds) {
    for (const std::string_view name : kind.names) kind_by_name[name] = kind.kind;
  }
  for (const DTypeInfo& entry : all_dtypes()) {
    CAPTURE(entry.name);
    const auto listed = kind_by_name.find(entry.name);
    CHECK(kind_of(entry.dtype) == (listed == kind_by_name.end() ? DTypeKind::kInteger : listed->second));
  }
}

TEST_CASE("an unknown number is not a dtype") {
  for (const int number : {-1, -2, 41, 43, 99, 2147483647, -2147483647}) {
    CAPTURE(number);
    CHECK_FALSE(dtype_from_proto(number));
  }
  CHECK_FALSE(dtype_from_ge(-1));
  CHECK_FALSE(dtype_from_ge(5));  // GE has no 5
  CHECK_FALSE(dtype_from_ge(43));
}

TEST_CASE("every dtype comes back from its names and numbers") {
  std::set<std::string_view> names;
  for (const DTypeInfo& entry : all_dtypes()) {
    CAPTURE(entry.name);
    CHECK(names.insert(entry.name).second);
    CHECK(dtype_from_name(entry.name) == entry.dtype);
    CHECK(dtype_from_name(entry.cann_name) == entry.dtype);
    CHECK(dtype_from_name(to_upper(entry.name)) == entry.dtype);
    if (entry.proto_number >= 0) CHECK(dtype_from_proto(entry.proto_number) == entry.dtype);
    if (entry.ge_number >= 0) CHECK(dtype_from_ge(entry.ge_number) == entry.dtype);
    CHECK_FALSE(numpy_name(entry.npy_dtype).empty());
  }
}

TEST_CASE("spellings of MindSpore and numpy") {
  CHECK(dtype_from_name("Float32") == DType::kFloat32);
  CHECK(dtype_from_name("BFloat16") == DType::kBfloat16);
  CHECK(dtype_from_name("BF16") == DType::kBfloat16);
  CHECK(dtype_from_name("Bool") == DType::kBool);
  CHECK(dtype_from_name("half") == DType::kFloat16);
  CHECK(dtype_from_name("double") == DType::kFloat64);
  CHECK(dtype_from_name("float") == DType::kFloat32);
  CHECK(dtype_from_name("int") == DType::kInt32);
  CHECK(dtype_from_name("UInt") == DType::kUint32);
  CHECK(dtype_from_name("fp32") == DType::kFloat32);
  CHECK(dtype_from_name("fp16") == DType::kFloat16);
  CHECK(dtype_from_name("float8_e4m3") == DType::kFloat8E4m3fn);
  CHECK(dtype_from_name("hif8") == DType::kHifloat8);
  CHECK_FALSE(dtype_from_name(""));
  CHECK_FALSE(dtype_from_name("float33"));
}

TEST_CASE("bytes of a count of elements") {
  CHECK(bytes_of(DType::kFloat32, 6) == 24U);
  CHECK(bytes_of(DType::kComplex128, 2) == 32U);
  CHECK(bytes_of(DType::kInt4, 3) == 2U);
  CHECK(bytes_of(DType::kUint1, 9) == 2U);
  CHECK(bytes_of(DType::kUint1, 8) == 1U);
  CHECK(bytes_of(DType::kInt2, 5) == 2U);
  CHECK(bytes_of(DType::kInt4, INT64_MAX) == uint64_t{1} << 62);
  CHECK(bytes_of(DType::kFloat32, 0) == 0U);
}

TEST_CASE("bytes that overflow or of raw types have no number") {
  CHECK(bytes_of(DType::kUint16, INT64_MAX) == 0xFFFFFFFFFFFFFFFEU);
  CHECK_FALSE(bytes_of(DType::kFloat32, INT64_MAX));
  CHECK_FALSE(bytes_of(DType::kFloat32, (int64_t{1} << 62) + 6));
  CHECK_FALSE(bytes_of(DType::kFloat32, -1));
  CHECK_FALSE(bytes_of(DType::kString, 4));
  CHECK(is_raw(DType::kString));
  CHECK(is_raw(DType::kUndefined));
  CHECK_FALSE(is_raw(DType::kInt4));
}

TEST_CASE("what numpy cannot hold is widened without loss") {
  CHECK(info(DType::kBfloat16).npy_dtype == DType::kFloat32);
  CHECK(info(DType::kInt4).npy_dtype == DType::kInt8);
  CHECK(info(DType::kUint1).npy_dtype == DType::kUint8);
  CHECK(info(DType::kComplex32).npy_dtype == DType::kComplex64);
  CHECK(info(DType::kFloat8E4m3fn).npy_dtype == DType::kFloat32);
  CHECK(numpy_name(DType::kBfloat16).empty());
  CHECK(numpy_name(DType::kFloat16) == "float16");
}

TEST_CASE("every format comes back from its name and number") {
  std::set<std::string_view> names;
  for (const FormatInfo& entry : all_formats()) {
    CAPTURE(entry.name);
    CHECK(names.insert(entry.name).second);
    CHECK(format_from_name(entry.name) == entry.format);
    CHECK(format_from_name(to_lower(entry.name)) == entry.format);
    CHECK(format_from_number(static_cast<int64_t>(entry.format)) == entry.format);
    CHECK(name_of(entry.format) == entry.name);
  }
  CHECK(all_formats().size() == 56);  // GE's 0 to 54 and 255
}

TEST_CASE("format names of msaccucmp and MindSpore") {
  CHECK(format_from_name("DECONV_SP_STRIDE8_TRANS") == Format::kFractalDeconvSpStride8Trans);
  CHECK(format_from_name("DefaultFormat") == Format::kND);
  CHECK(format_from_name("FracZ") == Format::kFractalZ);
  CHECK(format_from_name("FRAC_NZ") == Format::kFractalNZ);
  CHECK(format_from_name("LOOKUP_HITS") == Format::kHashtableLookupHits);
  CHECK(format_from_name("YUV") == Format::kNYUV);
  CHECK(format_from_name("FRACTAL_Z_C04") == Format::kFractalZC04);
  CHECK_FALSE(format_from_name(""));
  CHECK_FALSE(format_from_name("NCHWX"));
}

TEST_CASE("a packed format number splits into format and groups") {
  const auto plain = unpack_format(4, 0);
  REQUIRE(plain);
  CHECK(plain->format == Format::kFractalZ);
  CHECK(plain->groups == 0);
  const auto packed = unpack_format(0x5000000 | 32 << 8 | 4, 0);
  REQUIRE(packed);
  CHECK(packed->format == Format::kFractalZ);
  CHECK(packed->groups == 32);
  CHECK(unpack_format(32 << 8 | 4, 2)->groups == 2);  // an explicit field wins
  CHECK(unpack_format(4, -1)->groups == -1);          // for the plan to refuse
  const auto largest = unpack_format(0x0FFF'FFFF, 0);
  REQUIRE(largest);
  CHECK(largest->format == Format::kMax);
  CHECK(largest->groups == 0xFFFF);
}

TEST_CASE("an unknown number is not a format") {
  for (const int64_t number :
       {int64_t{-1}, INT64_MIN, INT64_MIN + 2, int64_t{55}, int64_t{200}, int64_t{0x10000000}, int64_t{1} << 40}) {
    CAPTURE(number);
    CHECK_FALSE(unpack_format(number, 0));
  }
  CHECK_FALSE(format_from_number(256));
  CHECK_FALSE(format_from_number((int64_t{1} << 32) + 2));
}

TEST_CASE("only host formats have axes") {
  for (const char* axes : {"NCHW", "NHWC", "HWCN", "CHWN", "NCDHW", "NDHWC", "DHWCN", "DHWNC"}) {
    CHECK(host_axes(*format_from_name(axes)) == axes);
  }
  CHECK(host_axes(Format::kND).empty());
  CHECK(host_axes(Format::kNC1HWC0).empty());
}

TEST_CASE("dimensions of 2^63 and above are unknown") {
  CHECK(dim_from_file(0) == 0);
  CHECK(dim_from_file((uint64_t{1} << 63) - 1) == INT64_MAX);
  CHECK(dim_from_file(uint64_t{1} << 63) == kUnknownDim);
  CHECK(dim_from_file(~uint64_t{0}) == kUnknownDim);
  CHECK_FALSE(element_count({kUnknownDim, 3}));
}

TEST_CASE("a shape without its dimensions of 1") {
  CHECK(without_ones({1, 3, 1, 1, 0, 2}) == Shape{3, 0, 2});
  CHECK(without_ones({1, 1}).empty());
}

TEST_CASE("shapes in words") {
  CHECK(describe({}) == "scalar");
  CHECK(describe({1, 16, 4}) == "1x16x4");
  CHECK(join_dims({}, "x").empty());
  CHECK(join_dims({2, 3}, "_") == "2_3");
}

}  // namespace
}  // namespace msdump
