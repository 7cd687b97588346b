// How the original shape of a tensor in device format is read: lower ranks, absent, unknown, empty.
#include "plan_check.h"
#include "support/catch.h"

using namespace msdump;
using namespace msdump::test;

namespace {

struct LowRank {
  Shape original;
  Coordinates extent;
};

// (C), (N,C) where H and W are 1, else (C,H), and (C,H,W); () is a scalar.
const std::vector<LowRank> kLowRanks = {
    {{}, {1, 1, 1, 1, 1}},       {{10}, {1, 10, 1, 1, 1}},     {{40}, {1, 40, 1, 1, 1}},  {{4, 10}, {4, 10, 1, 1, 1}},
    {{20, 7}, {1, 20, 1, 7, 1}}, {{5, 3, 2}, {1, 5, 1, 3, 2}}, {{1, 1}, {1, 1, 1, 1, 1}},
};

DeviceLayout layout_of(Format format, const Coordinates& extent) {
  return {format, extent, format == Format::kNC1HWC0C04 ? 4 : 16, 0};
}

}  // namespace

TEST_CASE("an original shape of a lower rank is read as MindSpore pads it, and written with its own rank") {
  for (const LowRank& low : kLowRanks) {
    for (const Format format : {Format::kNC1HWC0, Format::kNC1HWC0C04, Format::kFractalZ, Format::kC1HWNCoC0,
                                Format::kNDC1HWC0, Format::kFractalZ3D}) {
      for (const Format target : {Format::kNCHW, Format::kNHWC, Format::kND}) {
        INFO(name_of(format) << " from " << describe(low.original) << " to " << name_of(target));
        const DeviceLayout layout = layout_of(format, low.extent);
        const Plan plan = plan_of(request_for(layout, low.original, target));
        REQUIRE(plan.policy == PlanPolicy::kConverted);
        CHECK(plan.shape == low.original);
        CHECK(plan.to == Format::kND);
        check_plan(plan, sources_of(layout, has_depth(format) ? "NCDHW" : "NCHW"));
      }
    }
  }
}

TEST_CASE("the original format of an output decides between readings that both fit") {
  // 2 x 3 x 3 x 3 is a tensor of 3 channels either way, with other elements.
  const DeviceLayout nchw{Format::kNC1HWC0, {2, 3, 1, 3, 3}, 16, 0};
  PlanRequest request = request_for(nchw, Shape{2, 3, 3, 3});
  for (const auto& original_format :
       {std::optional<Format>(), std::optional(Format::kNCHW), std::optional(Format::kND)}) {
    request.original_format = original_format;
    check_plan(plan_of(request), sources_of(nchw, "NCHW"));
  }
  // FRACTAL_Z: 4 x 4 x 4 x 16 fits as NCHW (C=4) and as HWCN (C=4, N=16), with other rows.
  DeviceLayout hwcn{Format::kFractalZ, {16, 4, 1, 4, 4}, 16, 0};
  request = request_for(hwcn, Shape{4, 4, 4, 16});
  request.original_format = Format::kHWCN;
  const Plan plan = plan_of(request);
  CHECK(plan.shape == Shape{16, 4, 4, 4});
  check_plan(plan, sources_of(hwcn, "NCHW"));
}

TEST_CASE("an original format that does not fit is no reason to refuse a reading that does") {
  const DeviceLayout layout{Format::kNC1HWC0, {2, 20, 1, 3, 4}, 16, 0};
  PlanRequest request = request_for(layout, Shape{2, 20, 3, 4});
  request.original_format = Format::kNHWC;
  check_plan(plan_of(request), sources_of(layout, "NCHW"));
}

TEST_CASE("without an original shape the channels of NC1HWC0 and its kin stay padded, with a note") {
  for (const auto& original :
       {std::optional<Shape>(), std::optional<Shape>({2, kUnknownDim, 3, 4}), std::optional<Shape>(Shape{})}) {
    for (const Format format : {Format::kNC1HWC0, Format::kNC1HWC0C04, Format::kC1HWNCoC0, Format::kNDC1HWC0}) {
      INFO(name_of(format));
      DeviceLayout layout = layout_of(format, {2, 20, format == Format::kNDC1HWC0 ? 2 : 1, 3, 4});
      const PlanRequest request = request_for(layout, original);
      layout.extent.c = padded(20, layout.c0);
      const Plan plan = plan_of(request);
      CHECK(plan.policy == PlanPolicy::kConverted);
      CHECK(plan.note.find("padded") != std::string::npos);
      const std::string_view axes = has_depth(format) ? "NCDHW" : "NCHW";
      CHECK(plan.shape == host_shape(layout.extent, axes));
      check_plan(plan, sources_of(layout, axes));
    }
  }
}

TEST_CASE("without an original shape the formats that fold axes are kept, with a note") {
  for (const auto& original :
       {std::optional<Shape>(), std::optional<Shape>({kUnknownDim, 20, 3, 4}), std::optional<Shape>(Shape{})}) {
    for (const Format format : {Format::kFractalZ, Format::kFractalZG, Format::kFractalZC04, Format::kFractalZ3D}) {
      for (const int64_t groups : {0, 4}) {
        INFO(name_of(format) << " groups " << groups);
        PlanRequest request = request_for(format, {24, 2, 16, 16}, original);
        request.sub_format = groups;
        const Plan plan = plan_of(request);
        CHECK(plan.policy == PlanPolicy::kKept);
        CHECK(plan.shape == Shape{24, 2, 16, 16});
        CHECK(plan.note.find("original shape") != std::string::npos);
      }
    }
  }
}

TEST_CASE("empty tensors in device formats get their host shape in the order asked for") {
  struct Empty {
    Format format;
    Coordinates extent;
  };
  for (const auto& [format, extent] :
       {Empty{Format::kNC1HWC0, {0, 20, 1, 3, 3}}, Empty{Format::kNC1HWC0, {1, 20, 1, 0, 3}},
        Empty{Format::kNC1HWC0, {2, 0, 1, 3, 3}}, Empty{Format::kFractalZ, {16, 0, 1, 3, 3}},
        Empty{Format::kFractalZ, {0, 5, 1, 3, 3}}, Empty{Format::kC1HWNCoC0, {0, 20, 1, 2, 2}},
        Empty{Format::kNDC1HWC0, {1, 20, 0, 3, 3}}, Empty{Format::kFractalZ3D, {3, 5, 0, 3, 3}},
        Empty{Format::kFractalZC04, {5, 3, 1, 0, 3}}}) {
    const DeviceLayout layout = layout_of(format, extent);
    const bool deep = has_depth(format);
    INFO(name_of(format) << " " << describe(*device_shape(layout)));
    const Plan plan = plan_of(request_for(layout, host_shape(extent, deep ? "NCDHW" : "NCHW"), Format::kNHWC));
    CHECK(plan.policy == PlanPolicy::kConverted);
    CHECK(plan.shape == host_shape(extent, deep ? "NDHWC" : "NHWC"));
    CHECK(plan.dst_elements == 0);
  }
}
