// Every device format with a known inverse, over random shapes, against the formulas of the reference.
#include <fmt/format.h>

#include "plan_check.h"
#include "support/catch.h"

using namespace msdump;
using namespace msdump::test;

namespace {

const std::vector<Format> kDeviceFormats = {Format::kNC1HWC0,    Format::kNC1HWC0C04,  Format::kFractalZ,
                                            Format::kFractalZG,  Format::kFractalZC04, Format::kNDC1HWC0,
                                            Format::kFractalZ3D, Format::kC1HWNCoC0};
const std::vector<Format> kTargets = {Format::kNCHW,  Format::kNHWC,  Format::kHWCN,  Format::kCHWN, Format::kNCDHW,
                                      Format::kNDHWC, Format::kDHWCN, Format::kDHWNC, Format::kND};

// The axes a target means for a tensor of 4 or 5 dimensions, written out; "" where it means none.
std::string_view axes_meant(Format target, bool deep) {
  switch (target) {
    case Format::kND:
    case Format::kNCHW:
    case Format::kNCDHW: return deep ? "NCDHW" : "NCHW";
    case Format::kNHWC:
    case Format::kNDHWC: return deep ? "NDHWC" : "NHWC";
    case Format::kHWCN:
    case Format::kDHWCN: return deep ? "DHWCN" : "HWCN";
    case Format::kCHWN: return deep ? "" : "CHWN";
    case Format::kDHWNC: return deep ? "DHWNC" : "";
    default: return "";
  }
}

DeviceLayout random_layout(Format format, Dice& dice) {
  DeviceLayout layout;
  layout.format = format;
  layout.c0 = format == Format::kNC1HWC0C04    ? 4
              : format == Format::kFractalZC04 ? dice.one_of<int64_t>({16, 32})
                                               : dice.one_of<int64_t>({1, 4, 8, 16, 32});
  const int64_t most_channels = format == Format::kFractalZC04 ? 4 : 40;
  layout.extent = {dice.from_to(1, format == Format::kC1HWNCoC0 ? 3 : 20), dice.from_to(1, most_channels), 1,
                   dice.from_to(1, 5), dice.from_to(1, 4)};
  if (has_depth(format)) {
    layout.extent.n = dice.from_to(1, 4);
    layout.extent.d = dice.from_to(1, 3);
  }
  return layout;
}

// How a reader must understand `original`: the first order in which the tensor has the device shape it has.
std::optional<DeviceLayout> first_reading(DeviceLayout layout, const Shape& original) {
  const Shape device = device_shape(layout).value();
  const bool deep = has_depth(layout.format);
  for (const std::string_view axes : {deep ? "NCDHW" : "NCHW", deep ? "NDHWC" : "NHWC", deep ? "DHWCN" : "HWCN"}) {
    layout.extent = extents_from(original, axes);
    if (device_shape(layout) == device) return layout;
  }
  return std::nullopt;
}

std::string describe_layout(const DeviceLayout& l, const Shape& original) {
  return fmt::format("{} {} groups {} from {}", name_of(l.format), describe(device_shape(l).value()), l.groups,
                     describe(original));
}

void check_layout(const DeviceLayout& layout, std::string_view original_axes, Format target) {
  const Shape original = host_shape(layout.extent, original_axes);
  INFO(describe_layout(layout, original) << " to " << name_of(target));
  const DeviceLayout reading = first_reading(layout, original).value();
  const Plan plan = plan_of(request_for(layout, original, target));
  const std::string_view axes = axes_meant(target, has_depth(layout.format));
  if (axes.empty()) {
    CHECK(plan.policy == PlanPolicy::kKept);
    CHECK(plan.shape == device_shape(layout));
    CHECK(plan.note.find(name_of(target)) != std::string::npos);
    return;
  }
  REQUIRE(plan.policy == PlanPolicy::kConverted);
  CHECK(plan.note.empty());
  CHECK(name_of(plan.to) == axes);
  CHECK(plan.shape == host_shape(reading.extent, axes));
  check_plan(plan, sources_of(reading, axes));
}

}  // namespace

TEST_CASE("every device format with an inverse follows the formula of the reference, element by element") {
  Dice dice(2024);
  for (const Format format : kDeviceFormats) {
    for (int round = 0; round < 40; ++round) {
      const DeviceLayout layout = random_layout(format, dice);
      const bool deep = has_depth(format);
      const std::string_view order =
          dice.one_of<std::string_view>({deep ? "NCDHW" : "NCHW", deep ? "NDHWC" : "NHWC", deep ? "DHWCN" : "HWCN"});
      check_layout(layout, order, dice.one_of(kTargets));
    }
  }
}

TEST_CASE("FRACTAL_Z with groups follows the formula of the reference, element by element") {
  Dice dice(77);
  for (int round = 0; round < 120; ++round) {
    DeviceLayout layout = random_layout(dice.one_of<Format>({Format::kFractalZ, Format::kFractalZG}), dice);
    layout.groups = dice.from_to(2, 20);
    layout.extent.n = layout.groups * dice.from_to(1, 9);
    layout.extent.c = dice.from_to(1, 19);
    layout.extent.h = dice.from_to(1, 3);
    layout.extent.w = dice.from_to(1, 3);
    layout.c0 = dice.one_of<int64_t>({8, 16, 32});
    check_layout(layout, "NCHW",
                 dice.one_of<Format>({Format::kNCHW, Format::kNHWC, Format::kHWCN, Format::kCHWN, Format::kND}));
  }
}

TEST_CASE("groups given in the packed format number mean the same as in the sub-format field") {
  const DeviceLayout layout{Format::kFractalZ, {32, 4, 1, 3, 3}, 16, 8};
  PlanRequest request = request_for(layout, Shape{32, 4, 3, 3});
  request.sub_format = 0;
  request.format_number = 4 | (8 << 8) | (5 << 24);
  check_plan(plan_of(request), sources_of(layout, "NCHW"));
}

TEST_CASE("a sub-format means groups for FRACTAL_Z only") {
  for (const Format format : kDeviceFormats) {
    if (format == Format::kFractalZ || format == Format::kFractalZG) continue;
    Dice dice(5);
    DeviceLayout layout = random_layout(format, dice);
    const std::string_view axes = has_depth(format) ? "NCDHW" : "NCHW";
    layout.groups = 3;
    check_plan(plan_of(request_for(layout, host_shape(layout.extent, axes))), sources_of(layout, axes));
  }
}

TEST_CASE("sub-formats of 0 and 1 both mean that FRACTAL_Z has no groups") {
  DeviceLayout layout{Format::kFractalZ, {18, 20, 1, 2, 3}, 16, 0};
  for (const int64_t groups : {0, 1}) {
    layout.groups = groups;
    check_plan(plan_of(request_for(layout, Shape{18, 20, 2, 3})), sources_of(layout, "NCHW"));
  }
}

TEST_CASE(
    "a target for tensors of the other number of dimensions is kept in device layout with a note that counts right") {
  const DeviceLayout flat{Format::kNC1HWC0, {2, 3, 1, 4, 5}, 16, 0};
  const Plan four = plan_of(request_for(flat, Shape{2, 3, 4, 5}, Format::kDHWNC));
  CHECK(four.policy == PlanPolicy::kKept);
  CHECK(four.note == "DHWNC has no 4-dimensional form");
  const DeviceLayout deep{Format::kNDC1HWC0, {2, 3, 2, 4, 5}, 16, 0};
  const Plan five = plan_of(request_for(deep, Shape{2, 3, 2, 4, 5}, Format::kCHWN));
  CHECK(five.policy == PlanPolicy::kKept);
  CHECK(five.note == "CHWN has no 5-dimensional form");
}
