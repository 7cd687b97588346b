// Tensors in a plain order of axes, and tensors without any.
#include "plan_check.h"
#include "support/catch.h"

using namespace msdump;
using namespace msdump::test;

namespace {

const std::vector<Format> kFlat = {Format::kNCHW, Format::kNHWC, Format::kHWCN, Format::kCHWN};
const std::vector<Format> kDeep = {Format::kNCDHW, Format::kNDHWC, Format::kDHWCN, Format::kDHWNC};

std::vector<int64_t> in_order(int64_t count) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < count; ++i) all.push_back(i);
  return all;
}

std::vector<int64_t> permuted(Coordinates extent, std::string_view from, std::string_view to) {
  std::vector<int64_t> sources;
  for_each_element(extent, to, [&](const Coordinates& at) { sources.push_back(plain_index(extent, at, from)); });
  return sources;
}

void check_permutation(Coordinates extent, Format from, Format target, Format meant) {
  INFO(name_of(from) << " to " << name_of(target));
  const Plan plan = plan_of(request_for(from, host_shape(extent, name_of(from)), std::nullopt, target));
  CHECK(plan.policy == PlanPolicy::kConverted);
  CHECK(plan.to == meant);
  CHECK(plan.shape == host_shape(extent, name_of(meant)));
  check_plan(plan, permuted(extent, name_of(from), name_of(meant)));
}

}  // namespace

TEST_CASE("plain formats of 4 and 5 dimensions are permuted into each other") {
  Dice dice(8);
  for (int round = 0; round < 6; ++round) {
    const Coordinates flat{dice.from_to(1, 6), dice.from_to(1, 9), 1, dice.from_to(1, 7), dice.from_to(1, 5)};
    for (const Format from : kFlat) {
      for (const Format to : kFlat) check_permutation(flat, from, to, to);
      check_permutation(flat, from, Format::kNCDHW, Format::kNCHW);
      check_permutation(flat, from, Format::kNDHWC, Format::kNHWC);
      check_permutation(flat, from, Format::kDHWCN, Format::kHWCN);
    }
    Coordinates deep = flat;
    deep.d = dice.from_to(1, 4);
    for (const Format from : kDeep) {
      for (const Format to : kDeep) check_permutation(deep, from, to, to);
      check_permutation(deep, from, Format::kNCHW, Format::kNCDHW);
      check_permutation(deep, from, Format::kNHWC, Format::kNDHWC);
      check_permutation(deep, from, Format::kHWCN, Format::kDHWCN);
    }
  }
}

TEST_CASE("a plain tensor with no form in the target keeps its own order, and says so") {
  for (const auto& [from, shape, target] : {std::tuple{Format::kNHWC, Shape{2, 3, 4, 5}, Format::kDHWNC},
                                            std::tuple{Format::kNDHWC, Shape{2, 2, 3, 4, 5}, Format::kCHWN}}) {
    const Plan plan = plan_of(request_for(from, shape, std::nullopt, target));
    CHECK(plan.to == from);
    CHECK(plan.shape == shape);
    CHECK(plan.note.find(name_of(target)) != std::string::npos);
    check_plan(plan, in_order(*element_count(shape)));
  }
}

TEST_CASE("an original shape in another order never mislabels a tensor that keeps its order") {
  const Shape nhwc{2, 4, 5, 3}, nchw{2, 3, 4, 5};
  for (const Format target : {Format::kNHWC, Format::kNDHWC, Format::kND, Format::kDHWNC}) {
    INFO(name_of(target));
    CHECK(plan_of(request_for(Format::kNHWC, nhwc, nchw, target)).shape == nhwc);
  }
  CHECK(plan_of(request_for(Format::kNCHW, nchw, nhwc)).shape == nchw);
  CHECK(plan_of(request_for(Format::kNHWC, {1, 1, 1, 7}, Shape{1, 7, 1, 1}, Format::kNHWC)).shape == Shape{1, 1, 1, 7});
}

TEST_CASE("a tensor that keeps its order takes an original shape of another rank when only ones differ") {
  CHECK(plan_of(request_for(Format::kNCHW, {1, 10, 1, 1}, Shape{10})).shape == Shape{10});
  CHECK(plan_of(request_for(Format::kNCHW, {1, 1, 1, 1}, Shape{})).shape.empty());
  CHECK(plan_of(request_for(Format::kNCHW, {2, 3, 4, 5}, Shape{6, 20})).shape == Shape{2, 3, 4, 5});
}

TEST_CASE("plain formats ignore where the original shape puts the axes when they are permuted") {
  const Coordinates extent{2, 3, 1, 4, 5};
  for (const Shape& original : {Shape{2, 3, 4, 5}, Shape{2, 4, 5, 3}}) {
    const Plan plan = plan_of(request_for(Format::kNHWC, {2, 4, 5, 3}, original));
    CHECK(plan.shape == Shape{2, 3, 4, 5});
    check_plan(plan, permuted(extent, "NHWC", "NCHW"));
  }
}

TEST_CASE("tensors without a layout are written as they are, in the same pass") {
  struct Case {
    Format format;
    Shape shape;
  };
  for (const auto& [format, shape] :
       {Case{Format::kND, {3, 4}}, Case{Format::kND, {}}, Case{Format::kND, {2, 3, 4, 5}}, Case{Format::kNCHW, {7}},
        Case{Format::kNHWC, {6, 5}}, Case{Format::kNCL, {2, 3, 4}}, Case{Format::kNC, {4, 5}},
        Case{Format::kNCDHW, {2, 3, 4, 5}}, Case{Format::kReserved, {3}},
        Case{Format::kNCHW, {1, 2, 1, 2, 1, 2, 1, 2}}}) {
    for (const Format target : {Format::kNCHW, Format::kNHWC, Format::kNDHWC, Format::kND}) {
      INFO(name_of(format) << " " << describe(shape) << " to " << name_of(target));
      const Plan plan = plan_of(request_for(format, shape, std::nullopt, target));
      CHECK(plan.policy == PlanPolicy::kConverted);
      CHECK(plan.identity);
      CHECK(plan.shape == shape);
      CHECK(plan.note.empty());
      check_plan(plan, in_order(*element_count(shape)));
    }
  }
}

TEST_CASE("a scalar carried as one element gets its own shape back") {
  for (const Format format : {Format::kND, Format::kNCHW}) {
    CHECK(plan_of(request_for(format, {1}, Shape{})).shape.empty());
    CHECK(plan_of(request_for(format, {1}, std::nullopt)).shape == Shape{1});
  }
}

TEST_CASE("without a target everything keeps its device layout without a word") {
  for (const Format format : {Format::kNC1HWC0, Format::kNHWC, Format::kFractalZnLstm}) {
    const Plan plan = plan_of(request_for(format, {2, 1, 3, 4, 16}, Shape{2, 9, 3, 4}, std::nullopt));
    CHECK(plan.policy == PlanPolicy::kKept);
    CHECK(plan.to == format);
    CHECK(plan.shape == Shape{2, 1, 3, 4, 16});
    CHECK(plan.note.empty());
    check_plan(plan, in_order(2 * 3 * 4 * 16));
  }
}

TEST_CASE("formats without a public inverse are kept with a note, whatever their shape") {
  for (const FormatInfo& format : all_formats()) {
    if (format.support != Support::kKept) continue;
    const Plan plan = plan_of(request_for(format.format, {3, 8, 16, 16}, Shape{40, 80}));
    INFO(format.name);
    CHECK(plan.policy == PlanPolicy::kKept);
    CHECK(plan.shape == Shape{3, 8, 16, 16});
    CHECK(plan.note.find(format.name) != std::string::npos);
  }
}

TEST_CASE("empty plain tensors get the permuted shape") {
  const Plan plan = plan_of(request_for(Format::kNHWC, {2, 0, 5, 3}, std::nullopt));
  CHECK(plan.shape == Shape{2, 3, 0, 5});
  CHECK(plan.dst_elements == 0);
  CHECK(plan.policy == PlanPolicy::kConverted);
  CHECK(plan_of(request_for(Format::kNCHW, {2, 0, 3, 3}, Shape{2, 0, 3, 3})).shape == Shape{2, 0, 3, 3});
}
