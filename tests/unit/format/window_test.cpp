// Windows: pieces of a plan that fit into a buffer.
#include "format/window.h"

#include <algorithm>

#include "plan_check.h"
#include "support/catch.h"

using namespace msdump;
using namespace msdump::test;

namespace {

Plan nc1hwc0_plan(Coordinates extent, Format target = Format::kNCHW) {
  const DeviceLayout layout{Format::kNC1HWC0, extent, 16, 0};
  return plan_of(request_for(layout, host_shape(extent, "NCHW"), target));
}

int64_t larger_side(const Window& window) { return std::max(window.src.elements(), window.dst.elements()); }

}  // namespace

TEST_CASE("runs are visited in buffer order and the visit can stop") {
  const Region region{.base = 7, .run = 3, .loops = {{2, 100}, {3, 10}}};
  CHECK(region.run_count() == 6);
  CHECK(region.elements() == 18);
  std::vector<int64_t> firsts;
  CHECK(for_each_run(region, [&](int64_t first) {
    firsts.push_back(first);
    return true;
  }));
  CHECK(firsts == std::vector<int64_t>{7, 17, 27, 107, 117, 127});
  int visits = 0;
  CHECK_FALSE(for_each_run(region, [&](int64_t) { return ++visits < 4; }));
  CHECK(visits == 4);
}

TEST_CASE("a region without loops is one run") {
  int64_t first_seen = -1;
  CHECK(for_each_run(Region{.base = 5, .run = 9, .loops = {}}, [&](int64_t first) {
    first_seen = first;
    return true;
  }));
  CHECK(first_seen == 5);
}

TEST_CASE("a plan that fits the budget is one window") {
  const Plan plan = nc1hwc0_plan({2, 20, 1, 5, 6});
  const Tiling tiling = choose_tiling(plan.parts.at(0), 1 << 20, 64);
  CHECK(tiling.windows == 1);
  CHECK(make_window(plan.parts[0], tiling, 0, 64).dst.elements() == plan.dst_elements);
}

TEST_CASE("windows keep to the budget") {
  for (const Format target : {Format::kNCHW, Format::kNHWC, Format::kHWCN, Format::kCHWN}) {
    const Plan plan = nc1hwc0_plan({2, 40, 1, 13, 11}, target);
    for (const int64_t budget : {3, 16, 100, 1000, 5000, 20000}) {
      for (const int64_t gap : {0, 16, 4096}) {
        INFO(name_of(target) << " budget " << budget << " gap " << gap);
        const Tiling tiling = choose_tiling(plan.parts.at(0), budget, gap);
        int64_t largest = 0;
        for (int64_t i = 0; i < tiling.windows; ++i) {
          largest = std::max(largest, larger_side(make_window(plan.parts[0], tiling, i, gap)));
        }
        CHECK(largest <= budget);
      }
    }
  }
}

TEST_CASE("every budget is kept and mostly used") {
  const Plan plan = plan_of(request_for(Format::kNHWC, {7, 13, 11, 5}, std::nullopt));
  const PlanPart& part = plan.parts.at(0);
  for (int64_t budget = 1; budget < plan.dst_elements; budget += 1 + budget / 16) {
    INFO("budget " << budget);
    const Tiling tiling = choose_tiling(part, budget, 0);
    int64_t largest = 0;
    for (int64_t i = 0; i < tiling.windows; ++i)
      largest = std::max(largest, larger_side(make_window(part, tiling, i, 0)));
    CHECK(largest <= budget);
    CHECK(largest * 3 > budget);
  }
}

TEST_CASE("a block larger than the budget is cut inside") {
  const Plan plan = nc1hwc0_plan({2, 32, 1, 3, 3});
  for (const int64_t budget : {1, 5, 15}) {
    const Tiling tiling = choose_tiling(plan.parts.at(0), budget, 0);
    for (int64_t i = 0; i < tiling.windows; ++i) {
      CHECK(larger_side(make_window(plan.parts[0], tiling, i, 0)) <= budget);
    }
  }
  CHECK(choose_tiling(plan.parts.at(0), 1, 0).windows == plan.dst_elements);
  CHECK(choose_tiling(plan.parts.at(0), 15, 0).windows == 2 * 2 * 9 * 2);
}

TEST_CASE("one block of 2^25 elements does not make a window of as many") {
  for (const Shape& device : {Shape{1, 2, 1, 1, 1 << 25}, Shape{1, 1, 3, 5, 1 << 25}}) {
    const Plan plan = plan_of(request_for(Format::kNC1HWC0, device, std::nullopt));
    const PlanPart& part = plan.parts.at(0);
    const Tiling tiling = choose_tiling(part, 1 << 18, 2048);
    for (int64_t i = 0; i < tiling.windows; i += 1 + tiling.windows / 64) {
      CHECK(larger_side(make_window(part, tiling, i, 2048)) <= 1 << 18);
    }
  }
}

TEST_CASE("the axis of a group that begins inside a block is cut, too") {
  for (const DeviceLayout& layout : {DeviceLayout{Format::kFractalZ, {24, 3, 1, 2, 5}, 16, 4},
                                     DeviceLayout{Format::kFractalZ, {24, 12, 1, 2, 5}, 5, 4}}) {
    const Plan plan = plan_of(request_for(layout, host_shape(layout.extent, "NCHW")));
    REQUIRE(plan.parts.size() == 4);
    check_plan(plan, sources_of(layout, "NCHW"));
    for (const PlanPart& part : plan.parts) {
      CHECK(choose_tiling(part, 1, 0).windows == layout.extent.c * 6 * 2 * 5);
      for (const int64_t budget : {1, 2, 7, 40}) {
        const Tiling tiling = choose_tiling(part, budget, 0);
        for (int64_t i = 0; i < tiling.windows; ++i) CHECK(larger_side(make_window(part, tiling, i, 0)) <= budget);
      }
    }
  }
}

TEST_CASE("windows of a plan far too large for memory are made without overflow") {
  // 2^40 elements of data, as a file of 2 TiB might claim them: only the numbers are made here.
  const Coordinates extent{1 << 10, 1 << 10, 1, 1 << 10, 1 << 10};
  for (const Format target : {Format::kNCHW, Format::kNHWC, Format::kHWCN, Format::kCHWN}) {
    const Plan plan = nc1hwc0_plan(extent, target);
    const PlanPart& part = plan.parts.at(0);
    const Tiling tiling = choose_tiling(part, 1 << 18, 2048);
    CHECK(tiling.windows >= int64_t{1} << 22);
    for (const int64_t index : {int64_t{0}, tiling.windows / 2, tiling.windows - 1}) {
      const Window window = make_window(part, tiling, index, 2048);
      CHECK(larger_side(window) <= 1 << 18);
      CHECK(window.src.base >= 0);
      CHECK(window.src.base < plan.src_elements);
      CHECK(window.dst.base < plan.dst_elements);
    }
  }
}

TEST_CASE("an identity plan is cut into consecutive runs of both sides") {
  const Plan plan = plan_of(request_for(Format::kND, {1000, 1000}, std::nullopt));
  const Tiling tiling = choose_tiling(plan.parts.at(0), 4096, 0);
  int64_t next = 0;
  for (int64_t i = 0; i < tiling.windows; ++i) {
    const Window window = make_window(plan.parts[0], tiling, i, 0);
    REQUIRE(window.src.base == next);
    REQUIRE(window.dst.base == next);
    REQUIRE(window.src.loops.empty());
    REQUIRE(window.src.run == window.dst.run);
    next += window.src.run;
  }
  CHECK(next == 1'000'000);
}

TEST_CASE("a transposed matrix of short rows is not read once for each column") {
  // 5632 rows of 2048 elements, as near to each other as the gap is long.
  PlanPart part;
  part.axes = {plain_axis(2048, 1, 5632), plain_axis(5632, 2048, 1)};
  constexpr int64_t kMost = 1 << 19, kGap = 2048;
  const Tiling tiling = choose_tiling(part, kMost, kGap);
  int64_t read = 0;
  for (int64_t i = 0; i < tiling.windows; ++i) read += make_window(part, tiling, i, kGap).src.elements();
  CHECK(read < 2 * 2048 * 5632);
}
