#include "compare/match/placement/placement.h"

#include <set>

#include "base/numbers.h"
#include "compare/match/placement/placement_choices.h"
#include "support/catch.h"
#include "support/sharded_tensors.h"

namespace msdump {
namespace {

using test::MadeLocal;

using namespace test::roles;

std::vector<Shape> shapes_of(const std::vector<MadeLocal>& pieces) {
  std::vector<Shape> shapes;
  for (const MadeLocal& piece : pieces) shapes.push_back(piece.shape);
  return shapes;
}

// By element of the whole, which elements lie on it: of which rank, and where. Of at most three axes.
using Cover = std::vector<std::vector<std::pair<int64_t, int64_t>>>;

Cover cover_of(const Placement& layout, const std::vector<Shape>& pieces, const Shape& whole) {
  Cover cover(static_cast<size_t>(*element_count(whole)));
  for (int64_t rank = 0; rank < layout.ranks(); ++rank) {
    for (const PieceBox& box : boxes_of(layout, rank, pieces, whole)) {
      CHECK(box.piece == rank);
      const int64_t count = *element_count(Shape(box.size.begin(), box.size.end()));
      for (int64_t i = 0; i < count; ++i) {
        int64_t rest = i, from = 0, to = 0, from_stride = 1, to_stride = 1;
        for (size_t axis = whole.size(); axis-- > 0;) {
          const int64_t at = rest % box.size[axis];
          rest /= box.size[axis];
          from += (box.from[axis] + at) * from_stride;
          to += (box.to[axis] + at) * to_stride;
          from_stride *= pieces[static_cast<size_t>(rank)][axis];
          to_stride *= whole[axis];
        }
        cover.at(static_cast<size_t>(to)).emplace_back(rank, from);
      }
    }
  }
  return cover;
}

// Every element of the whole lies where the definition puts it, once in each copy and each term of a sum.
void check_against_the_definition(const Placement& layout, const Shape& whole) {
  INFO(text_of(layout, std::vector<int64_t>{0, 1}));
  std::vector<float> numbered(static_cast<size_t>(*element_count(whole)));
  for (size_t i = 0; i < numbered.size(); ++i) numbered[i] = static_cast<float>(i + 1);
  Placement without_sums = layout;  // the same places, and values that name them
  int64_t times = layout.copies();
  for (PlacementDim& dim : without_sums.dims) {
    if (dim.traits().reduction == PieceOverlap::kNone) continue;
    dim.role = kCopy;
    times *= dim.extent;
  }
  const std::vector<MadeLocal> pieces = test::shard_tensor(without_sums, whole, numbered);
  CHECK(fits_shapes(layout, shapes_of(pieces), whole));
  const Cover cover = cover_of(layout, shapes_of(pieces), whole);
  size_t wrong = 0;
  for (size_t element = 0; element < cover.size(); ++element) {
    if (static_cast<int64_t>(cover[element].size()) != times) ++wrong;
    for (const auto& [rank, at] : cover[element]) {
      if (pieces[static_cast<size_t>(rank)].values[static_cast<size_t>(at)] != numbered[element]) ++wrong;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("the boxes of every role and of mixtures are those of the definition, element by element") {
  const Shape whole = {12, 8, 24};
  for (uint32_t axis = 0; axis < 3; ++axis) {
    check_against_the_definition({{{2, kConcat, axis}}}, whole);
    check_against_the_definition({{{4, kConcat, axis}}}, whole);
    check_against_the_definition({{{2, kZigzag, axis}}}, whole);
    check_against_the_definition({{{1, kGathered, axis, {2}}}}, whole);
    check_against_the_definition({{{2, kCopy}, {2, kConcat, axis}}}, whole);
    check_against_the_definition({{{2, kConcat, axis}, {2, kSum}}}, whole);
    check_against_the_definition({{{2, kAverage}, {2, kConcat, axis}, {3, kCopy}}}, whole);
    check_against_the_definition({{{2, kLargest}, {2, kConcat, axis}, {3, kCopy}}}, whole);
    check_against_the_definition({{{2, kConcat, axis}, {2, kConcat, (axis + 1) % 3}}}, whole);
    check_against_the_definition({{{2, kZigzag, axis}, {2, kConcat, (axis + 1) % 3}}}, whole);
    check_against_the_definition({{{2, kConcat, axis}, {1, kGathered, (axis + 1) % 3, {2}}}}, whole);
  }
  check_against_the_definition({{{2, kConcat, 2, {1, 1, 1}}}}, whole);
  check_against_the_definition({{{3, kConcat, 2, {2, 1, 1}}}}, whole);
  check_against_the_definition({{{2, kConcat, 2, {4, 1, 1}}}}, whole);
  check_against_the_definition({{{2, kZigzag, 2, {1, 1, 1}}}}, whole);
}

TEST_CASE("where two dimensions cut one axis, the slower one cuts first") {
  const Shape whole = {2, 48};
  check_against_the_definition({{{2, kConcat, 1}, {2, kConcat, 1}}}, whole);
  check_against_the_definition({{{2, kConcat, 1}, {2, kZigzag, 1}}}, whole);
  check_against_the_definition({{{2, kZigzag, 1}, {2, kConcat, 1}}}, whole);
  check_against_the_definition({{{2, kConcat, 1, {1, 1, 1}}, {2, kConcat, 1}}}, whole);
  check_against_the_definition({{{2, kConcat, 1}, {2, kConcat, 1, {1, 1, 1}}}}, whole);
  check_against_the_definition({{{2, kConcat, 1, {2, 1, 1}}, {2, kZigzag, 1}}}, whole);
  check_against_the_definition({{{2, kConcat, 1}, {3, kCopy}, {2, kConcat, 1, {1, 1}}}}, whole);
}

TEST_CASE("parts of different extents follow each other, and the others of the mesh share their places") {
  const std::vector<Shape> pieces = {{3, 4}, {2, 4}, {5, 4}};
  const Placement rows{{{3, kConcat, 0}}};
  CHECK(fits_shapes(rows, pieces, {10, 4}));
  CHECK_FALSE(fits_shapes(rows, pieces, {11, 4}));
  CHECK(boxes_of(rows, 2, pieces, {10, 4}).front().to == std::vector<int64_t>{5, 0});
  const std::vector<Shape> twice = {{3, 4}, {3, 4}, {2, 4}, {2, 4}};
  const Placement copied{{{2, kCopy}, {2, kConcat, 0}}};
  CHECK(fits_shapes(copied, twice, {5, 4}));
  CHECK(boxes_of(copied, 1, twice, {5, 4}).front().to == std::vector<int64_t>{0, 0});
  CHECK(boxes_of(copied, 3, twice, {5, 4}).front().to == std::vector<int64_t>{3, 0});
}

TEST_CASE("two dimensions cut one axis into parts of different extents, the slower one first") {
  const auto begins = [](const Placement& layout, const std::vector<int64_t>& extents, int64_t whole) {
    std::vector<Shape> pieces;
    for (const int64_t extent : extents) pieces.push_back({2, extent});
    CHECK(fits_shapes(layout, pieces, {2, whole}));
    std::vector<std::vector<int64_t>> found(extents.size());
    for (size_t rank = 0; rank < extents.size(); ++rank) {
      for (const PieceBox& box : boxes_of(layout, static_cast<int64_t>(rank), pieces, {2, whole}))
        found[rank].push_back(box.to[1]);
    }
    return found;
  };
  using Begins = std::vector<std::vector<int64_t>>;
  CHECK(begins({{{2, kConcat, 1}, {2, kConcat, 1}}}, {3, 2, 4, 1}, 10) == Begins{{0}, {3}, {5}, {9}});
  CHECK(begins({{{2, kConcat, 1}, {2, kCopy}, {2, kConcat, 1}}}, {3, 2, 3, 2, 4, 1, 4, 1}, 10) ==
        Begins{{0}, {3}, {0}, {3}, {5}, {9}, {5}, {9}});
  CHECK(begins({{{2, kZigzag, 1}, {2, kConcat, 1}}}, {4, 4, 2, 2}, 12) == Begins{{0, 6}, {2, 4}, {8, 11}, {9, 10}});
  CHECK(begins({{{2, kConcat, 1, {1, 1}}, {2, kConcat, 1}}}, {4, 4, 2, 2}, 12) ==
        Begins{{0, 4}, {2, 6}, {8, 10}, {9, 11}});
  CHECK(begins({{{2, kConcat, 1}, {2, kZigzag, 1}}}, {3, 1, 1, 3}, 8) == Begins{{0, 6}, {7}, {2}, {3, 4}});
}

TEST_CASE("parts of a zigzag and of groups are of one extent, and pieces have the same axes") {
  CHECK(boxes_of({{{2, kZigzag, 0}}}, 0, std::vector<Shape>{{4}, {2}}, {6}).empty());
  CHECK(boxes_of({{{2, kConcat, 0, {1, 1}}}}, 1, std::vector<Shape>{{4}, {2}}, {6}).empty());
  CHECK(boxes_of({{{2, kConcat, 1}}}, 0, std::vector<Shape>{{4, 2}, {4}}, {4, 4}).empty());
}

TEST_CASE("the last part may reach beyond the tensor by less than itself, and nothing else may") {
  const std::vector<Shape> pieces(2, Shape{4, 3});
  const Placement rows{{{2, kConcat, 0}}};
  CHECK(fits_shapes(rows, pieces, {8, 3}));
  CHECK(fits_shapes(rows, pieces, {5, 3}));
  CHECK(boxes_of(rows, 1, pieces, {5, 3}).front().size == std::vector<int64_t>{1, 3});
  CHECK_FALSE(fits_shapes(rows, pieces, {4, 3}));
  CHECK_FALSE(fits_shapes(rows, pieces, {9, 3}));
  CHECK_FALSE(fits_shapes(rows, pieces, {8, 2}));  // not cut: not padded
}

TEST_CASE("shapes that a layout cannot have are none of it") {
  const std::vector<Shape> pieces(2, Shape{3, 4});
  CHECK(boxes_of({{{2, kConcat, 2}}}, 0, pieces, {6, 4}).empty());          // no such axis
  CHECK(boxes_of({{{2, kConcat, 0}}}, 0, pieces, {6, 4, 1}).empty());       // other axes
  CHECK(boxes_of({{{2, kZigzag, 0}}}, 0, pieces, {6, 4}).empty());          // an odd extent has no halves
  CHECK(boxes_of({{{2, kConcat, 1, {2, 1}}}}, 0, pieces, {3, 8}).empty());  // groups that do not divide
  CHECK(boxes_of({{{2, kCopy}, {1, kGathered, 1, {3}}}}, 0, pieces, {3, 4}).empty());
  CHECK(boxes_of({{{2, kCopy}, {1, kGathered, 1}}}, 0, pieces, {3, 4}).empty());
  CHECK(boxes_of({{{2, kCopy}, {1, kGathered, 2, {2}}}}, 0, pieces, {3, 4}).empty());
  CHECK_FALSE(fits_shapes({{{2, kCopy}}}, pieces, {6, 4}));
}

TEST_CASE("a rank is of one copy, and the copies are numbered through") {
  const Placement layout{{{2, kCopy}, {2, kConcat, 0}, {3, kCopy}}};
  CHECK(layout.ranks() == 12);
  CHECK(layout.copies() == 6);
  std::set<int64_t> copies;
  for (int64_t rank = 0; rank < 12; ++rank) {
    CHECK(layout.copy_of(rank) == rank % 2 + rank / 4 * 2);
    copies.insert(layout.copy_of(rank));
  }
  CHECK(copies.size() == 6);
  CHECK(Placement{{{4, kSum}}}.copies() == 1);
  CHECK(Placement{{{4, kLargest}}}.copies() == 1);
  CHECK(Placement{}.copies() == 1);
  CHECK(layout.shards(0));
  CHECK_FALSE(layout.shards(1));
  CHECK_FALSE(Placement{{{2, kSum, 1}}}.shards(1));
  CHECK(layout.has(kConcat));
  CHECK_FALSE(layout.has(kSum));
}

TEST_CASE("parts that lie on each other are reduced as their roles say") {
  for (const PlacementRole role : {kSum, kAverage, kLargest})
    CHECK(PlacementDim{2, role}.traits().reduction != PieceOverlap::kNone);
  for (const PlacementRole role : {kCopy, kConcat, kZigzag, kGathered})
    CHECK(PlacementDim{2, role}.traits().reduction == PieceOverlap::kNone);
  const test::MadeLocals made(test::shard_tensor({{{2, kCopy}}}, {6}, test::numbers(6)));
  const auto pieces = [&](PlacementRole role) { return pieces_of({{{2, role}}}, made.records(), {6}, 0); };
  CHECK(pieces(kSum).overlap == PieceOverlap::kAdded);
  CHECK(pieces(kSum).factor == 1);
  CHECK(pieces(kAverage).overlap == PieceOverlap::kAdded);
  CHECK(pieces(kAverage).factor == 0.5);
  CHECK(pieces(kLargest).overlap == PieceOverlap::kLargest);
  CHECK(pieces(kLargest).factor == 1);
  CHECK(pieces(kLargest).records.size() == 2);
  CHECK(pieces(kCopy).overlap == PieceOverlap::kNone);
}

TEST_CASE("a tensor that every rank has gathered is put together in the order of the whole") {
  const test::MadeLocals made(test::shard_tensor({{{2, kCopy}}}, {8}, test::numbers(8)));
  const TensorPieces gathered = pieces_of({{{2, kCopy}, {1, kGathered, 0, {2}}}}, made.records(), {8}, 0);
  CHECK(gathered.records.size() == 1);
  REQUIRE(gathered.boxes.size() > 1);  // 0 1 6 7 2 3 4 5 as it lies
  int64_t covered = 0;
  for (const PieceBox& box : gathered.boxes) {
    covered += box.size[0];
    CHECK((box.from[0] == box.to[0]) == (box.to[0] < 2));
  }
  CHECK(covered == 8);
  CHECK(pieces_of({{{2, kCopy}}}, made.records(), {8}, 0).boxes.empty());
}

TEST_CASE("a layout is told in words") {
  const auto text = [](const Placement& layout) { return text_of(layout, std::vector<int64_t>{0, 1, 2, 3}); };
  CHECK(text({{{4, kConcat, 1}}}) == "concat axis 1 of ranks 0-3");
  CHECK(text({{{4, kCopy}}}) == "copy of ranks 0-3");
  CHECK(text({{{2, kSum}, {2, kConcat, 0}}}) == "sum by 2, concat axis 0 by 2 of ranks 0-3");
  CHECK(text({{{4, kConcat, 0, {1, 1, 1}}}}) == "concat axis 0 in 3 blocks of ranks 0-3");
  CHECK(text({{{4, kConcat, 0, {2, 1, 1}}}}) == "concat axis 0 in blocks of 2:1:1 of ranks 0-3");
  CHECK(text({{{4, kZigzag, 1}}}) == "zigzag axis 1 of ranks 0-3");
  CHECK(text({{{4, kCopy}, {1, kGathered, 1, {2}}}}) ==
        "copy by 4, gathered axis 1 of a zigzag of 2 ranks of ranks 0-3");
  CHECK(text({{{2, kLargest}, {2, kConcat, 0}}}) == "max by 2, concat axis 0 by 2 of ranks 0-3");
  CHECK(text({{{4, kAverage}}, 0.5}) == "mean of ranks 0-3, times 0.5");
  CHECK(msdump::text_of({}, std::vector<int64_t>{0}).empty());
  CHECK(msdump::text_of({{}, 0.25}, std::vector<int64_t>{0}) == "times 0.25");
  CHECK(ranges_text(std::vector<int64_t>{0, 1, 2, 5, 7, 8}) == "0-2,5,7-8");
}

}  // namespace
}  // namespace msdump
