// Tensors that contradict themselves: the right code, and the numbers that disagree; and hostile numbers of all kinds.
#include <limits>

#include "plan_check.h"
#include "support/catch.h"

using namespace msdump;
using namespace msdump::test;

namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

struct Refused {
  Format format;
  Shape shape;
  std::optional<Shape> original;
  ErrorCode code;
  std::vector<std::string> words;
};

void check_refused(const PlanRequest& request, ErrorCode code, const std::vector<std::string>& words) {
  const Error error = refusal_of(request);
  INFO(error.message);
  CHECK(code_word(error.code) == code_word(code));
  for (const std::string& word : words) CHECK(error.message.find(word) != std::string::npos);
}

constexpr auto kMismatch = ErrorCode::kShapeMismatch;

}  // namespace

TEST_CASE("a device shape of the wrong rank is refused with both ranks") {
  for (const auto& [format, shape, original, code, words] : {
           Refused{Format::kNC1HWC0, {1, 1, 2, 3, 4, 16}, {}, kMismatch, {"NC1HWC0 needs 5 dimensions, has 6"}},
           Refused{Format::kNC1HWC0C04, {1, 2, 3, 4}, {}, kMismatch, {"NC1HWC0_C04 needs 5 dimensions, has 4"}},
           Refused{Format::kNDC1HWC0, {1, 1, 2, 3, 16}, {}, kMismatch, {"NDC1HWC0 needs 6 dimensions, has 5"}},
           Refused{Format::kFractalZ, {1, 16, 16}, {}, kMismatch, {"FRACTAL_Z needs 4 dimensions, has 3"}},
           Refused{Format::kFractalZ3D, {1, 1, 1, 16, 16}, {}, kMismatch, {"FRACTAL_Z_3D needs 4 dimensions, has 5"}},
           Refused{Format::kFractalZC04, {16}, {}, kMismatch, {"FRACTAL_Z_C04 needs 4 dimensions, has 1"}},
           Refused{Format::kC1HWNCoC0, {1, 1, 1, 16, 16}, {}, kMismatch, {"C1HWNCoC0 needs 6 dimensions, has 5"}},
           Refused{Format::kFractalNZ, {1, 16, 16}, {}, kMismatch, {"FRACTAL_NZ needs at least 4 dimensions, has 3"}},
           Refused{Format::kFractalZ, {}, {}, kMismatch, {"has 0"}},
       }) {
    check_refused(request_for(format, shape, original), code, words);
  }
}

TEST_CASE("a block of no elements is refused") {
  for (const Format format : {Format::kNC1HWC0, Format::kNC1HWC0C04}) {
    check_refused(request_for(format, {1, 1, 3, 3, 0}, Shape{1, 16, 3, 3}), kMismatch, {"C0 = 0"});
  }
  for (const Format format : {Format::kFractalZ, Format::kFractalZ3D, Format::kFractalZC04, Format::kFractalNZ}) {
    check_refused(request_for(format, {1, 1, 16, 0}, Shape{16, 16, 1, 1}), kMismatch, {"C0 = 0"});
  }
  check_refused(request_for(Format::kFractalNZ, {1, 1, 0, 16}, Shape{16, 16}), kMismatch, {"FRACTAL_NZ"});
}

TEST_CASE("an original shape that does not fit is refused with both shapes") {
  for (const auto& [format, shape, original, code, words] : {
           Refused{Format::kNC1HWC0,
                   {1, 2, 3, 3, 16},
                   Shape{1, 40, 3, 3},
                   kMismatch,
                   {"original C 40 does not fit C1*C0 = 32"}},
           Refused{Format::kNC1HWC0,
                   {1, 2, 3, 3, 16},
                   Shape{1, 16, 3, 3},
                   kMismatch,
                   {"original C 16 does not fit C1*C0 = 32"}},
           Refused{Format::kNC1HWC0, {1, 2, 3, 3, 16}, Shape{1, 20, 3, 4}, kMismatch, {"1x20x3x4", "1x2x3x3x16"}},
           Refused{Format::kNC1HWC0, {1, 2, 3, 3, 16}, Shape(9, 1), kMismatch, {"rank 9", "does not fit"}},
           Refused{Format::kNC1HWC0, {1, 2, 3, 3, 16}, Shape{20, 9}, kMismatch, {"20x9", "rank 2"}},
           Refused{Format::kNDC1HWC0,
                   {1, 2, 1, 3, 3, 16},
                   Shape{1, 17, 2, 3, 3},
                   kMismatch,
                   {"original C 17", "C1*C0 = 16"}},
           Refused{Format::kNDC1HWC0,
                   {1, 2, 1, 3, 3, 16},
                   Shape{1, 16, 3, 3, 3},
                   kMismatch,
                   {"1x16x3x3x3", "1x2x1x3x3x16"}},
           Refused{
               Format::kFractalZ, {12, 1, 16, 16}, Shape{16, 3, 3, 3}, kMismatch, {"16x3x3x3", "FRACTAL_Z 12x1x16x16"}},
           Refused{
               Format::kFractalZ, {9, 1, 16, 16}, Shape{17, 3, 3, 3}, kMismatch, {"17x3x3x3", "FRACTAL_Z 9x1x16x16"}},
           Refused{Format::kFractalZ, {9, 1, 0, 16}, Shape{16, 3, 3, 3}, kMismatch, {"16x3x3x3", "9x1x0x16"}},
           Refused{Format::kFractalZ3D, {18, 1, 16, 16}, Shape{16, 3, 3, 3, 3}, kMismatch, {"FRACTAL_Z_3D 18x1x16x16"}},
           Refused{Format::kFractalZC04, {3, 1, 16, 16}, Shape{16, 5, 3, 3}, kMismatch, {"16x5x3x3", "FRACTAL_Z_C04"}},
           Refused{
               Format::kC1HWNCoC0, {1, 3, 3, 1, 16, 16}, Shape{1, 17, 3, 3}, kMismatch, {"1x17x3x3", "1x3x3x1x16x16"}},
           Refused{Format::kC1HWNCoC0, {1, 3, 3, 1, 8, 16}, Shape{1, 16, 3, 3}, kMismatch, {"8", "16"}},
       }) {
    check_refused(request_for(format, shape, original), code, words);
  }
}

TEST_CASE("groups that contradict the shapes are refused with the numbers") {
  PlanRequest request = request_for(Format::kFractalZ, {18, 1, 16, 16}, Shape{32, 4, 3, 3});
  request.sub_format = 5;
  check_refused(request, kMismatch, {"5 groups do not divide N = 32"});
  request.sub_format = 4;  // divides, but the device shape is that of 8
  check_refused(request, kMismatch, {"32x4x3x3", "18x1x16x16"});
  request.original_shape = Shape{4, 1, 2, 3, 3};  // no weights of a convolution in a plane, and 4 divides 4
  check_refused(request, kMismatch, {"4x1x2x3x3", "rank 5"});
  request.sub_format = std::numeric_limits<int32_t>::max();
  request.original_shape = Shape{32, 4, 3, 3};
  check_refused(request, kMismatch, {"2147483647 groups", "32"});
}

TEST_CASE("empty weights of groups have an empty device tensor and four dimensions") {
  PlanRequest request = request_for(Format::kFractalZ, {0, 1, 16, 16}, Shape{8, 0, 3, 3});
  request.sub_format = 4;
  const Plan plan = plan_of(request);
  CHECK(plan.policy == PlanPolicy::kConverted);
  CHECK(plan.shape == Shape{8, 0, 3, 3});
  CHECK(plan.dst_elements == 0);
  request.original_shape = Shape{8, 0, 3, 3, 3};
  check_refused(request, kMismatch, {"8x0x3x3x3", "rank 5"});
  request = request_for(Format::kFractalZ, {9, 1, 16, 16}, Shape{8, 0, 3, 3});
  request.sub_format = 4;
  check_refused(request, kMismatch, {"8x0x3x3", "9x1x16x16"});
}

TEST_CASE("weights of groups have blocks of at most 256") {
  for (const auto& [n0, c0, fits] :
       {std::tuple{16, 256, true}, std::tuple{256, 16, true}, std::tuple{16, 257, false}, std::tuple{257, 16, false}}) {
    INFO(n0 << " x " << c0);
    PlanRequest request = request_for(Format::kFractalZ, {1, 1, n0, c0}, Shape{2, 1, 1, 1});
    request.sub_format = 2;
    CHECK(make_plan(request).has_value() == fits);
  }
}

TEST_CASE("each policy has its word") {
  CHECK(name_of(PlanPolicy::kConverted) == "converted");
  CHECK(name_of(PlanPolicy::kKept) == "kept");
  CHECK(name_of(PlanPolicy::kRaw) == "raw");
}

TEST_CASE("bytes that do not suffice for the shape are refused with both numbers") {
  PlanRequest request = request_for(Format::kNC1HWC0, {1, 2, 3, 3, 16}, Shape{1, 20, 3, 3});
  request.bytes = 100;
  check_refused(request, kMismatch, {"size 100 is less than the shape needs", "576 bytes"});
  request.bytes = 0;
  check_refused(request, kMismatch, {"size 0 is less than the shape needs", "576 bytes"});
  request.bytes = 577;
  CHECK(make_plan(request));
}

TEST_CASE("sub-byte types need their last byte whole") {
  for (const auto& [dtype, bytes] :
       {std::pair{DType::kInt4, 8U}, std::pair{DType::kInt2, 4U}, std::pair{DType::kUint1, 2U}}) {
    PlanRequest request = request_for(Format::kND, {3, 5}, std::nullopt, Format::kNCHW, dtype);
    CHECK(request.bytes == bytes);
    CHECK(make_plan(request));
    request.bytes = bytes - 1;
    check_refused(request, kMismatch, {std::to_string(bytes), std::to_string(bytes - 1), "3x5"});
  }
}

TEST_CASE("dimension products that overflow are too large, whatever they wrap to") {
  for (const Shape& shape : {Shape{int64_t{1} << 40, int64_t{1} << 40}, Shape{int64_t{1} << 32, int64_t{1} << 32, 6},
                             Shape{kHuge, 2}, Shape{kHuge}, Shape{(int64_t{1} << 62) + 3, 4}}) {
    for (const Format format : {Format::kND, Format::kNC1HWC0, Format::kFractalNZ}) {
      INFO(describe(shape) << " " << name_of(format));
      PlanRequest request = request_for(format, shape, std::nullopt, Format::kNCHW, DType::kFloat64);
      request.bytes = 24;
      check_refused(request, ErrorCode::kTooLarge, {"dimension product", "overflows"});
    }
  }
  PlanRequest request = request_for(Format::kNC1HWC0, {1, 1, 1, 1, 16}, Shape{kHuge, kHuge, 2, 2});
  check_refused(request, ErrorCode::kTooLarge, {"original shape", "overflows"});
}

TEST_CASE("an empty shape with other dimensions that overflow is too large, not undefined") {
  for (const Shape& shape : {Shape{0, kHuge, kHuge, 3, 16}, Shape{kHuge, 0, kHuge, 2}, Shape{0, kHuge, 2}}) {
    for (const FormatInfo& format : all_formats()) {
      check_refused(request_for(format.format, shape, std::nullopt), ErrorCode::kTooLarge, {"overflows"});
    }
  }
}

TEST_CASE("empty tensors whose other dimensions are as large as can be are planned or refused without overflow") {
  const int64_t large = int64_t{1} << 58;
  const std::vector<Shape> shapes = {{0, large, 1, 1, 16}, {large, 0, 1, 1, 16},    {0, 1, large, 16},
                                     {large, 0, 16},       {0, 1, large, 1, 1, 16}, {large, 1, 0, 16},
                                     {1, large, 0, 16},    {large, 0, 16, 1},       {0, 1, 1, large, 16, 1},
                                     {0, kHuge},           {0, large, 16, 1, 1}};
  const std::vector<std::optional<Shape>> originals = {
      std::nullopt,          Shape{0, kHuge, 1, 1},    Shape{large, 0, 4, 4}, Shape{0, 0, 0, 0}, Shape{kHuge, 0, 1, 1},
      Shape{1, 1, large, 0}, Shape{0, 1, 1, 1, kHuge}, Shape{kHuge, 0},       Shape{0}};
  for (const FormatInfo& format : all_formats()) {
    for (const Shape& shape : shapes) {
      for (const auto& original : originals) {
        for (const Format target : {Format::kNCHW, Format::kNHWC, Format::kDHWCN}) {
          PlanRequest request = request_for(format.format, shape, original, target);
          for (const int64_t groups : {0, 2, std::numeric_limits<int32_t>::max()}) {
            request.sub_format = groups;
            const auto plan = make_plan(request);
            if (plan) CHECK(plan->dst_elements == 0);
            if (plan) CHECK(element_count(plan->shape) == 0);
          }
        }
      }
    }
  }
}

TEST_CASE("ranks are limited on both sides") {
  CHECK(make_plan(request_for(Format::kND, Shape(kMaxRank, 1), std::nullopt)));
  check_refused(request_for(Format::kND, Shape(kMaxRank + 1, 1), std::nullopt), kMismatch, {"rank 65", "64"});
  check_refused(request_for(Format::kNC1HWC0, {1, 1, 1, 1, 16}, Shape(1000, 1)), kMismatch,
                {"original shape", "rank 1000"});
}

TEST_CASE("an unknown dimension of the device shape is refused") {
  check_refused(request_for(Format::kND, {3, kUnknownDim}, std::nullopt), kMismatch, {"unknown dimension"});
}

TEST_CASE("unknown data types and formats are refused by their number") {
  PlanRequest request = request_for(Format::kND, {3, 4}, std::nullopt);
  for (const int64_t number :
       {int64_t{99}, int64_t{-1}, int64_t{1} << 28, kHuge, std::numeric_limits<int64_t>::min()}) {
    request.format_number = number;
    check_refused(request, ErrorCode::kUnsupportedFormat, {"unknown format " + std::to_string(number)});
  }
  request.format_number = 2;
  request.dtype = std::nullopt;
  request.dtype_number = -1;
  check_refused(request, ErrorCode::kUnsupportedDtype, {"unknown data type -1"});
}

TEST_CASE("bytes without a type or a shape are a vector") {
  PlanRequest request = request_for(Format::kND, {2, 3}, std::nullopt, Format::kNCHW, DType::kUndefined);
  request.bytes = 48;
  Plan plan = plan_of(request);
  CHECK(plan.policy == PlanPolicy::kRaw);
  CHECK(plan.shape == Shape{48});
  CHECK(plan.npy_dtype == DType::kInt8);
  request.dtype = DType::kString;
  plan = plan_of(request);
  CHECK(plan.npy_dtype == DType::kUint8);
  CHECK_FALSE(plan.note.empty());
  request.dtype = DType::kFloat32;
  request.shape = std::nullopt;
  plan = plan_of(request);
  CHECK(plan.policy == PlanPolicy::kRaw);
  CHECK(plan.shape == Shape{12});
  CHECK(plan.dtype == DType::kFloat32);
  CHECK(plan.npy_dtype == DType::kFloat32);
  request.bytes = 47;
  check_refused(request, kMismatch, {"47 bytes", "float32"});
  request.dtype = DType::kInt4;
  plan = plan_of(request);
  CHECK(plan.shape == Shape{94});
  CHECK(plan.dtype == DType::kInt4);
  CHECK(plan.npy_dtype == DType::kInt8);
}

TEST_CASE("without a shape, more bytes than could be numbered element by element are refused") {
  constexpr uint64_t kMost = (uint64_t{1} << 60) - 1;
  for (const DType dtype : {DType::kUndefined, DType::kString, DType::kInt8, DType::kUint1}) {
    PlanRequest request = request_for(Format::kND, {1}, std::nullopt, Format::kNCHW, dtype);
    request.shape = std::nullopt;
    for (const uint64_t bytes : {std::numeric_limits<uint64_t>::max(), kMost + 1}) {
      request.bytes = bytes;
      check_refused(request, ErrorCode::kTooLarge, {"bytes"});
    }
    request.bytes = kMost;
    const int64_t elements = dtype == DType::kUint1 ? int64_t{kMost} * 8 : int64_t{kMost};
    CHECK(plan_of(request).dst_elements == elements);
  }
}
