#include "compare/match/placement/sharded_side.h"

#include <cmath>
#include <filesystem>

#include "support/catch.h"
#include "support/must.h"
#include "support/sharded_tensors.h"

namespace msdump {
namespace {

using test::MadeLocal;
using test::MadeLocals;

LocalContents::Digests digests_of(const std::vector<MadeLocal>& pieces) {
  const MadeLocals made(pieces);
  LocalContents contents(made.index());
  return test::must(contents.of(made.records(), CancelToken()));
}

TEST_CASE("parts that are equal to the bit have one digest, and are not read again") {
  const std::vector<float> values = test::numbers(40);
  std::vector<float> other = values;
  other[39] = std::nextafter(other[39], 2.0F);
  const std::vector<MadeLocal> pieces = {{{40}, values}, {{40}, other}, {{40}, values}};
  const MadeLocals made(pieces);
  LocalContents contents(made.index());
  const LocalContents::Digests first = test::must(contents.of(made.records(), CancelToken()));
  REQUIRE(first.of_pieces.size() == 3);
  CHECK(first.of_pieces[0] == first.of_pieces[2]);
  CHECK(first.of_pieces[0] != first.of_pieces[1]);
  CHECK_FALSE(first.alike);
  for (const char* const name : {"piece000.npy", "piece001.npy", "piece002.npy"})
    REQUIRE(std::filesystem::remove(made.scratch().path() / name));
  CHECK(test::must(contents.of(made.records(), CancelToken())).of_pieces == first.of_pieces);
  // Also as parts of another tensor.
  const std::vector<const TensorRecord*> some = {made.records()[1], made.records()[0]};
  CHECK(test::must(contents.of(some, CancelToken())).of_pieces ==
        std::vector<uint64_t>{first.of_pieces[1], first.of_pieces[0]});
  LocalContents others(made.index());
  CHECK(test::must(others.of(made.records(), CancelToken())).of_pieces.empty());
}

TEST_CASE("values that are all alike over all parts prove nothing") {
  CHECK(digests_of({{{2}, {0, 0}}, {{3}, {0, 0, 0}}}).alike);
  CHECK(digests_of({{{2}, {1, 1}}, {{0}, {}}}).alike);
  CHECK(digests_of({{{0}, {}}}).alike);
  CHECK_FALSE(digests_of({{{2}, {1, 1}}, {{2}, {2, 2}}}).alike);
  CHECK_FALSE(digests_of({{{2}, {1, 1}}, {{2}, {1, 2}}}).alike);
  CHECK_FALSE(digests_of({{{2}, {NAN, NAN}}}).alike);
}

TEST_CASE("of a tensor with a missing part nothing is known") {
  const MadeLocals made(std::vector<MadeLocal>{{{4}, test::numbers(4)}});
  const std::vector<const TensorRecord*> missing = {made.records().front(), nullptr};
  LocalContents contents(made.index());
  CHECK(test::must(contents.of(missing, CancelToken())).of_pieces.empty());
  CHECK(test::must(contents.of(made.records(), CancelToken())).of_pieces.size() == 1);
}

TEST_CASE("contents are one number for the parts, their order and their ranks") {
  const std::vector<uint64_t> digests = {3, 5}, turned = {5, 3};
  CHECK(contents_number(1, digests) == contents_number(1, digests));
  CHECK(contents_number(1, digests) != contents_number(2, digests));
  CHECK(contents_number(1, digests) != contents_number(1, turned));
  CHECK(contents_number(1, {}) == 0);
}

}  // namespace
}  // namespace msdump
