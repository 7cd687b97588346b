#include "compare/match/placement/placement_choices.h"

#include <algorithm>

#include "compare/limits.h"
#include "support/catch.h"
#include "support/sharded_tensors.h"

namespace msdump {
namespace {

using namespace test::roles;

std::vector<int64_t> numbers_of_ranks() {
  std::vector<int64_t> all;
  for (int64_t ranks = 2; ranks <= 256; ++ranks) all.push_back(ranks);
  for (const int64_t ranks : {384, 512, 720, 1024, 4096}) all.push_back(ranks);
  return all;
}

Bounded<Placement> plain_layouts(int64_t ranks, const Shape& piece, const Shape& whole) {
  const std::vector<Shape> pieces(static_cast<size_t>(ranks), piece);
  return placements_of(pieces, whole, true, PlacementStage::kPlain);
}

size_t place_of(const std::vector<Placement>& layouts, const Placement& wanted) {
  return static_cast<size_t>(std::find(layouts.begin(), layouts.end(), wanted) - layouts.begin());
}

TEST_CASE("layouts of one dimension come first, whatever the number of ranks") {
  for (const int64_t ranks : numbers_of_ranks()) {
    INFO(ranks);
    const auto whole = plain_layouts(ranks, {4, 3}, {4, 3}).items;
    CHECK(place_of(whole, {{{ranks, kCopy}}}) == 0);
    CHECK(place_of(whole, {{{ranks, kSum}}}) == 1);
    const auto rows = plain_layouts(ranks, {4, 3}, {4 * ranks, 3}).items;
    CHECK(place_of(rows, {{{ranks, kConcat, 0}}}) == 0);
    const auto columns = plain_layouts(ranks, {4, 3}, {4, 3 * ranks}).items;
    CHECK(place_of(columns, {{{ranks, kConcat, 1}}}) == 0);
    CHECK(whole.size() <= kMostFollowed);
  }
}

TEST_CASE("of fewer rows than ranks some ranks have none") {
  const std::vector<Shape> three{{1, 3}, {1, 3}, {0, 3}};
  CHECK(fits_shapes({{{3, kConcat, 0}}}, three, {2, 3}));
  CHECK_FALSE(fits_shapes({{{3, kConcat, 0}}}, three, {3, 3}));
  CHECK_FALSE(fits_shapes({{{3, kConcat, 1}}}, three, {2, 3}));
  CHECK_FALSE(fits_shapes({{{3, kCopy}}}, three, {1, 3}));
}

TEST_CASE("layouts of two dimensions follow those of one, before any of three") {
  for (const int64_t ranks : numbers_of_ranks()) {
    INFO(ranks);
    if (ranks % 2 != 0 || ranks == 2) continue;
    const auto copied = plain_layouts(ranks, {4, 3}, {8, 3}).items;
    CHECK(place_of(copied, {{{2, kConcat, 0}, {ranks / 2, kCopy}}}) < 2);
    CHECK(place_of(copied, {{{ranks / 2, kCopy}, {2, kConcat, 0}}}) < 2);
    CHECK(place_of(copied, {{{ranks / 2, kSum}, {2, kConcat, 0}}}) < 4);
  }
}

TEST_CASE("each layout is a choice once, with few dimensions first and the less complex ones before the others") {
  for (const int64_t ranks : {8, 64, 120, 192}) {
    for (const PlacementStage stage : kPlacementStages) {
      const std::vector<Shape> pieces(static_cast<size_t>(ranks), Shape{4, 8});
      const auto layouts = placements_of(pieces, {8, 16}, true, stage).items;
      INFO(ranks << " ranks, stage " << static_cast<int>(stage));
      for (size_t i = 0; i < layouts.size(); ++i) {
        CHECK(layouts[i].ranks() == ranks);
        CHECK(stage_of(layouts[i]) == stage);
        if (i == 0 || stage != PlacementStage::kPlain) continue;
        const auto key = [](const Placement& layout) {
          int complexity = 0;
          for (const PlacementDim& dim : layout.dims) complexity += complexity_of(dim);
          return std::pair(layout.dims.size(), complexity);
        };
        CHECK(key(layouts[i - 1]) <= key(layouts[i]));
        CHECK(place_of(layouts, layouts[i]) == i);
      }
    }
  }
}

TEST_CASE("a number of layouts beyond the bound is told") {
  const Bounded<Placement> many = plain_layouts(384, {4, 3}, {4, 3});
  CHECK(many.items.size() == kMostFollowed);
  CHECK(many.cut_off);
  const Bounded<Placement> few = plain_layouts(64, {4, 3}, {4, 3});
  CHECK(few.items.size() == 147);
  CHECK_FALSE(few.cut_off);
  CHECK_FALSE(plain_layouts(4096, {4, 3}, {4, 3 * 4096}).cut_off);
}

}  // namespace
}  // namespace msdump
